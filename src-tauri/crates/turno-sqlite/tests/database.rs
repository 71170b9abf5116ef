//! The promises of `Database`, through its public face.

#![expect(clippy::unwrap_used, reason = "helpers of a test fail the test")]

use std::sync::mpsc;

use rusqlite::Connection;
use tempfile::TempDir;
use turno_sqlite::{Database, Migration, OpenError, Options, WriteError, WriterMode, is_disk_full};

const NOTES: Migration =
    Migration { version: 1, name: "notes", sql: "CREATE TABLE note (text TEXT NOT NULL UNIQUE) STRICT;" };
const PAGES: Migration = Migration {
    version: 2,
    name: "pages",
    sql: "ALTER TABLE note ADD COLUMN page INTEGER NOT NULL DEFAULT 1;
          CREATE TABLE link (target TEXT REFERENCES note (text) DEFERRABLE INITIALLY DEFERRED) STRICT;",
};

struct Place {
    folder: TempDir,
}

impl Place {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    fn open(&self) -> Database {
        self.open_with(&[NOTES, PAGES], WriterMode::Thread).unwrap()
    }

    fn open_with(&self, migrations: &[Migration], mode: WriterMode) -> Result<Database, OpenError> {
        Database::open(&self.file(), migrations, Options { mode, ..Options::default() })
    }

    fn file(&self) -> std::path::PathBuf {
        self.folder.path().join("notes.db")
    }
}

fn insert(text: &str) -> impl FnOnce(&Connection) -> Result<(), rusqlite::Error> + Send + 'static + use<> {
    let text = text.to_owned();
    move |connection| connection.execute("INSERT INTO note (text) VALUES (?1)", [text]).map(drop)
}

async fn notes(database: &Database) -> Vec<String> {
    database
        .read(|connection| {
            connection
                .prepare("SELECT text FROM note ORDER BY text")?
                .query_map([], |row| row.get(0))?
                .collect()
        })
        .await
        .unwrap()
}

/// Keeps the writer busy inside a write until the returned sender is used, so that others have to wait together.
async fn hold_writer(database: &Database) -> (mpsc::Sender<()>, tokio::task::JoinHandle<()>) {
    let (release, released) = mpsc::channel();
    let (started, has_started) = tokio::sync::oneshot::channel();
    let database = database.clone();
    let held = tokio::spawn(async move {
        let wait = move |_: &Connection| -> Result<(), rusqlite::Error> {
            started.send(()).unwrap();
            released.recv().unwrap();
            Ok(())
        };
        database.write(wait).await.unwrap();
    });
    has_started.await.unwrap();
    (release, held)
}

