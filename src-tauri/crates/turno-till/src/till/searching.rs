//! Finding sales among all that were ever made here, and what makes that quick. Invariant: no sale waits for it.

use std::sync::{Arc, Weak};

use jiff::civil::Date;
use tokio::sync::Notify;

use super::{Inner, Till};
use crate::clock::rfc3339;
use crate::search::Query;
use crate::store::found::{self, Wanted};
use crate::store::sale_terms::{self, block_of};
use crate::store::shifts;
use crate::view::{Problem, SalePage, SalesPeriod, SearchSalesRequest};

impl Till {
    /// Sales that match, newest first.
    ///
    /// # Errors
    /// `not_allowed_now` before the till is set up.
    pub async fn search_sales(&self, request: &SearchSalesRequest) -> Result<SalePage, Problem> {
        let Some(wanted) = self.wanted(request).await? else {
            return Ok(SalePage { items: Vec::new(), next: None });
        };
        let after = request.after;
        Ok(self.inner.db.read(move |conn| found::page(conn, &wanted, after)).await?)
    }

    /// What a request asks for; nothing when there can be no such sale.
    pub(super) async fn wanted(&self, request: &SearchSalesRequest) -> Result<Option<Wanted>, Problem> {
        let Some(query) = self.query(request)? else { return Ok(None) };
        let standing = request.standing;
        match request.period {
            SalesPeriod::Always | SalesPeriod::Days { .. } => {
                Ok(Some(Wanted { query, standing, shift: None }))
            }
            SalesPeriod::ThisShift => {
                let shift = self.inner.db.read(shifts::current_number).await?;
                Ok(shift.map(|shift| Wanted { query, standing, shift: Some(shift) }))
            }
        }
    }

    /// Nothing when a day of the period is none.
    fn query(&self, request: &SearchSalesRequest) -> Result<Option<Query>, Problem> {
        let currency = self.enrolled()?.enrolment.currency;
        let mut query = Query::parse(&request.text, self.today(), currency);
        if let Some(method) = request.tender {
            query = query.paid_in(method);
        }
        if let SalesPeriod::Days { from, to } = &request.period {
            let (Ok(from), Ok(to)) = (from.parse(), to.parse()) else { return Ok(None) };
            query = query.between_days(from, to);
        }
        Ok(Some(query))
    }

    fn today(&self) -> Date {
        rfc3339(self.now()).get(..10).and_then(|day| day.parse().ok()).unwrap_or_default()
    }

    /// Writes the next part of the index, if it is time. Says whether there may be more.
    async fn index_sales(&self) -> Result<bool, Problem> {
        if self.check_room().is_err() {
            return Ok(false);
        }
        let db = &self.inner.db;
        let read = db.read(|conn| {
            let next = sale_terms::next_block(conn)?;
            next.map(|block| sale_terms::read_block(conn, block)).transpose()
        });
        let Some(rows) = read.await? else { return Ok(false) };
        db.write(move |conn| Ok::<_, Problem>(sale_terms::write_block(conn, &rows)?)).await?;
        Ok(true)
    }
}

/// Whether so many sales, of which this is the newest, gave out the last number of a block.
pub(super) fn completes_a_block(newest: i64, count: usize) -> bool {
    let count = i64::try_from(count).unwrap_or(i64::MAX);
    block_of(newest + 1) > block_of(newest.saturating_sub(count) + 1)
}

/// Keeps the index as far as it goes for as long as the till is open.
pub(super) async fn keep_indexed(inner: Weak<Inner>, wanted: Arc<Notify>) {
    loop {
        let Some(till) = inner.upgrade().map(|inner| Till { inner }) else { return };
        let more = till.index_sales().await.unwrap_or_else(|problem| {
            tracing::error!(?problem, "the index of the sales cannot be written");
            false
        });
        drop(till);
        if more {
            // Whoever sells meanwhile comes in between.
            tokio::task::yield_now().await;
        } else {
            wanted.notified().await;
        }
    }
}
