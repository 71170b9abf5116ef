use rusqlite::Connection;
use tempfile::TempDir;

use super::*;
use crate::outbox::State;
use crate::store::fixture::{external_id, shop};

const NOW: Millis = 1_796_050_800_000;

/// A database of a company with three sales in one ticket.
fn company() -> Connection {
    let states = [1, 1, 1].map(|attempts| State::InReview { attempts });
    let conn = shop(&states);
    conn.execute_batch(
        "INSERT INTO installation (id, installation_id, last_sequence, last_shift) VALUES (1, 'i', 3, 1);
         INSERT INTO enrolment (id, address, company, integration, environment, company_name, device_id, currency,
                                enrolled_at_ms)
             VALUES (1, 'a', 'A', 'pos', 'production', 'n', 'D03', 'PEN', 0)",
    )
    .unwrap();
    conn
}

/// The same company's database before anything was sold.
fn earlier() -> Connection {
    let conn = company();
    conn.execute_batch(
        "PRAGMA foreign_keys = OFF; PRAGMA recursive_triggers = OFF;
         DROP TRIGGER sales_are_kept; DROP TRIGGER requests_are_kept; DROP TRIGGER outbox_is_kept;
         DELETE FROM outbox; DELETE FROM requests; DELETE FROM sales; DELETE FROM checkouts; DELETE FROM shifts;
         DELETE FROM people; UPDATE installation SET last_sequence = 0, last_shift = 0;
         PRAGMA foreign_keys = ON",
    )
    .unwrap();
    conn
}

fn ticket() -> Ticket {
    since(&company(), 0, 10).unwrap().remove(0)
}

fn line() -> Line {
    Line::Ticket(Box::new(ticket()))
}

/// A ticket's sales as they travel.
fn requests(conn: &Connection) -> Vec<(String, String, Vec<u8>)> {
    conn.prepare(
        "SELECT external_transaction_id, idempotency_key, body FROM requests JOIN sales USING (sequence)
         ORDER BY external_transaction_id",
    )
    .unwrap()
    .query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
    .unwrap()
    .collect::<Result<_, _>>()
    .unwrap()
}

/// How each sale was paid.
fn parts(conn: &Connection) -> Vec<(i64, u8, i64)> {
    conn.prepare("SELECT sequence, position, amount_minor FROM sale_tenders ORDER BY sequence, position")
        .unwrap()
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
        .unwrap()
        .collect::<Result<_, _>>()
        .unwrap()
}

#[test]
fn a_ticket_that_is_put_back_was_paid_as_it_was() {
    let before = company();
    before
        .execute_batch(
            "INSERT INTO checkout_tenders (draft_id, position, method, provider, operation_number, amount_minor)
                 VALUES ('d', 0, 'wallet', 'yape', 'AB12', 250), ('d', 1, 'cash', NULL, NULL, 350);
             INSERT INTO sale_tenders (sequence, position, amount_minor)
                 VALUES (1, 0, 200), (2, 0, 50), (2, 1, 150), (3, 1, 200)",
        )
        .unwrap();
    let ticket = since(&before, 0, 10).unwrap().remove(0);
    let line = serde_json::to_string(&ticket).unwrap();
    let conn = earlier();
    serde_json::from_str::<Ticket>(&line).unwrap().put_back(&conn, NOW).unwrap();
    assert_eq!(parts(&conn), parts(&before));
    assert_eq!(
        crate::store::tenders::rows(&conn, "d").unwrap(),
        crate::store::tenders::rows(&before, "d").unwrap()
    );
    for change in [
        "UPDATE checkout_tenders SET amount_minor = 1",
        "DELETE FROM checkout_tenders",
        "UPDATE sale_tenders SET amount_minor = 1",
        "DELETE FROM sale_tenders",
    ] {
        assert!(conn.execute_batch(change).unwrap_err().to_string().contains("is never"), "{change}");
    }
}

#[test]
fn a_ticket_that_was_all_cash_is_written_as_ever() {
    assert!(!serde_json::to_string(&ticket()).unwrap().contains("tenders"));
}

#[test]
fn a_ticket_that_is_put_back_travels_as_it_would_have_and_twice_is_once() {
    let (before, conn) = (requests(&company()), earlier());
    assert_eq!(ticket().put_back(&conn, NOW).unwrap(), 3);
    assert_eq!(ticket().put_back(&conn, NOW).unwrap(), 0);
    assert_eq!(requests(&conn), before);
    let numbers: (i64, u32) = conn
        .query_row("SELECT last_sequence, last_shift FROM installation", [], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })
        .unwrap();
    assert_eq!(numbers, (3, 1), "and its numbers are not given again");
    let waiting: u32 = conn
        .query_row("SELECT count(*) FROM outbox WHERE state = 'queued' AND outcome_unknown = 1", [], |row| {
            row.get(0)
        })
        .unwrap();
    assert_eq!(waiting, 3);
    let usable: u32 =
        conn.query_row("SELECT count(*) FROM people WHERE pin_hash <> ''", [], |row| row.get(0)).unwrap();
    assert_eq!(usable, 0, "who sold is known, and cannot unlock by it");
}

