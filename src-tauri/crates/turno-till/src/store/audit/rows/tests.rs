use std::collections::BTreeSet;

use turno_protocol::canonical;

use super::*;
use crate::store::audit::{Entry, append};
use crate::store::fixture::in_memory;

/// Rows of the sample: enough for two of everything, few enough to verify ten thousand times.
const ROWS: i64 = 24;
/// As the issue asks.
const MANIPULATIONS: u64 = 10_000;

fn audited() -> Connection {
    let conn = in_memory();
    for number in 1..=ROWS {
        let event = Event::ALL[usize::try_from(number * 7).unwrap() % Event::ALL.len()];
        let sale = format!("D03-K7M-S1-{:04}", number % 5);
        let entry = Entry {
            person_id: (number % 3 != 0).then_some(if number % 2 == 0 { "c" } else { "m" }),
            external_transaction_id: (number % 4 != 0).then_some(&sale),
            data: json!({ "amount": format!("{number}.50"), "reason": "dos pasajeros" }),
            ..Entry::new(event)
        };
        append(&conn, 1_796_050_800_000 + number * 3_600_000, &entry).unwrap();
    }
    conn.execute_batch("DROP TRIGGER audit_is_frozen; DROP TRIGGER audit_is_kept").unwrap();
    conn
}

fn verify(conn: &Connection) -> std::result::Result<Head, BrokenRow> {
    let mut so_far = Verified::NOTHING;
    while let Some(further) = verify_next(conn, so_far).unwrap()? {
        so_far = further;
    }
    Ok(so_far.head)
}

/// SplitMix64: the same in every run.
struct Chance(u64);

impl Chance {
    fn draw(&mut self, below: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (z ^ (z >> 31)) % below
    }

    fn row(&mut self) -> i64 {
        i64::try_from(self.draw(ROWS as u64)).unwrap() + 1
    }

    fn other_than(&mut self, row: i64) -> i64 {
        loop {
            let other = self.row();
            if other != row {
                return other;
            }
        }
    }
}

const FIELDS: [&str; 7] =
    ["at_ms", "event", "person_id", "external_transaction_id", "data", "prev_hash", "hash"];

/// One manipulation that somebody with the file could make, in words. `false`: it changed nothing.
fn manipulate(conn: &Connection, chance: &mut Chance) -> (String, bool) {
    let run = |sql: &str, values: &[&dyn rusqlite::ToSql]| conn.execute(sql, values).unwrap() > 0;
    let (row, field) = (chance.row(), FIELDS[usize::try_from(chance.draw(7)).unwrap()]);
    match chance.draw(8) {
        0 | 1 => {
            let sql = match field {
                "at_ms" => "UPDATE audit SET at_ms = at_ms + 1 + ?2 WHERE audit_id = ?1".to_owned(),
                "prev_hash" | "hash" => format!(
                    "UPDATE audit SET {field} = CAST(substr({field}, 1, ?2 % 32) || char(1) || zeroblob(31 - ?2 % 32) AS BLOB)
                     WHERE audit_id = ?1"
                ),
                "data" => "UPDATE audit SET data = replace(data, '.50', '.5' || (1 + ?2 % 9)) WHERE audit_id = ?1".to_owned(),
                text => format!("UPDATE audit SET {text} = coalesce({text}, '') || 'x' || ?2 WHERE audit_id = ?1"),
            };
            let noise = i64::try_from(chance.draw(1_000)).unwrap();
            (format!("{field} of {row} changed"), run(&sql, &[&row, &noise]))
        }
        2 => {
            // Whoever changes a row may hash it anew: then the row behind it is out of place, or the head is not the kept one.
            run("UPDATE audit SET event = event || 'x' WHERE audit_id = ?1", &[&row]);
            rehash(conn, row);
            (format!("row {row} changed and hashed anew"), true)
        }
        3 => (format!("row {row} deleted"), run("DELETE FROM audit WHERE audit_id = ?1", &[&row])),
        4 => {
            // Deleted, and everything behind it renumbered and chained anew: only whoever keeps the head can tell.
            run("DELETE FROM audit WHERE audit_id = ?1", &[&row]);
            run("UPDATE audit SET audit_id = audit_id - 1 WHERE audit_id > ?1", &[&row]);
            for number in row..ROWS {
                rehash(conn, number);
            }
            (format!("row {row} deleted and the rest chained anew"), true)
        }
        5 => {
            let other = chance.other_than(row);
            run("UPDATE audit SET audit_id = -1 WHERE audit_id = ?1", &[&row]);
            run("UPDATE audit SET audit_id = ?1 WHERE audit_id = ?2", &[&row, &other]);
            run("UPDATE audit SET audit_id = ?1 WHERE audit_id = -1", &[&other]);
            (format!("rows {row} and {other} exchanged"), true)
        }
        6 => {
            run("UPDATE audit SET audit_id = -audit_id WHERE audit_id > ?1", &[&row]);
            run("UPDATE audit SET audit_id = 1 - audit_id WHERE audit_id < 0", &[]);
            run(
                "INSERT INTO audit (audit_id, at_ms, event, person_id, external_transaction_id, data, prev_hash, hash)
                 SELECT ?1 + 1, at_ms, event, person_id, external_transaction_id, data, hash, hash FROM audit
                 WHERE audit_id = ?1",
                &[&row],
            );
            rehash(conn, row + 1);
            (format!("a row inserted behind {row}"), true)
        }
        _ => {
            // The tail is cut off, or the file is an older one: what is left holds by itself.
            (format!("cut off behind {}", row - 1), run("DELETE FROM audit WHERE audit_id >= ?1", &[&row]))
        }
    }
}

