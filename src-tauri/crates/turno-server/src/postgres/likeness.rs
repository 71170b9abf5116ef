//! Table `sale` by what makes two sales look alike.
//!
//! Invariant: this only narrows. Every active sale that shares a clue within the window and differs in nothing that
//! tells is found; whether it looks alike is for the domain's rule to say. The cost does not grow with the sales that
//! share no clue.

use std::collections::BTreeMap;

use deadpool_postgres::Client;
use futures_util::future::try_join_all;
use turno_domain::lookalike::{Clue, Rule, Signal, Traits, telling};

use super::{
    gathered::WantedClue,
    row::{self, Result},
    sale::{from_row, select, select_with_scope},
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
            $clue,
            " AND ($7::text IS NULL OR route IS NULL OR route = $7) \
             AND ($8::text IS NULL OR seat IS NULL OR seat = $8) \
             AND ($9::text IS NULL OR \"order\" IS NULL OR \"order\" = $9) \
             AND ($10::text IS NULL OR product IS NULL OR product = $10) \
             AND ($11::text IS NULL OR service IS NULL OR service = $11) \
             AND ($12::text IS NULL OR custom_reference_1 IS NULL OR custom_reference_1 = $12) \
             AND ($13::text IS NULL OR custom_reference_2 IS NULL OR custom_reference_2 = $13)"
        ))
    };
}

pub(super) async fn find(
    client: &Client,
    scope: ScopeNumber,
    asked: &Traits,
    rule: &Rule,
    clues: &[Clue],
) -> Result<Vec<StoredSale>> {
    let (from, to) = window_ms(asked, rule);
    let (minor, currency) = (asked.amount.minor(), asked.amount.currency().code());
    let [route, seat, order, product, service, reference_1, reference_2] = &telling(asked);
    let searches = clues.iter().flat_map(|Clue { signal, value }| {
        let fitting = statements(*signal).iter().filter(|(length, _)| length.fits(value));
        fitting.map(move |(_, sql)| (sql, value))
    });
    let searches = searches.map(|(sql, value)| async move {
        let values: row::Values<'_> = &[
            &scope.0,
            &minor,
            &currency,
            &from,
            &to,
            value,
            route,
            seat,
            order,
            product,
            service,
            reference_1,
            reference_2,
        ];
        row::rows(client, sql, values).await
    });
    let mut found = BTreeMap::new();
    for row in try_join_all(searches).await?.iter().flatten() {
        found.insert(row::get::<i64>(row, "arrival")?, from_row(row)?);
    }
    Ok(found.into_values().collect())
}

/// For each of what is wanted in its turn: left to itself, the planner would rather read a table that was empty when it
/// last looked, and compare each of its rows with all that is wanted.
macro_rules! search_all {
    ($clue:literal) => {
        select_with_scope!(concat!(
            "FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::bigint[], $5::bigint[], $6::text[], \
             $7::text[], $8::text[], $9::text[], $10::text[], $11::text[], $12::text[], $13::text[]) \
             AS wanted (scope, minor, iso, from_ms, to_ms, value, in_route, in_seat, in_order, in_product, \
             in_service, in_reference_1, in_reference_2) \
             CROSS JOIN LATERAL (SELECT sale.* FROM sale \
             WHERE scope_id = scope AND amount_minor = minor AND currency || '' = iso \
             AND occurred_at_ms BETWEEN from_ms AND to_ms AND operational = 'active' AND ",
            $clue,
            " AND (in_route IS NULL OR route IS NULL OR route = in_route) \
             AND (in_seat IS NULL OR seat IS NULL OR seat = in_seat) \
             AND (in_order IS NULL OR \"order\" IS NULL OR \"order\" = in_order) \
             AND (in_product IS NULL OR product IS NULL OR product = in_product) \
             AND (in_service IS NULL OR service IS NULL OR service = in_service) \
             AND (in_reference_1 IS NULL OR custom_reference_1 IS NULL OR custom_reference_1 = in_reference_1) \
             AND (in_reference_2 IS NULL OR custom_reference_2 IS NULL OR custom_reference_2 = in_reference_2) \
             OFFSET 0) AS found"
        ))
    };
}

