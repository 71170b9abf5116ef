//! Table `sale` by what makes two sales look alike.
//!
//! Invariant: this only narrows. Every active sale that shares a clue within the window is found, whether it looks
//! alike is for the domain's rule to say, and the cost does not grow with the sales that share none.

use std::collections::BTreeMap;

use deadpool_postgres::Client;
use futures_util::future::try_join_all;
use turno_domain::lookalike::{Clue, Rule, Signal, Traits, clues};

use super::{
    row::{self, Result},
    sale::{from_row, select},
};
use crate::{
    caller::ScopeNumber,
    sale::{StoredSale, window_ms},
};

/// As long as the database has no statistics it takes all columns for equally telling, and would search by the amount
/// and the currency as gladly as by the clue. Nothing is searched by a currency that is computed.
macro_rules! search {
    ($clue:literal) => {
        select!(concat!(
            "WHERE scope_id = $1 AND amount_minor = $2 AND currency || '' = $3 AND occurred_at_ms BETWEEN $4 AND $5 \
             AND operational = 'active' AND ",
            $clue
        ))
    };
}

pub(super) async fn find(
    client: &Client,
    scope: ScopeNumber,
    asked: &Traits,
    rule: &Rule,
) -> Result<Vec<StoredSale>> {
    let (from, to) = window_ms(asked, rule);
    let (minor, currency) = (asked.amount.minor(), asked.amount.currency().code());
    let clues = clues(asked, rule);
    let searches = clues.iter().map(|Clue { signal, value }| async move {
        row::rows(client, statement(*signal), &[&scope.0, &minor, &currency, &from, &to, value]).await
    });
    let mut found = BTreeMap::new();
    for row in try_join_all(searches).await?.iter().flatten() {
        found.insert(row::get::<i64>(row, "arrival")?, from_row(row)?);
    }
    Ok(found.into_values().collect())
}

fn statement(signal: Signal) -> &'static str {
    match signal {
        // A sale from before names were folded may have any name.
        Signal::BuyerName => {
            search!("buyer_name IS NOT NULL AND (buyer_name_folded = $6 OR buyer_name_folded IS NULL)")
        }
        Signal::ShiftId => search!("shift_id = $6"),
        Signal::DeviceId => search!("device_id = $6"),
        Signal::Route => search!("route = $6"),
        Signal::Seat => search!("seat = $6"),
        Signal::Order => search!("\"order\" = $6"),
        Signal::Product => search!("product = $6"),
        Signal::Service => search!("service = $6"),
        Signal::CustomReference1 => search!("custom_reference_1 = $6"),
        Signal::CustomReference2 => search!("custom_reference_2 = $6"),
        // No rule identifies by these; whoever asks gets all of them.
        Signal::Amount | Signal::Currency => search!("$6::text IS NOT NULL"),
    }
}

#[cfg(test)]
mod tests {
    use proptest::{prelude::*, strategy::ValueTree, test_runner::TestRunner};
    use turno_postgres::Database;

    use super::*;
    use crate::{
        postgres::{PostgresLedger, PostgresOptions, sale},
        sale::cases::{Case, any_case, any_rule, look_alikes},
    };

    /// Scopes, each with other sales: one database serves them all.
    const SCOPES: i64 = 40;

    #[tokio::test]
    async fn no_look_alike_is_lost_by_searching_for_clues() {
        let Some(database) = Database::create().unwrap() else { return };
        let ledger = PostgresLedger::open(&database.url(), PostgresOptions::default()).await.unwrap();
        let client = ledger.client().await.unwrap();
        let mut chance = TestRunner::deterministic();
        let cases = (prop::collection::vec(any_case(), 1..24), any_case(), any_rule());
        for scope in 0..SCOPES {
            let (stored, asked, rule) = cases.new_tree(&mut chance).unwrap().current();
            let numbers = usize::try_from(scope * 100).unwrap()..;
            let stored: Vec<_> = numbers.zip(&stored).map(|(number, case)| case.numbered(number)).collect();
            for (arrival, case) in (1..).zip(&stored) {
                insert(&client, ScopeNumber(scope), case, arrival).await;
            }
            let active: Vec<_> =
                stored.iter().filter(|case| case.is_active()).map(|case| case.sale.clone()).collect();
            let asked = asked.sale.traits();
            let found = find(&client, ScopeNumber(scope), &asked, &rule).await.unwrap();
            assert_eq!(
                look_alikes(&asked, &found, &rule),
                look_alikes(&asked, &active, &rule),
                "{asked:?} {stored:?}"
            );
        }
    }

    async fn insert(client: &Client, scope: ScopeNumber, case: &Case, arrival: i64) {
        sale::insert(client, scope, &case.sale, arrival).await.unwrap();
        if case.is_from_before_folding {
            let id = case.sale.yupy_transaction_id.as_str();
            let sql = "UPDATE sale SET buyer_name_folded = NULL WHERE yupy_transaction_id = $1";
            row::execute(client, sql, &[&id]).await.unwrap();
        }
    }
}
