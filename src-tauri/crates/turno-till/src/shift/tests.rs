use proptest::prelude::*;
use rusqlite::{Connection, params};

use super::*;
use crate::answer::AttentionReason;
use crate::outbox::{Doubt, QueueReason, State};
use crate::store::fixture::in_memory;
use crate::view::Pieces;

const SHIFT: u32 = 1;

fn state(kind: u8) -> State {
    match kind % 6 {
        0 => State::Accepted { yupy_transaction_id: "y".to_owned() },
        1 => State::Queued { attempts: 1, due: 5, doubt: Doubt::None, reason: QueueReason::NotTriedYet },
        2 => State::InReview { attempts: 1 },
        3 => State::NeedsAttention { attempts: 1, reason: AttentionReason::Refused },
        4 => State::OnHold { attempts: 1, due: 9 },
        _ => State::Discarded { duplicate_of: "y".to_owned() },
    }
}

/// One sale of a random day: state, amount, minute, route, and whether it begins a checkout of its own.
type Sale = (u8, i64, i64, u8, bool);
type Day = Vec<Sale>;

/// A shift with these sales, their checkouts, and cash that came and went.
fn shop_of(day: &[Sale], moves: &[(bool, i64)]) -> Connection {
    let conn = in_memory();
    conn.execute_batch(
        "INSERT INTO installation (id, installation_id, last_sequence) VALUES (1, 'i', 1000);
         INSERT INTO people (person_id, name, role, pin_hash)
             VALUES ('c', 'Caja', 'cashier', ''), ('m', 'Encargado', 'manager', '');
         INSERT INTO shifts (shift_number, opened_by, opened_at_ms, float_minor) VALUES (1, 'c', 0, 10000)",
    )
    .unwrap();
    let mut checkouts: Vec<Vec<&Sale>> = Vec::new();
    for sale in day {
        match checkouts.last_mut() {
            Some(checkout) if !sale.4 => checkout.push(sale),
            Some(_) | None => checkouts.push(vec![sale]),
        }
    }
    let mut sequence = 0_i64;
    for (draft, checkout) in checkouts.iter().enumerate() {
        let total: i64 = checkout.iter().map(|sale| sale.1).sum();
        let method = method_of(checkout[0].3);
        let by_wallet = if method == "split" { (total + 1) / 2 } else { 0 };
        let rounding = if method == "card" { 0 } else { (total - by_wallet) % 10 };
        conn.execute(
            "INSERT INTO checkouts (draft_id, charge_digest, shift_number, seller, recorded_at_ms, payment_method,
                                    total_minor, rounding_minor, received_minor)
             VALUES (?1, zeroblob(32), 1, 'c', 0, ?2, ?3, ?4, ?3)",
            params![draft.to_string(), method, total, rounding],
        )
        .unwrap();
        let tenders = [("wallet", by_wallet), ("cash", total - by_wallet)];
        let rows = (0_u8..).zip(&tenders).filter(|(_, (_, amount))| method == "split" && *amount > 0);
        for (position, (paid_in, amount)) in rows {
            let wallet = (*paid_in == "wallet").then_some(("yape", "1234"));
            conn.execute(
                "INSERT INTO checkout_tenders (draft_id, position, method, provider, operation_number, amount_minor)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                params![
                    draft.to_string(),
                    position,
                    paid_in,
                    wallet.map(|wallet| wallet.0),
                    wallet.map(|wallet| wallet.1),
                    amount
                ],
            )
            .unwrap();
        }
        let mut wallet_left = by_wallet;
        for (kind, amount, minute, route, _) in checkout {
            sequence += 1;
            conn.execute(
                "INSERT INTO sales (sequence, external_transaction_id, draft_id, shift_number, seller,
                                    occurred_at_ms, amount_minor, currency, quantity, description, offer_id, route)
                 VALUES (?1, 'e' || ?1, ?2, 1, 'c', ?3, ?4, 'PEN', 1, 'x', 'o', ?5)",
                params![
                    sequence,
                    draft.to_string(),
                    minute * 60_000,
                    amount,
                    (*route > 0).then(|| format!("R{route}"))
                ],
            )
            .unwrap();
            if method == "split" {
                let part = wallet_left.min(*amount);
                wallet_left -= part;
                crate::store::tenders::insert_part(&conn, sequence, 0, part).unwrap();
                crate::store::tenders::insert_part(&conn, sequence, 1, amount - part).unwrap();
            }
            let key = format!("key-{sequence}");
            let request = crate::store::requests::NewRequest {
                kind: crate::store::requests::RequestKind::Create,
                revision: 0,
                idempotency_key: &key,
                path: "/",
                body: b"{}",
            };
            let request_id = crate::store::requests::freeze(&conn, sequence, &request, 0).unwrap();
            let entry = crate::store::outbox::Entry { sequence, request_id, state: state(1) };
            crate::store::outbox::insert(&conn, &entry, 0).unwrap();
            let entry = crate::store::outbox::Entry { state: state(*kind), ..entry };
            crate::store::outbox::update(&conn, &entry, None, 7).unwrap();
        }
    }
    for (index, (is_in, amount)) in moves.iter().enumerate() {
        let kind = if *is_in { "pay_in" } else { "pay_out" };
        conn.execute(
            "INSERT INTO cash_movements (draft_id, shift_number, kind, amount_minor, reason, person_id, at_ms)
             VALUES (?1, 1, ?2, ?3, 'x', 'c', 0)",
            params![format!("m{index}"), kind, amount],
        )
        .unwrap();
    }
    conn
}

