//! Table `sale` by what makes two sales look alike.
//!
//! Invariant: this only narrows. Every active sale that shares a clue within the window and differs in nothing that
//! tells is found; whether it looks alike is for the domain's rule to say. The cost does not grow with the sales that
//! share no clue.

use std::collections::BTreeMap;

use rusqlite::{Connection, params};
use turno_domain::lookalike::{Clue, Rule, Signal, Traits, telling};

use super::sale::{from_row, select};
use crate::{
    caller::ScopeNumber,
    sale::{StoredSale, window_ms},
};

macro_rules! search {
    ($index:literal, $clue:literal) => {
        select!(concat!(
            "INDEXED BY ",
            $index,
            " WHERE scope_id = ?1 AND amount_minor = ?2 AND currency = ?3 AND occurred_at_ms BETWEEN ?4 AND ?5 \
             AND operational = 'active' AND ",
            $clue,
            " AND (?7 IS NULL OR route IS NULL OR route = ?7) \
             AND (?8 IS NULL OR seat IS NULL OR seat = ?8) \
             AND (?9 IS NULL OR \"order\" IS NULL OR \"order\" = ?9) \
             AND (?10 IS NULL OR product IS NULL OR product = ?10) \
             AND (?11 IS NULL OR service IS NULL OR service = ?11) \
             AND (?12 IS NULL OR custom_reference_1 IS NULL OR custom_reference_1 = ?12) \
             AND (?13 IS NULL OR custom_reference_2 IS NULL OR custom_reference_2 = ?13)"
        ))
    };
}

pub(super) fn find(
    connection: &Connection,
    scope: ScopeNumber,
    asked: &Traits,
    rule: &Rule,
    clues: &[Clue],
) -> rusqlite::Result<Vec<StoredSale>> {
    let (from, to) = window_ms(asked, rule);
    let (minor, currency) = (asked.amount.minor(), asked.amount.currency().code());
    let [route, seat, order, product, service, reference_1, reference_2] = &telling(asked);
    let mut found = BTreeMap::new();
    for Clue { signal, value } in clues {
        let mut statement = connection.prepare_cached(statement(*signal))?;
        // A sale from before names were folded may have any name.
        let not_folded = (*signal == Signal::BuyerName).then_some(None);
        for value in [Some(value)].into_iter().chain(not_folded) {
            let mut rows = statement.query(params![
                scope.0,
                minor,
                currency,
                from,
                to,
                value,
                route,
                seat,
                order,
                product,
                service,
                reference_1,
                reference_2
            ])?;
            while let Some(row) = rows.next()? {
                found.insert(row.get::<_, i64>("arrival")?, from_row(row)?);
            }
        }
    }
    Ok(found.into_values().collect())
}

fn statement(signal: Signal) -> &'static str {
    match signal {
        Signal::BuyerName => search!("sale_by_buyer", "buyer_name IS NOT NULL AND buyer_name_folded IS ?6"),
        Signal::Seat => search!("sale_by_seat", "seat = ?6"),
        Signal::Order => search!("sale_by_order", "\"order\" = ?6"),
        Signal::CustomReference2 => search!("sale_by_custom_reference_2", "custom_reference_2 = ?6"),
        // Among the sales of the amount.
        Signal::ShiftId => search!("sale_by_likeness", "shift_id = ?6"),
        Signal::DeviceId => search!("sale_by_likeness", "device_id = ?6"),
        Signal::Route => search!("sale_by_likeness", "route = ?6"),
        Signal::Product => search!("sale_by_likeness", "product = ?6"),
        Signal::Service => search!("sale_by_likeness", "service = ?6"),
        Signal::CustomReference1 => search!("sale_by_likeness", "custom_reference_1 = ?6"),
        // No rule identifies by these; whoever asks gets all of them.
        Signal::Amount | Signal::Currency => search!("sale_by_likeness", "?6 IS NOT NULL"),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use turno_domain::lookalike::clues;

    use super::*;
    use crate::{
        sale::cases::{Case, any_case, any_rule, look_alikes},
        sqlite::{MIGRATIONS, sale},
    };

    const SCOPE: ScopeNumber = ScopeNumber(1);

    fn empty_ledger() -> Connection {
        let connection = Connection::open_in_memory().unwrap();
        for migration in MIGRATIONS {
            connection.execute_batch(migration.sql).unwrap();
        }
        connection.execute_batch("PRAGMA foreign_keys = OFF").unwrap();
        connection
    }

    fn insert(connection: &Connection, case: &Case) {
        sale::insert(connection, SCOPE, &case.sale).unwrap();
        if case.is_from_before_folding {
            let id = case.sale.yupy_transaction_id.as_str();
            connection
                .execute("UPDATE sale SET buyer_name_folded = NULL WHERE yupy_transaction_id = ?1", [id])
                .unwrap();
        }
    }

    proptest! {
        #[test]
        fn no_look_alike_is_lost_by_searching_for_clues(
            stored in prop::collection::vec(any_case(), 0..24),
            asked in any_case(),
            rule in any_rule(),
        ) {
            let ledger = empty_ledger();
            for (number, case) in stored.iter().enumerate() {
                insert(&ledger, &case.numbered(number));
            }
            let asked = asked.sale.traits();
            let all: Vec<_> = (0..).zip(&stored).map(|(number, case)| case.numbered(number)).collect();
            let active: Vec<_> = all.iter().filter(|case| case.is_active()).map(|case| case.sale.clone()).collect();
            let found = find(&ledger, SCOPE, &asked, &rule, &clues(&asked, &rule)).unwrap();
            prop_assert_eq!(look_alikes(&asked, &found, &rule), look_alikes(&asked, &active, &rule));
        }
    }

    #[test]
    fn equal_fares_without_a_clue_are_not_read() {
        let ledger = empty_ledger();
        let plan = |signal| {
            let sql = format!("EXPLAIN QUERY PLAN {}", statement(signal));
            let mut statement = ledger.prepare(&sql).unwrap();
            let mut rows = statement.raw_query();
            rows.next().unwrap().unwrap().get::<_, String>("detail").unwrap()
        };
        for (signal, index) in [
            (Signal::Seat, "sale_by_seat (scope_id=? AND seat=? AND amount_minor=? AND"),
            (Signal::BuyerName, "sale_by_buyer (scope_id=? AND buyer_name_folded=? AND amount_minor=? AND"),
            (Signal::Order, "sale_by_order (scope_id=? AND order=? AND amount_minor=? AND"),
            (Signal::CustomReference2, "(scope_id=? AND custom_reference_2=? AND amount_minor=? AND"),
        ] {
            assert!(plan(signal).contains(index), "{}", plan(signal));
        }
    }

    #[test]
    fn equal_seats_on_other_services_are_told_apart_by_the_index_alone() {
        let ledger = empty_ledger();
        let mut program = ledger.prepare(&format!("EXPLAIN {}", statement(Signal::Seat))).unwrap();
        let step = |row: &rusqlite::Row<'_>| Ok((row.get("opcode")?, row.get("p1")?, row.get("p2")?));
        let steps: Vec<(String, i64, i64)> =
            program.query_map([None::<i64>; 13], step).unwrap().map(Result::unwrap).collect();
        let (_, index, _) = steps.iter().find(|(opcode, ..)| opcode == "DeferredSeek").unwrap();
        let service: i64 = ledger
            .query_row(
                "SELECT seqno FROM pragma_index_info('sale_by_seat') WHERE name = 'service'",
                [],
                |row| row.get(0),
            )
            .unwrap();
        assert!(steps.contains(&("Column".to_owned(), *index, service)), "{steps:#?}");
    }
}