/// As [`find`] for many at once, in order of arrival.
pub(super) async fn find_all(
    client: &Client,
    wanted: &BTreeMap<Signal, Vec<WantedClue>>,
) -> Result<Vec<(ScopeNumber, StoredSale)>> {
    let searches = wanted.iter().flat_map(|(signal, wanted)| {
        let any = |length: Length| wanted.iter().any(|clue| length.fits(&clue.value));
        let fitting = statements_for_all(*signal).iter().filter(move |(length, _)| any(*length));
        fitting.map(move |(_, sql)| (sql, wanted))
    });
    let searches = searches.map(|(sql, wanted)| async move {
        let values: row::Values<'_> = &[
            &row::column(wanted, |clue| clue.scope.0),
            &row::column(wanted, |clue| clue.amount.minor()),
            &row::column(wanted, |clue| clue.amount.currency().code()),
            &row::column(wanted, |clue| clue.between_ms.0),
            &row::column(wanted, |clue| clue.between_ms.1),
            &row::column(wanted, |clue| clue.value.as_str()),
            &row::column(wanted, |clue| clue.telling[0].as_deref()),
            &row::column(wanted, |clue| clue.telling[1].as_deref()),
            &row::column(wanted, |clue| clue.telling[2].as_deref()),
            &row::column(wanted, |clue| clue.telling[3].as_deref()),
            &row::column(wanted, |clue| clue.telling[4].as_deref()),
            &row::column(wanted, |clue| clue.telling[5].as_deref()),
            &row::column(wanted, |clue| clue.telling[6].as_deref()),
        ];
        row::rows(client, sql, values).await
    });
    let mut found = BTreeMap::new();
    for row in try_join_all(searches).await?.iter().flatten() {
        let scope: i64 = row::get(row, "scope_id")?;
        found.insert((scope, row::get::<i64>(row, "arrival")?), from_row(row)?);
    }
    Ok(found.into_iter().map(|((scope, _), sale)| (ScopeNumber(scope), sale)).collect())
}

/// An index cannot hold a text of any length, and holds none that is longer. Nobody means such a text, but whoever sends
/// one gets an answer: it is searched among the sales of one amount.
const INDEXED_BYTES: usize = 512;

/// For how long a value a statement is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Length {
    Any,
    /// Up to [`INDEXED_BYTES`].
    Indexed,
    Longer,
}

impl Length {
    fn fits(self, value: &str) -> bool {
        match self {
            Self::Any => true,
            Self::Indexed => value.len() <= INDEXED_BYTES,
            Self::Longer => value.len() > INDEXED_BYTES,
        }
    }
}

type Statement = (Length, &'static str);

/// As [`statements`].
fn statements_for_all(signal: Signal) -> &'static [Statement] {
    match signal {
        Signal::BuyerName => &[
            (
                Length::Indexed,
                search_all!(
                    "buyer_name IS NOT NULL AND buyer_name_folded = value AND octet_length(buyer_name_folded) <= 512"
                ),
            ),
            (
                Length::Longer,
                search_all!(
                    "buyer_name IS NOT NULL AND buyer_name_folded = value AND octet_length(buyer_name_folded) > 512"
                ),
            ),
            (
                Length::Any,
                search_all!("buyer_name IS NOT NULL AND buyer_name_folded IS NULL AND value IS NOT NULL"),
            ),
        ],
        Signal::ShiftId => &[(Length::Any, search_all!("shift_id = value"))],
        Signal::DeviceId => &[(Length::Any, search_all!("device_id = value"))],
        Signal::Route => &[(Length::Any, search_all!("route = value"))],
        Signal::Seat => &[
            (Length::Indexed, search_all!("seat = value AND octet_length(seat) <= 512")),
            (Length::Longer, search_all!("seat = value AND octet_length(seat) > 512")),
        ],
        Signal::Order => &[
            (Length::Indexed, search_all!("\"order\" = value AND octet_length(\"order\") <= 512")),
            (Length::Longer, search_all!("\"order\" = value AND octet_length(\"order\") > 512")),
        ],
        Signal::Product => &[(Length::Any, search_all!("product = value"))],
        Signal::Service => &[(Length::Any, search_all!("service = value"))],
        Signal::CustomReference1 => &[(Length::Any, search_all!("custom_reference_1 = value"))],
        Signal::CustomReference2 => &[
            (
                Length::Indexed,
                search_all!("custom_reference_2 = value AND octet_length(custom_reference_2) <= 512"),
            ),
            (
                Length::Longer,
                search_all!("custom_reference_2 = value AND octet_length(custom_reference_2) > 512"),
            ),
        ],
        Signal::Amount | Signal::Currency => &[(Length::Any, search_all!("value IS NOT NULL"))],
    }
}

