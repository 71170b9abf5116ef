//! [`Administration`] on SQLite.

use std::io::{BufRead, Write};

use turno_domain::ids::{Company, Integration, Scope};
use turno_protocol::catalog::CatalogBody;

use super::{SqliteLedger, catalog, company, credential, enrolment, secret};
use crate::{
    admin::{NewCredential, NewEnrolmentCode},
    books::Books,
    caller::TokenHash,
    ledger::{AdminError, Administration, StoredCatalog},
    settings::{CompanySettings, IntegrationSettings},
    transfer::{Summary, TransferError},
};

impl SqliteLedger {
    /// Run `work` if there is such an integration.
    async fn administer(
        &self,
        of: (Company, Integration),
        work: impl FnOnce(&super::SqliteBooks<'_>) -> rusqlite::Result<()> + Send + 'static,
    ) -> Result<(), AdminError> {
        let known = self.write(move |books| {
            if !company::integration_exists(books.connection, &of.0, &of.1)? {
                return Ok(false);
            }
            work(books).map(|()| true)
        });
        if known.await? { Ok(()) } else { Err(AdminError::UnknownIntegration) }
    }
}

impl Administration for SqliteLedger {
    async fn put_company(&self, settings: CompanySettings) -> Result<(), AdminError> {
        let done = self.write(move |books| company::put_company(books.connection, &settings)).await;
        self.callers.forget_all();
        Ok(done?)
    }

    async fn put_integration(&self, settings: IntegrationSettings) -> Result<(), AdminError> {
        let known = self.write(move |books| {
            if !company::company_exists(books.connection, &settings.company)? {
                return Ok(false);
            }
            company::put_integration(books.connection, &settings).map(|()| true)
        });
        let known = known.await;
        self.callers.forget_all();
        if known? { Ok(()) } else { Err(AdminError::UnknownCompany) }
    }

    async fn put_credential(&self, new: NewCredential) -> Result<(), AdminError> {
        let of = integration_of(&new.scope);
        let done =
            self.administer(of, move |books| credential::put(books.connection, &new, books.now())).await;
        self.callers.forget_all();
        done
    }

    async fn revoke_credential(&self, token: TokenHash) -> Result<bool, AdminError> {
        let done = self.write(move |books| credential::delete(books.connection, &token)).await;
        self.callers.forget_all();
        Ok(done?)
    }

    async fn rotate_token_secret(&self) -> Result<(), AdminError> {
        let fresh = self.world.random();
        let done = self.write(move |books| secret::rotate(books.connection, books.now(), fresh)).await;
        self.callers.forget_all();
        Ok(done?)
    }

    async fn put_enrolment_code(&self, new: NewEnrolmentCode) -> Result<(), AdminError> {
        let of = integration_of(&new.scope);
        self.administer(of, move |books| enrolment::put_code(books.connection, &new, books.now())).await
    }

    async fn put_catalog(
        &self,
        company: Company,
        integration: Integration,
        body: CatalogBody,
    ) -> Result<(), AdminError> {
        body.check()?;
        let stored = StoredCatalog::of(&body);
        let of = (company.clone(), integration.clone());
        self.administer(of, move |books| catalog::put(books.connection, &company, &integration, &stored))
            .await
    }

    async fn export(&self, to: Box<dyn Write + Send>) -> Result<Summary, TransferError> {
        self.write_export(to).await
    }

    async fn import(&self, from: Box<dyn BufRead + Send>) -> Result<Summary, TransferError> {
        self.read_export(from).await
    }
}

fn integration_of(scope: &Scope) -> (Company, Integration) {
    (scope.company.clone(), scope.integration.clone())
}