#[test]
fn a_number_that_was_given_again_meanwhile_costs_no_sale() {
    let conn = earlier();
    let other =
        serde_json::to_string(&ticket()).unwrap().replace("D03-K7M-", "D03-A3X-").replace("key-", "k-");
    let mut other: Ticket =
        serde_json::from_str(&other.replace("\"draft_id\":\"d\"", "\"draft_id\":\"e\"")).unwrap();
    assert_eq!(other.put_back(&conn, NOW).unwrap(), 3);
    assert_eq!(ticket().put_back(&conn, NOW).unwrap(), 3);
    let ids: Vec<String> = requests(&conn).into_iter().map(|(id, ..)| id).collect();
    assert_eq!(ids.len(), 6);
    assert!((1..=3).all(|sequence| ids.contains(&external_id(sequence))));
    other = ticket();
    assert_eq!(other.put_back(&conn, NOW).unwrap(), 0);
}

#[test]
fn another_companys_medium_brings_nothing() {
    let conn = earlier();
    conn.execute_batch("UPDATE enrolment SET company = 'B'").unwrap();
    assert_eq!(ticket().put_back(&conn, NOW).unwrap(), 0);
}

#[test]
fn what_was_written_is_read_and_a_torn_or_altered_line_costs_only_itself() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join(FOLDER);
    assert_eq!(last_sequence(&path), None);
    let mut journal = Journal::open(&path, || 0, NOW).unwrap();
    assert_eq!(last_sequence(&path), Some(0));
    journal.append(&[line()]).unwrap();
    drop(journal);
    let file = files(&path).remove(0);
    let whole = fs::read(&file).unwrap();
    for end in [0, 1, 5, 16, 17, whole.len() / 2, whole.len() - 2] {
        fs::write(&file, &whole[..end]).unwrap();
        assert_eq!(tickets_behind(&path, 0).count(), 0, "cut at {end}");
        let mut journal = Journal::open(&path, || 0, NOW).unwrap();
        assert_eq!(journal.last_sequence, 0);
        journal.append(&[line()]).unwrap();
        assert_eq!(tickets_behind(&path, 0).collect::<Vec<_>>(), [ticket()], "cut at {end}");
    }
    for at in (0..whole.len()).step_by(97) {
        let mut altered = whole.clone();
        altered[at] ^= 1;
        fs::write(&file, [altered, whole.clone()].concat()).unwrap();
        assert_eq!(tickets_behind(&path, 0).collect::<Vec<_>>().last(), Some(&ticket()), "altered at {at}");
    }
}

#[test]
fn files_turn_with_backups_and_only_those_that_can_matter_are_read_and_kept() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join(FOLDER);
    let mut journal = Journal::open(&path, || 0, NOW).unwrap();
    journal.append(&[line()]).unwrap();
    // The clock is set back, and it does not matter.
    journal.turn(NOW - 86_400_000).unwrap();
    assert_eq!(files(&path).len(), 2);
    assert_eq!(last_sequence(&path), Some(3), "also when the newest file is empty");
    assert_eq!(tickets_behind(&path, 0).count(), 1);
    assert_eq!(tickets_behind(&path, 3).count(), 0);
    drop(journal);
    assert_eq!(Journal::open(&path, || 0, NOW).unwrap().last_sequence, 3);
    for sequence in 4..40 {
        Journal::begin(&path, sequence, None, NOW).unwrap();
    }
    assert_eq!(files(&path).len(), KEPT);
}

/// The ticket as if it were the one behind this sequence.
fn ticket_behind(sequence: i64) -> Ticket {
    let mut ticket = serde_json::to_value(ticket()).unwrap();
    for sale in ticket["sales"].as_array_mut().unwrap() {
        let number = sale["sale"]["sequence"].as_i64().unwrap();
        sale["sale"]["sequence"] = (sequence + number).into();
    }
    serde_json::from_value(ticket).unwrap()
}

#[test]
fn a_clock_that_jumps_between_two_files_hides_no_ticket() {
    const YEAR: Millis = 365 * 86_400_000;
    for jumps in [[0, 0, 0], [-YEAR, 0, YEAR], [YEAR, -YEAR, -YEAR], [-YEAR, -YEAR, -YEAR], [YEAR, YEAR, 0]] {
        // Files may also lie there that an earlier program began with one number.
        for of_before in [false, true] {
            let folder = TempDir::new().unwrap();
            let path = folder.path().join(FOLDER);
            let (mut now, mut sequence) = (NOW, 0);
            let mut journal = Journal::open(&path, || 0, now).unwrap();
            for jump in jumps {
                now += jump;
                journal.turn(now).unwrap();
                if of_before {
                    fs::write(path.join(format!("{sequence:012}-{}.journal", stamp(now + YEAR))), "")
                        .unwrap();
                }
                journal.append(&[Line::Ticket(Box::new(ticket_behind(sequence)))]).unwrap();
                sequence += 3;
                assert_eq!(last_sequence(&path), Some(sequence), "{jumps:?}");
                for known in 0..sequence {
                    let behind =
                        tickets_behind(&path, known).map(|it| it.last_sequence()).collect::<Vec<_>>();
                    let expected: Vec<i64> =
                        (1..=sequence / 3).map(|it| it * 3).filter(|it| *it > known).collect();
                    assert_eq!(behind, expected, "{jumps:?} behind {known}");
                }
            }
        }
    }
}
