use tempfile::TempDir;

use super::*;

const NOW: Millis = 1_796_050_800_000;

fn database(folder: &TempDir, rows: u32) -> PathBuf {
    let path = folder.path().join("till.db");
    let conn = Connection::open(&path).unwrap();
    conn.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(())).unwrap();
    conn.execute_batch("CREATE TABLE IF NOT EXISTS note (text TEXT); PRAGMA user_version = 1").unwrap();
    for _ in 0..rows {
        conn.execute("INSERT INTO note VALUES (hex(randomblob(200)))", []).unwrap();
    }
    path
}

fn names(folder: &Path) -> Vec<String> {
    all(folder).iter().map(|path| path.file_name().unwrap().to_string_lossy().into_owned()).collect()
}

#[test]
fn a_copy_holds_what_is_only_in_the_log_and_is_one_file() {
    let folder = TempDir::new().unwrap();
    let database = database(&folder, 50);
    let conn = Connection::open(&database).unwrap();
    conn.execute("INSERT INTO note VALUES ('only in the log')", []).unwrap();
    let copy = folder.path().join("backups").join(name(USUAL, NOW));
    write(&conn, &copy).unwrap();
    assert_eq!(fs::read_dir(copy.parent().unwrap()).unwrap().count(), 1);
    let rows: u32 = Connection::open(&copy)
        .unwrap()
        .query_row("SELECT count(*) FROM note", [], |row| row.get(0))
        .unwrap();
    assert_eq!(rows, 51);
    assert_eq!(fault(&copy).unwrap(), None);
}

#[test]
fn a_file_with_holes_or_of_another_kind_does_not_pass() {
    let folder = TempDir::new().unwrap();
    let copy = folder.path().join("copy.db");
    write(&Connection::open(database(&folder, 200)).unwrap(), &copy).unwrap();
    let mut bytes = fs::read(&copy).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle..middle + 4_096].fill(0);
    fs::write(&copy, &bytes).unwrap();
    assert!(fault(&copy).unwrap().is_some());
    fs::write(&copy, b"not a database at all, and long enough to be looked at as one").unwrap();
    assert!(fault(&copy).unwrap().is_some());
}

#[test]
fn the_newest_copies_stay_and_those_of_before_an_upgrade_are_counted_apart() {
    let folder = TempDir::new().unwrap();
    let conn = Connection::open(database(&folder, 1)).unwrap();
    let backups = folder.path().join(FOLDER);
    let day = |index: usize| NOW + i64::try_from(index).unwrap() * EVERY_MS;
    before_upgrade(&folder.path().join("till.db"), &backups, 2, day(0)).unwrap();
    before_upgrade(&folder.path().join("till.db"), &backups, 1, day(1)).unwrap();
    for index in 0..KEPT + 3 {
        assert!(is_due(&backups, day(index)) || index == 0);
        write(&conn, &backups.join(name(USUAL, day(index)))).unwrap();
        rotate(&backups, USUAL, KEPT).unwrap();
        assert!(!is_due(&backups, day(index) + 1));
    }
    let names = names(&backups);
    assert_eq!(names.len(), KEPT + 1, "{names:?}");
    assert!(names[0].starts_with("upgrade-"), "it is the oldest, and stays: {names:?}");
    assert_eq!(names.last().unwrap(), &name(USUAL, day(KEPT + 2)));
    assert!(is_due(&backups, NOW - 10 * EVERY_MS), "a copy from the future says nothing");
}

#[test]
fn half_a_copy_never_has_a_copys_name() {
    let folder = TempDir::new().unwrap();
    let backups = folder.path().join(FOLDER);
    fs::create_dir_all(&backups).unwrap();
    fs::write(backups.join("till-20261130T150000Z.partial"), b"half").unwrap();
    assert_eq!(names(&backups), Vec::<String>::new());
    write(&Connection::open(database(&folder, 1)).unwrap(), &backups.join(name(USUAL, NOW))).unwrap();
    assert_eq!(names(&backups).len(), 1);
    assert_eq!(fs::read_dir(&backups).unwrap().count(), 1, "what was left over is gone");
}
