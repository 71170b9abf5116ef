//! A database is brought up to date on a disk that fails, or whose power is cut: it is the old one or the new one.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use std::path::Path;

use rusqlite::Connection;
use tempfile::TempDir;
use turno_crash::chance::Chance;
use turno_crash::disk::{Fault, FaultKind, Lasts, Watch};
use turno_crash::rebuild::{Cursor, Loss, lay_out};
use turno_crash::story::{folder, on_paused_time};
use turno_sqlite::{Database, Migration, Options, WriterMode};
use turno_till::store::{self, FILE_NAME};

/// What the first released program made.
const FIRST: Migration = Migration {
    version: 1,
    name: "initial",
    sql: include_str!("../../../src-tauri/crates/turno-till/migrations/0001_initial.sql"),
};
const ROWS: &str = "
    INSERT INTO installation (id, installation_id, last_sequence, last_shift) VALUES (1, 'i', 7, 2);
    INSERT INTO enrolment (id, address, company, integration, environment, company_name, device_id, epoch, currency,
                           enrolled_at_ms)
        VALUES (1, 'a', 'c', 'i', 'e', 'n', 'D01', 'K7M', 'PEN', 5);";

/// A watched folder with a database of the first program, or with nothing.
async fn start(old: bool) -> (TempDir, Watch) {
    let folder = folder().unwrap();
    let watch = Watch::over(folder.path(), None);
    if old {
        let options = Options { mode: WriterMode::Inline, ..Options::default() };
        let db = Database::open(&folder.path().join(FILE_NAME), &[FIRST], options).unwrap();
        db.write(|conn| conn.execute_batch(ROWS)).await.unwrap();
        db.close().await;
    }
    (folder, watch)
}

/// Opens it with today's program and finds today's schema with the old rows.
async fn check(folder: &Path, old: bool, fresh: &[String], context: &str) {
    let db = store::open(folder, WriterMode::Inline).unwrap_or_else(|error| panic!("{context}: {error:?}"));
    assert_eq!(db.read(schema).await.unwrap(), fresh, "{context}");
    let numbers = db.read(numbers).await.unwrap();
    let expected = if old { vec![(7, 2, "K7M".to_owned())] } else { vec![] };
    assert_eq!(numbers, expected, "{context}");
    db.close().await;
}

/// The last numbers given out, with every epoch.
fn numbers(conn: &Connection) -> rusqlite::Result<Vec<(i64, u32, String)>> {
    conn.prepare("SELECT last_sequence, last_shift, epoch FROM installation, epochs")?
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?
        .collect()
}

fn schema(conn: &Connection) -> rusqlite::Result<Vec<String>> {
    conn.prepare("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name")?
        .query_map([], |row| row.get(0))?
        .collect()
}

async fn fresh() -> Vec<String> {
    let folder = folder().unwrap();
    let db = store::open(folder.path(), WriterMode::Inline).unwrap();
    let schema = db.read(schema).await.unwrap();
    db.close().await;
    schema
}

#[test]
fn a_failing_disk_leaves_a_database_that_opens_next_time() {
    on_paused_time(async {
        let fresh = fresh().await;
        for old in [false, true] {
            for kind in [FaultKind::Io, FaultKind::Full, FaultKind::Short, FaultKind::Sync] {
                for lasts in [Lasts::Once, Lasts::UntilHealed] {
                    for nth in 1.. {
                        let (folder, watch) = start(old).await;
                        let fault = Fault { kind, nth, lasts };
                        watch.disk.fail(fault);
                        let opened = store::open(folder.path(), WriterMode::Inline);
                        let context = format!("{fault:?}, {old}: {opened:?}");
                        if let Ok(db) = &opened {
                            db.close().await;
                        }
                        drop(opened);
                        let struck = watch.disk.heal();
                        check(folder.path(), old, &fresh, &context).await;
                        if struck == 0 {
                            assert!(nth > 1, "{context}: no call was met");
                            break;
                        }
                    }
                }
            }
        }
        Ok(())
    })
    .unwrap();
}

#[test]
fn a_power_cut_leaves_a_database_that_opens_next_time() {
    on_paused_time(async {
        let fresh = fresh().await;
        for old in [false, true] {
            let (folder, watch) = start(old).await;
            let since = watch.disk.position();
            store::open(folder.path(), WriterMode::Inline).unwrap().close().await;
            let (names, log, chance) = (watch.disk.names(), watch.disk.log(), Chance::new(1));
            let mut cursor = Cursor::new(&log, names.len());
            for position in since..=log.len() {
                cursor.advance_to(position);
                for loss in Loss::ALL {
                    let left = turno_crash::story::folder().unwrap();
                    lay_out(left.path(), &names, &cursor.image(loss, &chance)).unwrap();
                    check(left.path(), old, &fresh, &format!("{old}, cut at {position}, {loss:?}")).await;
                }
            }
        }
        Ok(())
    })
    .unwrap();
}
