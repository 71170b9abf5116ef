use rusqlite::params;
use turno_domain::Currency;

use super::*;
use crate::outbox::State;
use crate::store::fixture::shop;
use crate::view::TenderMethod;

const TODAY: jiff::civil::Date = jiff::civil::date(2026, 12, 1);
/// 2026-11-29 10:00 in Lima; the last of the sales is two days later.
const BEGINS: i64 = 1_795_964_400_000;
/// Some blocks and a part of one.
const COUNT: i64 = BLOCKS * BLOCK + 100;
const BLOCKS: i64 = 4;

const NAMES: [&str; 5] = ["José Ramos", "Josefa Ñáñez", "Mario", "María José Peña", "Ana-Lucía 7"];
const STATES: [&str; 4] = ["queued", "accepted", "accepted", "needs_attention"];

/// Sales of two shifts, paid in cash, by wallet or both, some of another till, some voided.
fn full_shop() -> Connection {
    let conn = shop(&[State::Withdrawn]);
    conn.execute_batch(
        "INSERT INTO shifts (shift_number, opened_by, opened_at_ms, float_minor, closed_at_ms) VALUES (2, 'c', 0, 0, 1);
         INSERT INTO checkouts SELECT 'w', charge_digest, 2, seller, 0, 'wallet', 600, 0, 600 FROM checkouts;
         INSERT INTO checkouts SELECT 's', charge_digest, 2, seller, 0, 'split', 600, 0, 600 FROM checkouts
             WHERE draft_id = 'd';
         INSERT INTO checkout_tenders VALUES ('s', 0, 'wallet', 'yape', '12345', 300), ('s', 1, 'cash', NULL, NULL, 300);
         BEGIN",
    )
    .unwrap();
    for sequence in 2..=COUNT {
        let at = usize::try_from(sequence).unwrap();
        let is_own = sequence % 7 != 0;
        let (draft, shift) = [("d", 1), ("w", 2), ("s", 2)][at % 3];
        let id =
            if is_own { format!("D03-K7M-S{shift}-{sequence:04}") } else { format!("D04-Q2Z-S9-{at:04}") };
        conn.execute(
            "INSERT INTO sales (sequence, external_transaction_id, draft_id, shift_number, seller, occurred_at_ms,
                                amount_minor, currency, quantity, description, offer_id, route, seat, buyer_name)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, 'PEN', 1, ?8, 'o', ?9, ?10, ?11)",
            params![
                sequence,
                id,
                is_own.then_some(draft),
                is_own.then_some(shift),
                is_own.then_some("c"),
                BEGINS + sequence * 75_000,
                100 * (sequence % 40) + 50 * (sequence % 2) + 10,
                ["Lima – Arequipa 20:30 · asiento", "Línea 7"][at % 2],
                ["184", "U7"][at % 2],
                (at % 2 == 0).then(|| format!("{}A", at % 48)),
                NAMES.get(at % 6),
            ],
        )
        .unwrap();
        if is_own && draft == "s" {
            conn.execute("INSERT INTO sale_tenders VALUES (?1, ?2, 10)", params![sequence, sequence % 2])
                .unwrap();
        }
        let (state, is_due) = (STATES[at % 4], STATES[at % 4] == "queued");
        conn.execute(
            "INSERT INTO outbox (sequence, request_id, state, attempts, due_at_ms, outcome_unknown, reason,
                                 yupy_transaction_id, changed_at_ms)
             VALUES (?1, 1, ?2, 0, ?3, 0, 'x', 'y', 0)",
            params![sequence, state, is_due.then_some(0)],
        )
        .unwrap();
        if sequence % 11 == 0 {
            conn.execute(
                "INSERT INTO voids (sequence, operation_id, idempotency_key, body, body_sha256, shift_number, asked_by,
                                    approved_by, reason, returned_minor, tender, voided_at_ms, state, attempts,
                                    changed_at_ms)
                 VALUES (?1, ?1, ?1, x'00', zeroblob(32), 1, 'c', 'm', 'x', 1, 'cash', 0, 'confirmed', 0, 0)",
                [sequence],
            )
            .unwrap();
        }
    }
    conn.execute_batch("COMMIT").unwrap();
    conn.execute(
        "INSERT INTO installation (id, installation_id, last_sequence, last_shift) VALUES (1, 'i', ?1, 2)
         ON CONFLICT (id) DO UPDATE SET last_sequence = ?1",
        [COUNT],
    )
    .unwrap();
    conn
}