fn rehash(conn: &Connection, number: i64) {
    let Some(mut row) = after(conn, number - 1).unwrap().into_iter().find(|row| row.number == number) else {
        return;
    };
    let before = after(conn, number - 2).unwrap().into_iter().find(|before| before.number == number - 1);
    row.prev_hash = before.map_or(chain::GENESIS.to_vec(), |before| before.hash);
    let link = row.link().unwrap();
    let hash = chain::row_hash(&link.prev_hash, &link.canonical);
    conn.execute(
        "UPDATE audit SET prev_hash = ?2, hash = ?3 WHERE audit_id = ?1",
        params![number, link.prev_hash.as_slice(), hash.as_slice()],
    )
    .unwrap();
}

#[test]
fn ten_thousand_manipulations_show_in_the_chain_or_against_the_head_that_was_kept() {
    let conn = audited();
    let kept = verify(&conn).unwrap();
    let mut chance = Chance(6);
    let (mut named, mut by_head) = (0_u64, 0_u64);
    for number in 0..MANIPULATIONS {
        conn.execute_batch("SAVEPOINT untouched").unwrap();
        let (what, changed) = manipulate(&conn, &mut chance);
        assert!(changed, "manipulation {number} changed nothing: {what}");
        match verify(&conn) {
            Err(_) => named += 1,
            Ok(head) => {
                assert_ne!(head, kept, "manipulation {number} was not seen: {what}");
                by_head += 1;
            }
        }
        conn.execute_batch("ROLLBACK TO untouched; RELEASE untouched").unwrap();
    }
    assert_eq!(verify(&conn), Ok(kept), "the sample itself is whole");
    assert_eq!(named + by_head, MANIPULATIONS);
    assert!(by_head > 0 && named > by_head, "{named} named, {by_head} only by the head");
}

#[test]
fn the_first_row_that_does_not_hold_is_named_with_what_is_wrong() {
    for (damage, number, fault) in [
        ("UPDATE audit SET data = '{}' WHERE audit_id = 7", 7, AuditFault::Altered),
        ("DELETE FROM audit WHERE audit_id = 7", 7, AuditFault::OutOfPlace),
        ("UPDATE audit SET audit_id = 99 WHERE audit_id = 24", 24, AuditFault::OutOfPlace),
        (
            "PRAGMA ignore_check_constraints = ON; UPDATE audit SET hash = x'00' WHERE audit_id = 9",
            9,
            AuditFault::Unreadable,
        ),
    ] {
        let conn = audited();
        conn.execute_batch(damage).unwrap();
        assert_eq!(verify(&conn), Err(BrokenRow { number, fault }), "{damage}");
    }
}

fn wanted() -> AuditPageRequest {
    AuditPageRequest { after: None, kind: None, person_id: None, day: None, external_transaction_id: None }
}

fn numbers(request: &AuditPageRequest) -> Vec<i64> {
    page(&audited(), request).unwrap().iter().map(|row| row.number).collect()
}

#[test]
fn rows_come_newest_first_and_every_filter_leaves_its_own() {
    assert_eq!(numbers(&wanted()), (1..=ROWS).rev().collect::<Vec<_>>());
    assert_eq!(numbers(&AuditPageRequest { after: Some(4), ..wanted() }), [3, 2, 1]);
    let by = numbers(&AuditPageRequest { person_id: Some("c".to_owned()), ..wanted() });
    assert!(by.iter().all(|number| number % 3 != 0 && number % 2 == 0) && !by.is_empty());
    let sale = Some("D03-K7M-S1-0002".to_owned());
    assert_eq!(numbers(&AuditPageRequest { external_transaction_id: sale, ..wanted() }), [22, 17, 7, 2]);
    // 10:00 in Lima is the first hour; the day ends fourteen hours later.
    let day = |day: &str| numbers(&AuditPageRequest { day: Some(day.to_owned()), ..wanted() });
    assert_eq!(day("2026-11-30").len() + day("2026-12-01").len(), 24);
    assert_eq!(day("2026-11-30").first(), Some(&13));
    assert!(day("mañana").is_empty() && day("2026-13-40").is_empty());
    let questions = numbers(&AuditPageRequest { kind: Some(AuditKind::Questions), ..wanted() });
    let conn = audited();
    for row in after(&conn, 0).unwrap() {
        let event = Event::ALL.into_iter().find(|event| event.as_word() == row.event).unwrap();
        assert_eq!(questions.contains(&row.number), kind_of(event) == AuditKind::Questions, "{}", row.event);
    }
}

#[test]
fn every_word_is_listed_once_and_is_the_one_that_the_screen_has_a_sentence_for() {
    let words: BTreeSet<&str> = Event::ALL.iter().map(|event| event.as_word()).collect();
    assert_eq!(words.len(), Event::ALL.len());
    for event in Event::ALL {
        assert_eq!(serde_json::to_value(event).unwrap(), event.as_word());
        assert_eq!(Event::from_word(event.as_word()), Some(event));
    }
}

#[test]
fn a_line_of_a_file_can_be_verified_without_this_program() {
    let conn = audited();
    let mut head = Head::EMPTY;
    for row in after(&conn, 0).unwrap() {
        let mut line: Value = serde_json::from_str(&row.as_line()).unwrap();
        let members = line.as_object_mut().unwrap();
        let mut hash = |name: &str| {
            let hex = members.remove(name).unwrap();
            chain::from_hex(hex.as_str().unwrap()).unwrap()
        };
        let (prev_hash, hash) = (hash("prev_hash"), hash("hash"));
        members.remove("number").unwrap();
        head = chain::verify_after(head, [Link { prev_hash, hash, canonical: canonical::to_bytes(&line) }])
            .unwrap();
    }
    assert_eq!(Ok(head), verify(&conn));
}