fn figures(conn: &Connection) -> Figures {
    let shift = crate::store::shifts::opened(conn, SHIFT).unwrap();
    Figures::of(conn, &shift, Currency::PEN, &Catalog::default()).unwrap()
}

fn sum(tallies: &[(String, Tally)]) -> Tally {
    tallies.iter().fold(Tally::default(), |sum, (_, one)| plus(sum, *one).unwrap())
}

/// How the checkout that begins with a sale on this route was paid.
fn method_of(route: u8) -> &'static str {
    match route {
        1 => "card",
        3 => "split",
        _ => "cash",
    }
}

/// What a person with a pencil makes of the day's cash: of each checkout what was not paid otherwise, rounded down, less
/// what was no sale.
fn cash_by_hand(day: &[Sale]) -> i64 {
    let mut checkouts: Vec<Vec<&Sale>> = Vec::new();
    for sale in day {
        match checkouts.last_mut() {
            Some(checkout) if !sale.4 => checkout.push(sale),
            Some(_) | None => checkouts.push(vec![sale]),
        }
    }
    let cash_of = |checkout: &Vec<&Sale>| {
        let total: i64 = checkout.iter().map(|sale| sale.1).sum();
        let mut otherwise = match method_of(checkout[0].3) {
            "card" => total,
            "split" => (total + 1) / 2,
            _ => 0,
        };
        let mut cash = 0;
        for (kind, amount, ..) in checkout {
            let part = otherwise.min(*amount);
            otherwise -= part;
            cash += if kind % 6 == 5 { 0 } else { amount - part };
        }
        cash - cash % 10
    };
    checkouts.iter().map(cash_of).sum()
}