async fn wait_for_depth(database: &Database, depth: usize) {
    while database.queue_depth() < depth {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn many_writers_share_few_commits() {
    let place = Place::new();
    let database = place.open();
    let before = database.commits();
    let (release, held) = hold_writer(&database).await;
    let writers: Vec<_> = (0..100)
        .map(|number| {
            let database = database.clone();
            tokio::spawn(async move { database.write(insert(&format!("note {number}"))).await })
        })
        .collect();
    wait_for_depth(&database, 101).await;
    release.send(()).unwrap();
    held.await.unwrap();
    for writer in writers {
        writer.await.unwrap().unwrap();
    }
    assert_eq!(notes(&database).await.len(), 100);
    let commits = database.commits() - before;
    assert!(commits <= 2, "a hundred waiting writes took {commits} commits");
    assert_eq!(database.queue_depth(), 0);
}

#[tokio::test]
async fn a_refusal_or_a_panic_undoes_its_own_write_and_none_beside_it() {
    let place = Place::new();
    let database = place.open();
    let (release, held) = hold_writer(&database).await;
    let before = tokio::spawn({
        let database = database.clone();
        async move { database.write(insert("before")).await }
    });
    wait_for_depth(&database, 2).await;
    let refused = tokio::spawn({
        let database = database.clone();
        async move {
            database
                .write(|connection| {
                    insert("refused")(connection).unwrap();
                    Err::<(), _>("changed my mind")
                })
                .await
        }
    });
    wait_for_depth(&database, 3).await;
    let panicked = tokio::spawn({
        let database = database.clone();
        async move {
            database
                .write(|connection| -> Result<(), rusqlite::Error> {
                    insert("panicked")(connection)?;
                    panic!("a bug in a closure");
                })
                .await
        }
    });
    wait_for_depth(&database, 4).await;
    let after = tokio::spawn({
        let database = database.clone();
        async move { database.write(insert("after")).await }
    });
    wait_for_depth(&database, 5).await;
    release.send(()).unwrap();
    held.await.unwrap();

    before.await.unwrap().unwrap();
    assert!(matches!(refused.await.unwrap(), Err(WriteError::Rejected("changed my mind"))));
    assert!(panicked.await.unwrap_err().is_panic(), "the panic goes on in its own caller");
    after.await.unwrap().unwrap();
    assert_eq!(notes(&database).await, ["after", "before"]);
    database.write(insert("later")).await.unwrap();
}

#[tokio::test]
async fn rows_and_schema_are_there_after_opening_again_and_steps_are_applied_once() {
    let place = Place::new();
    let database = place.open_with(&[NOTES], WriterMode::Thread).unwrap();
    database.write(insert("kept")).await.unwrap();
    database.close().await;
    for _ in 0..2 {
        let database = place.open();
        assert_eq!(notes(&database).await, ["kept"]);
        database.close().await;
    }
}

#[tokio::test]
async fn an_upgraded_schema_equals_a_fresh_one() {
    let fresh = Place::new();
    let upgraded = Place::new();
    upgraded.open_with(&[NOTES], WriterMode::Thread).unwrap().close().await;
    let mut schemas = Vec::new();
    for place in [&fresh, &upgraded] {
        let database = place.open();
        let schema = database.read(|connection| {
            connection
                .prepare("SELECT sql FROM sqlite_schema ORDER BY name")?
                .query_map([], |row| row.get::<_, Option<String>>(0))?
                .collect::<Result<Vec<_>, _>>()
        });
        schemas.push(schema.await.unwrap());
    }
    assert_eq!(schemas[0], schemas[1]);
}

#[tokio::test]
async fn a_newer_database_is_refused_and_left_as_it_is() {
    let place = Place::new();
    place.open().close().await;
    let before = std::fs::read(place.file()).unwrap();
    let refusal = place.open_with(&[NOTES], WriterMode::Thread).unwrap_err();
    assert!(matches!(refusal, OpenError::Newer { found: 2, known: 1 }), "{refusal:?}");
    assert_eq!(std::fs::read(place.file()).unwrap(), before);
}

#[tokio::test]
async fn a_failed_step_leaves_the_schema_before_it() {
    let place = Place::new();
    let broken =
        Migration { version: 2, name: "broken", sql: "CREATE TABLE half (a); SELECT nothing FROM nowhere;" };
    let refusal = place.open_with(&[NOTES, broken], WriterMode::Thread).unwrap_err();
    assert!(matches!(refusal, OpenError::Migration { version: 2, name: "broken", .. }), "{refusal:?}");
    let database = place.open();
    database.write(insert("works")).await.unwrap();
    let half = database
        .read(|c| c.query_row("SELECT count(*) FROM sqlite_schema WHERE name = 'half'", [], |r| r.get(0)));
    assert_eq!(half.await, Ok(0));
}

#[tokio::test]
async fn what_is_no_database_or_in_no_folder_is_told_apart() {
    let place = Place::new();
    std::fs::write(place.file(), "x".repeat(8192)).unwrap();
    let refusal = place.open_with(&[NOTES], WriterMode::Thread).unwrap_err();
    assert!(matches!(refusal, OpenError::NotADatabase(_)), "{refusal:?}");

    let nowhere = place.folder.path().join("nowhere").join("notes.db");
    let refusal = Database::open(&nowhere, &[NOTES], Options::default()).unwrap_err();
    assert!(matches!(refusal, OpenError::NotWritable(_)), "{refusal:?}");
}

#[tokio::test]
async fn a_reader_sees_commits_and_cannot_write() {
    let place = Place::new();
    let database = place.open();
    database.write(insert("seen")).await.unwrap();
    assert_eq!(notes(&database).await, ["seen"]);
    database.read(|connection| insert("smuggled")(connection)).await.unwrap_err();
    assert_eq!(notes(&database).await, ["seen"]);
}

#[tokio::test]
async fn a_write_whose_caller_left_is_still_made() {
    let place = Place::new();
    let database = place.open();
    let (release, held) = hold_writer(&database).await;
    let leaver = tokio::spawn({
        let database = database.clone();
        async move { database.write(insert("left behind")).await }
    });
    wait_for_depth(&database, 2).await;
    leaver.abort();
    assert!(leaver.await.unwrap_err().is_cancelled());
    release.send(()).unwrap();
    held.await.unwrap();
    database.write(insert("next")).await.unwrap();
    assert_eq!(notes(&database).await, ["left behind", "next"]);
}

#[tokio::test]
async fn a_full_disk_refuses_the_write_and_keeps_the_rest() {
    let place = Place::new();
    let database = place.open();
    database.write(insert("kept")).await.unwrap();
    let refused = database
        .write(|connection| {
            connection.pragma_update_and_check(None, "max_page_count", 1, |_| Ok(()))?;
            insert(&"x".repeat(100_000))(connection)
        })
        .await;
    let Err(WriteError::Rejected(error)) = refused else { panic!("{refused:?}") };
    assert!(is_disk_full(&error), "{error:?}");
    assert_eq!(notes(&database).await, ["kept"]);
}

#[tokio::test]
async fn a_commit_that_is_refused_keeps_nothing_and_the_writer_goes_on() {
    let place = Place::new();
    let database = place.open();
    let dangling = database
        .write(|connection| connection.execute("INSERT INTO link (target) VALUES ('nobody')", []).map(drop))
        .await;
    assert!(matches!(dangling, Err(WriteError::NotCommitted(_))), "{dangling:?}");
    database.write(insert("next")).await.unwrap();
    let links = database.read(|c| c.query_row("SELECT count(*) FROM link", [], |r| r.get(0))).await;
    assert_eq!(links, Ok(0));
}

#[tokio::test]
async fn a_closed_database_refuses_reads_and_writes() {
    for mode in [WriterMode::Thread, WriterMode::Inline] {
        let place = Place::new();
        let database = place.open_with(&[NOTES], mode).unwrap();
        database.close().await;
        assert!(matches!(database.write(insert("late")).await, Err(WriteError::Closed)));
        database.read(|_| Ok(())).await.unwrap_err();
        database.close().await;
    }
}

#[test]
fn inline_needs_no_runtime_and_no_other_thread() {
    let place = Place::new();
    let database = place.open_with(&[NOTES], WriterMode::Inline).unwrap();
    let here = std::thread::current().id();
    let wrote = run_alone(database.write(move |connection| {
        assert_eq!(std::thread::current().id(), here);
        insert("one")(connection)
    }));
    wrote.unwrap();
    assert!(matches!(run_alone(database.write(|_| Err::<(), _>("no"))), Err(WriteError::Rejected("no"))));
    assert_eq!(run_alone(notes(&database)), ["one"]);
}

/// The answer of a future that gives way to other tasks once and then never waits.
fn run_alone<T>(future: impl Future<Output = T>) -> T {
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    let mut future = std::pin::pin!(future);
    for _ in 0..2 {
        if let std::task::Poll::Ready(value) = future.as_mut().poll(&mut context) {
            return value;
        }
    }
    panic!("it waited for somebody")
}
