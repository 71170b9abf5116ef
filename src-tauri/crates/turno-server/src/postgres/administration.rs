//! [`Administration`] on PostgreSQL.

use std::io::{BufRead, Write};

use turno_domain::ids::{Company, Integration};
use turno_protocol::catalog::CatalogBody;

use super::{
    PostgresLedger,
    books::{PostgresBooks, Sales},
    catalog, company, credential, enrolment,
    error::StoreError,
    secret,
};
use crate::{
    admin::{NewCredential, NewEnrolmentCode},
    books::Books,
    caller::TokenHash,
    ledger::{AdminError, Administration, LedgerError, StoredCatalog},
    settings::{CompanySettings, IntegrationSettings},
    transfer::{Summary, TransferError},
};

impl PostgresLedger {
    /// Run `work` if there is such an integration.
    async fn administer(
        &self,
        (company, integration): (Company, Integration),
        work: impl AsyncFn(&PostgresBooks) -> Result<(), StoreError> + 'static,
    ) -> Result<(), AdminError> {
        let known = self.write(Sales::Read, async move |books| {
            if !company::integration_exists(books.client(), &company, &integration).await? {
                return Ok(false);
            }
            work(books).await.map(|()| true)
        });
        if known.await.map_err(LedgerError::from)? { Ok(()) } else { Err(AdminError::UnknownIntegration) }
    }
}

impl Administration for PostgresLedger {
    async fn put_company(&self, settings: CompanySettings) -> Result<(), AdminError> {
        let done = self
            .write(Sales::Read, async move |books| company::put_company(books.client(), &settings).await)
            .await;
        self.callers.forget_all();
        Ok(done.map_err(LedgerError::from)?)
    }

    async fn put_integration(&self, settings: IntegrationSettings) -> Result<(), AdminError> {
        let known = self.write(Sales::Read, async move |books| {
            if !company::company_exists(books.client(), &settings.company).await? {
                return Ok(false);
            }
            company::put_integration(books.client(), &settings).await.map(|()| true)
        });
        let known = known.await;
        self.callers.forget_all();
        if known.map_err(LedgerError::from)? { Ok(()) } else { Err(AdminError::UnknownCompany) }
    }

    async fn put_credential(&self, new: NewCredential) -> Result<(), AdminError> {
        let of = (new.scope.company.clone(), new.scope.integration.clone());
        let put = async move |books: &PostgresBooks| credential::put(books.client(), &new, books.now()).await;
        let done = self.administer(of, put).await;
        self.callers.forget_all();
        done
    }

    async fn revoke_credential(&self, token: TokenHash) -> Result<bool, AdminError> {
        let done = self
            .write(Sales::Read, async move |books| credential::delete(books.client(), &token).await)
            .await;
        self.callers.forget_all();
        Ok(done.map_err(LedgerError::from)?)
    }

    async fn rotate_token_secret(&self) -> Result<(), AdminError> {
        let fresh = self.world.random();
        let done = self
            .write(Sales::Read, async move |books| secret::rotate(books.client(), books.now(), fresh).await)
            .await;
        self.callers.forget_all();
        Ok(done.map_err(LedgerError::from)?)
    }

    async fn put_enrolment_code(&self, new: NewEnrolmentCode) -> Result<(), AdminError> {
        let of = (new.scope.company.clone(), new.scope.integration.clone());
        self.administer(of, async move |books| enrolment::put_code(books.client(), &new, books.now()).await)
            .await
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
        self.administer(of, async move |books| {
            catalog::put(books.client(), &company, &integration, &stored).await
        })
        .await
    }

    async fn export(&self, to: Box<dyn Write + Send>) -> Result<Summary, TransferError> {
        self.write_export(to).await
    }

    async fn import(&self, from: Box<dyn BufRead + Send>) -> Result<Summary, TransferError> {
        self.read_export(from).await
    }
}