/// Writes the next block, if it is time.
fn index(conn: &Connection) -> bool {
    let Some(block) = sale_terms::next_block(conn).unwrap() else { return false };
    let rows = sale_terms::read_block(conn, block).unwrap();
    sale_terms::write_block(conn, &rows).unwrap();
    true
}

/// A sale as it is looked at.
struct Seen {
    sequence: i64,
    terms: Vec<String>,
    shift: Option<u32>,
    state: String,
    is_voided: bool,
}

fn every_sale(conn: &Connection) -> Vec<Seen> {
    let mut all = conn.prepare(&format!("{} ORDER BY sales.sequence DESC", select(Depth::Payment))).unwrap();
    let seen = all.query_map([], |row| {
        let terms = facts(row)?.terms();
        Ok(Seen {
            sequence: row.get(0)?,
            terms,
            shift: row.get(9)?,
            state: row.get(10)?,
            is_voided: row.get(11)?,
        })
    });
    seen.unwrap().collect::<Result<_>>().unwrap()
}

fn by_looking(all: &[Seen], wanted: &Wanted) -> Vec<i64> {
    let is_wanted = |sale: &&Seen| {
        wanted.shift.is_none_or(|shift| sale.shift == Some(shift))
            && wanted.standing.is_none_or(|standing| stands(standing, &sale.state, sale.is_voided))
            && wanted.query.is_met_by_terms(&sale.terms)
    };
    all.iter().filter(is_wanted).map(|sale| sale.sequence).collect()
}

/// All of them, a few at a time.
fn in_parts(conn: &Connection, wanted: &Wanted) -> Vec<i64> {
    let mut all = Vec::new();
    loop {
        let part = sequences(conn, wanted, all.last().copied(), 150).unwrap();
        if part.is_empty() {
            return all;
        }
        all.extend(part);
    }
}

fn asked() -> Vec<Wanted> {
    let texts = [
        "",
        "jose",
        "JOSÉ m",
        "ñañez",
        "j",
        "7",
        "linea 7",
        "12",
        "12a",
        "24A arequipa",
        "127",
        "S2-0127",
        "1-0128",
        "D04",
        "D04-Q2Z-S9-0259",
        "15.10",
        "S/ 39,60",
        "15",
        "30/11",
        "ayer jose",
        "hoy",
        "30/11 ana-l",
        "256",
        "255",
        "512 jose",
        "nadie",
        "jose nadie",
        "20:30 184",
    ];
    let parse = |text: &str| Query::parse(text, TODAY, Currency::PEN);
    let mut asked: Vec<Wanted> =
        texts.iter().map(|text| Wanted { query: parse(text), ..Wanted::default() }).collect();
    for standing in [
        SalesStanding::Waiting,
        SalesStanding::Confirmed,
        SalesStanding::NeedsAttention,
        SalesStanding::Voided,
    ] {
        for text in ["", "jose", "30/11 7"] {
            asked.push(Wanted { query: parse(text), standing: Some(standing), shift: None });
            let query = parse(text).paid_in(TenderMethod::Cash);
            asked.push(Wanted { query, standing: Some(standing), shift: Some(2) });
        }
    }
    for method in [TenderMethod::Cash, TenderMethod::Wallet, TenderMethod::Card] {
        asked.push(Wanted { query: parse("").paid_in(method), standing: None, shift: Some(2) });
    }
    let days = |from: &str, to: &str| parse("jose").between_days(from.parse().unwrap(), to.parse().unwrap());
    asked.push(Wanted { query: days("2026-11-30", "2026-12-01"), ..Wanted::default() });
    asked.push(Wanted { query: days("2026-01-01", "2026-11-29"), ..Wanted::default() });
    asked.push(Wanted { shift: Some(77), ..Wanted::default() });
    asked
}