/// What a clue is searched by. A sale from before names were folded may have any name, and is searched on its own: with
/// both in one condition no index would serve. No rule identifies by amount and currency; whoever asks gets all of them.
fn statements(signal: Signal) -> &'static [Statement] {
    match signal {
        Signal::BuyerName => &[
            (
                Length::Indexed,
                search!(
                    "buyer_name IS NOT NULL AND buyer_name_folded = $6 AND octet_length(buyer_name_folded) <= 512"
                ),
            ),
            (
                Length::Longer,
                search!(
                    "buyer_name IS NOT NULL AND buyer_name_folded = $6 AND octet_length(buyer_name_folded) > 512"
                ),
            ),
            (
                Length::Any,
                search!("buyer_name IS NOT NULL AND buyer_name_folded IS NULL AND $6::text IS NOT NULL"),
            ),
        ],
        Signal::ShiftId => &[(Length::Any, search!("shift_id = $6"))],
        Signal::DeviceId => &[(Length::Any, search!("device_id = $6"))],
        Signal::Route => &[(Length::Any, search!("route = $6"))],
        Signal::Seat => &[
            (Length::Indexed, search!("seat = $6 AND octet_length(seat) <= 512")),
            (Length::Longer, search!("seat = $6 AND octet_length(seat) > 512")),
        ],
        Signal::Order => &[
            (Length::Indexed, search!("\"order\" = $6 AND octet_length(\"order\") <= 512")),
            (Length::Longer, search!("\"order\" = $6 AND octet_length(\"order\") > 512")),
        ],
        Signal::Product => &[(Length::Any, search!("product = $6"))],
        Signal::Service => &[(Length::Any, search!("service = $6"))],
        Signal::CustomReference1 => &[(Length::Any, search!("custom_reference_1 = $6"))],
        Signal::CustomReference2 => &[
            (Length::Indexed, search!("custom_reference_2 = $6 AND octet_length(custom_reference_2) <= 512")),
            (Length::Longer, search!("custom_reference_2 = $6 AND octet_length(custom_reference_2) > 512")),
        ],
        Signal::Amount | Signal::Currency => &[(Length::Any, search!("$6::text IS NOT NULL"))],
    }
}

#[cfg(test)]
mod tests {
    use proptest::{prelude::*, strategy::ValueTree, test_runner::TestRunner};
    use turno_domain::lookalike::clues;
    use turno_postgres::Database;

    use super::*;
    use crate::{
        postgres::{PostgresLedger, PostgresOptions, gathered::wanted_clues, sale},
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
            let found =
                find(&client, ScopeNumber(scope), &asked, &rule, &clues(&asked, &rule)).await.unwrap();
            let wanted = look_alikes(&asked, &active, &rule);
            assert_eq!(look_alikes(&asked, &found, &rule), wanted, "{asked:?} {stored:?}");
            let together = find_all(&client, &wanted_clues(ScopeNumber(scope), &asked, &rule)).await.unwrap();
            let together: Vec<_> = together.into_iter().map(|(_, sale)| sale).collect();
            assert_eq!(look_alikes(&asked, &together, &rule), wanted, "{asked:?} {stored:?}");
        }
    }

    /// Also where the planner knows nothing of the tables yet.
    #[tokio::test]
    async fn equal_fares_without_a_clue_are_not_read() {
        let Some(database) = Database::create().unwrap() else { return };
        let ledger = PostgresLedger::open(&database.url(), PostgresOptions::default()).await.unwrap();
        let client = ledger.client().await.unwrap();
        for (signal, column) in [
            (Signal::BuyerName, "buyer_name_folded"),
            (Signal::Seat, "seat"),
            (Signal::Order, "\"order\""),
            (Signal::CustomReference2, "custom_reference_2"),
        ] {
            let all = statements(signal).iter().chain(statements_for_all(signal));
            for (_, sql) in all.filter(|(length, _)| *length != Length::Longer) {
                client.batch_execute(&format!("DEALLOCATE ALL; PREPARE search AS {sql}")).await.unwrap();
                let plan = format!("EXPLAIN EXECUTE search({})", ["NULL"; 13].join(", "));
                let plan = client.query(&plan, &[]).await.unwrap();
                let plan: Vec<String> = plan.iter().map(|line| line.get(0)).collect();
                let condition = format!("({column} ");
                let is_narrow = |line: &String| {
                    line.contains("using sale_not_folded")
                        || line.contains("Index Cond:") && line.contains(&condition)
                };
                assert!(plan.iter().any(is_narrow), "{plan:#?}");
            }
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