fn day() -> impl Strategy<Value = Day> {
    let sale = (0..6_u8, 1..30_000_i64, 0..2_880_i64, 0..4_u8, any::<bool>());
    proptest::collection::vec(sale, 0..25)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn whatever_the_day_the_figures_add_up(day in day(), moves in proptest::collection::vec((any::<bool>(), 1..5_000_i64), 0..6)) {
        let conn = shop_of(&day, &moves);
        let figures = figures(&conn);
        let all = day.iter().map(|sale| sale.1).sum::<i64>();
        let counted = day.iter().filter(|sale| sale.0 % 6 != 5).map(|sale| sale.1).sum::<i64>();
        let Sold { accepted, pending, attention, discarded, .. } = figures.sold;
        let four = [accepted, pending, attention, discarded];
        prop_assert_eq!(four.iter().map(|part| part.minor).sum::<i64>(), all);
        prop_assert_eq!(four.iter().map(|part| part.count as usize).sum::<usize>(), day.len());
        prop_assert_eq!(figures.sold.sold().unwrap(), sum(&figures.states));
        let net = figures.sold.net().unwrap();
        prop_assert_eq!(net.minor, counted);
        for shares in [&figures.hours, &figures.routes] {
            prop_assert_eq!(sum(shares), net);
        }
        // A sale that was paid in two ways is counted in both; its money is not.
        prop_assert_eq!(sum(&figures.tenders).minor, net.minor);
        prop_assert!(sum(&figures.tenders).count >= net.count);
        let moved: i64 = moves.iter().map(|(is_in, amount)| if *is_in { *amount } else { -amount }).sum();
        prop_assert_eq!(figures.drawer.sales - figures.drawer.rounding, cash_by_hand(&day));
        prop_assert_eq!(figures.drawer.expected().unwrap(), 10_000 + cash_by_hand(&day) + moved);
    }

    #[test]
    fn a_closed_day_says_for_ever_what_the_open_one_said_last(day in day()) {
        let conn = shop_of(&day, &[(true, 700), (false, 300)]);
        let catalog = Catalog::default();
        let open = report(&conn, None, Currency::PEN, &catalog).unwrap();
        let manager = crate::store::people::find(&conn, "m").unwrap();
        let by = Mover { person: manager.clone().unwrap(), approver: manager, currency: Currency::PEN, now: 9 };
        let request = crate::view::CloseShiftRequest {
            shift_id: "S1".to_owned(),
            count: vec![Pieces { denomination_minor: 20_000, pieces: 3 }],
            shown_expected_minor: open.drawer.expected.minor,
            approval: None,
            reason: Some("x".to_owned()),
        };
        close(&conn, &by, &catalog, SHIFT, &request).unwrap();
        // Whatever becomes of the sales afterwards.
        conn.execute_batch("UPDATE outbox SET state = 'accepted', due_at_ms = NULL, yupy_transaction_id = 'y'
                            WHERE state <> 'discarded'").unwrap();
        let closed = report(&conn, Some(SHIFT), Currency::PEN, &catalog).unwrap();
        let closing = closed.closing.clone().unwrap();
        prop_assert_eq!(closing.difference.minor, 60_000 - open.drawer.expected.minor);
        let late = closed.addendum.len();
        prop_assert_eq!(late, open.unsettled.len());
        prop_assert_eq!(crate::view::ShiftReport { closing: None, addendum: Vec::new(), ..closed }, open);
    }
}

#[test]
fn the_hours_follow_the_shift_over_midnight_and_leave_none_out() {
    let one = Tally { count: 1, minor: 5 };
    let over_midnight = hours(vec![(1, one), (22, one)], 21);
    let labels: Vec<_> = over_midnight.iter().map(|(hour, tally)| (hour.as_str(), tally.count)).collect();
    assert_eq!(labels, [("22", 1), ("23", 0), ("0", 0), ("1", 1)]);
    assert!(hours(Vec::new(), 8).is_empty());
    // Of a clock that was set back before the opening: later than anything, and still there once.
    assert_eq!(sum(&hours(vec![(7, one), (9, one)], 8)).count, 2);
}

#[test]
fn a_sum_that_does_not_fit_is_an_error_and_no_figure() {
    let huge = Tally { count: 1, minor: i64::MAX };
    let sold = Sold { accepted: huge, pending: Tally { count: 1, minor: 1 }, ..Sold::default() };
    assert!(sold.sold().is_err() && sold.net().is_err());
    assert!(Drawer { float: i64::MAX, sales: 1, ..Drawer::default() }.expected().is_err());
}

#[test]
fn closings_and_movements_are_never_changed() {
    let conn = shop_of(&[(0, 500, 0, 0, true)], &[(true, 100)]);
    let catalog = Catalog::default();
    let manager = crate::store::people::find(&conn, "m").unwrap();
    let by = Mover { person: manager.clone().unwrap(), approver: manager, currency: Currency::PEN, now: 9 };
    let request = crate::view::CloseShiftRequest {
        shift_id: "S1".to_owned(),
        count: vec![Pieces { denomination_minor: 10, pieces: 1 }],
        shown_expected_minor: 10_600,
        approval: None,
        reason: Some("x".to_owned()),
    };
    close(&conn, &by, &catalog, SHIFT, &request).unwrap();
    for change in [
        "UPDATE closings SET counted_minor = 1",
        "DELETE FROM closings",
        "UPDATE closing_counts SET pieces = 2",
        "DELETE FROM closing_counts",
        "UPDATE closing_tallies SET amount_minor = 1",
        "DELETE FROM closing_tallies",
        "UPDATE cash_movements SET amount_minor = 1",
        "DELETE FROM cash_movements",
    ] {
        assert!(conn.execute_batch(change).unwrap_err().to_string().contains("is never"), "{change}");
    }
}