#[test]
fn what_is_found_is_what_a_look_at_every_sale_finds_however_far_the_index_goes() {
    let conn = full_shop();
    let asked = asked();
    let sales = every_sale(&conn);
    let all: Vec<Vec<i64>> = asked.iter().map(|wanted| by_looking(&sales, wanted)).collect();
    assert!(all.iter().filter(|found| !found.is_empty()).count() > 40, "most of them find something");
    for blocks in 0.. {
        // Without an index every sale is looked at; some questions are enough.
        for (wanted, all) in asked.iter().zip(&all).step_by(if blocks == BLOCKS { 1 } else { 5 }) {
            assert_eq!(in_parts(&conn, wanted), *all, "{blocks} blocks: {wanted:?}");
        }
        if !index(&conn) {
            assert_eq!(blocks, BLOCKS, "the last block is not full");
            break;
        }
    }
    let of_the_text = |wanted: &&Wanted| wanted.standing.is_none() && wanted.shift.is_none();
    for (wanted, all) in asked.iter().zip(&all).filter(|(wanted, _)| of_the_text(wanted)) {
        let mut in_blocks = all.clone();
        in_blocks.retain(|sequence| *sequence < BLOCKS * BLOCK);
        assert_eq!(by_the_index(&conn, wanted), in_blocks, "the index alone: {wanted:?}");
    }
}

#[test]
fn a_page_is_the_newest_that_match_and_says_where_the_next_begins() {
    let conn = shop(&vec![State::Withdrawn; 120]);
    conn.execute_batch("INSERT INTO installation (id, installation_id, last_sequence) VALUES (1, 'i', 120)")
        .unwrap();
    let wanted = Wanted::default();
    let (mut all, mut after) = (Vec::new(), None);
    loop {
        let page = page(&conn, &wanted, after).unwrap();
        assert_eq!(page.next, Some(page.items.last().unwrap().sequence).filter(|last| *last > 1));
        all.extend(page.items.iter().map(|sale| sale.sequence));
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    assert_eq!(all, (1..=120).rev().collect::<Vec<i64>>());
}

/// Otherwise a term that is missing there would be missed only where a page ends.
fn by_the_index(conn: &Connection, wanted: &Wanted) -> Vec<i64> {
    let blocks = (0..=sale_terms::last_block(conn).unwrap()).rev();
    let places = blocks.flat_map(|block| {
        let part = sale_terms::meant(conn, block / PART, &wanted.query).unwrap();
        let meant = part[usize::try_from(block % PART).unwrap()];
        meant.newest_first().map(move |place| block * BLOCK + i64::from(place))
    });
    places.filter(|sequence| *sequence > 0).collect()
}

#[test]
fn a_sale_that_is_put_back_under_an_old_number_is_found() {
    let conn = full_shop();
    conn.execute_batch("UPDATE installation SET last_sequence = 9 * 256").unwrap();
    while index(&conn) {}
    assert_eq!(sale_terms::last_block(&conn).unwrap(), 8, "blocks without a sale are blocks too");
    let late = 5 * BLOCK + 3;
    conn.execute_batch(&format!(
        "INSERT INTO sales (sequence, external_transaction_id, occurred_at_ms, amount_minor, currency, quantity,
                            description, offer_id)
             VALUES ({late}, 'D03-K7M-S3-9999', 0, 100, 'PEN', 1, 'Tarde', 'o');
         INSERT INTO outbox (sequence, request_id, state, attempts, outcome_unknown, yupy_transaction_id, changed_at_ms)
             VALUES ({late}, 1, 'accepted', 0, 0, 'y', 0);"
    ))
    .unwrap();
    let wanted = Wanted { query: Query::parse("tarde", TODAY, Currency::PEN), ..Wanted::default() };
    assert_eq!(in_parts(&conn, &wanted), [late]);
    assert_eq!(sale_terms::last_block(&conn).unwrap(), 4);
    while index(&conn) {}
    assert_eq!(in_parts(&conn, &wanted), [late], "and with its block made again");
}

#[test]
fn a_block_is_written_once_and_only_when_its_numbers_are_given_out() {
    let conn = full_shop();
    let rows = sale_terms::read_block(&conn, 0).unwrap();
    sale_terms::write_block(&conn, &rows).unwrap();
    sale_terms::write_block(&conn, &rows).unwrap();
    let third = sale_terms::read_block(&conn, 2).unwrap();
    sale_terms::write_block(&conn, &third).unwrap();
    assert_eq!(sale_terms::last_block(&conn).unwrap(), 0);
    conn.execute("UPDATE installation SET last_sequence = ?1", [2 * BLOCK - 2]).unwrap();
    assert_eq!(sale_terms::next_block(&conn).unwrap(), None, "one number of the second is still to come");
    conn.execute("UPDATE installation SET last_sequence = ?1", [2 * BLOCK - 1]).unwrap();
    assert_eq!(sale_terms::next_block(&conn).unwrap(), Some(1));
}
