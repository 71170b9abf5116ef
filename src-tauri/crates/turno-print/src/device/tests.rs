use std::io::{Read, Write};
use std::net::TcpListener;
use std::time::Duration;

use super::*;
use crate::fake::{Mood, Printer};
use crate::{CodePage, Columns, Document, Profile, QrBy, Style, bytes};

const QUICK: Limits = Limits {
    connect: Duration::from_millis(500),
    write: Duration::from_millis(300),
    status: Duration::from_millis(150),
    finish: Duration::from_millis(300),
};

fn ticket() -> Vec<u8> {
    let profile =
        Profile { columns: Columns::C32, code_page: CodePage::Pc850, qr: QrBy::Printer, cuts: true };
    let mut document = Document::default();
    for line in ["Empresa", "Lima", "Ñaña", "S/ 12.50"] {
        document.text(Style::PLAIN, line);
    }
    bytes(&document, &profile)
}

fn network(address: &str) -> Device {
    Device::Network { address: address.to_owned() }
}

fn failure(outcome: &Outcome) -> Option<Failure> {
    match outcome {
        Outcome::Printed => None,
        Outcome::NotPrinted(trouble) | Outcome::Unclear(trouble) => Some(trouble.failure),
    }
}

/// A printer of one mood, and what a ticket on it came to.
#[track_caller]
fn check(mood: Mood, expected: impl Fn(&Outcome) -> bool, lines: &[&str]) {
    let printer = Printer::start();
    printer.set(mood);
    let outcome = network(&printer.address()).print(&ticket(), &QUICK);
    assert!(expected(&outcome), "{mood:?}: {outcome:?}");
    assert_eq!(printer.lines(), lines, "{mood:?}");
}

#[test]
fn a_printer_that_works_prints_whether_it_talks_or_not() {
    let whole = ["Empresa", "Lima", "Ñaña", "S/ 12.50"];
    check(Mood::Works, |outcome| *outcome == Outcome::Printed, &whole);
    check(Mood::Mute, |outcome| *outcome == Outcome::Printed, &whole);
}

#[test]
fn without_paper_or_with_an_open_lid_nothing_is_sent() {
    let no_paper = |outcome: &Outcome| matches!(outcome, Outcome::NotPrinted(trouble) if trouble.failure == Failure::NoPaper);
    check(Mood::NoPaper, no_paper, &[]);
    check(Mood::LidOpen, no_paper, &[]);
}

#[test]
fn a_printer_that_vanishes_in_mid_ticket_leaves_a_question() {
    let unclear = |outcome: &Outcome| matches!(outcome, Outcome::Unclear(_));
    check(Mood::VanishesAfter(2), unclear, &["Empresa", "Lima"]);
}

#[test]
fn paper_that_ends_in_mid_ticket_leaves_a_question_and_its_cause() {
    let unclear = |outcome: &Outcome| matches!(outcome, Outcome::Unclear(trouble) if trouble.failure == Failure::NoPaper);
    check(Mood::PaperEndsAfter(3), unclear, &["Empresa", "Lima", "Ñaña"]);
}

#[test]
fn four_troubles_have_four_names() {
    // A port that was free a moment ago: nobody listens.
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    assert_eq!(failure(&network(&closed.to_string()).print(&ticket(), &QUICK)), Some(Failure::NoPrinter));

    for name in ["impresora.invalid", "", "http://a", "127.0.0.1:0"] {
        assert_eq!(failure(&network(name).print(&ticket(), &QUICK)), Some(Failure::WrongName), "{name}");
    }

    // Takes the connection and then nothing: more than any buffer holds.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = silent.local_addr().unwrap().to_string();
    let outcome = network(&address).print(&vec![b'x'; 32 << 20], &QUICK);
    assert_eq!(failure(&outcome), Some(Failure::NoAnswer), "{outcome:?}");
    assert!(matches!(outcome, Outcome::Unclear(_)), "some of it left: {outcome:?}");

    let printer = Printer::start();
    printer.set(Mood::NoPaper);
    assert_eq!(failure(&network(&printer.address()).print(&ticket(), &QUICK)), Some(Failure::NoPaper));
}

#[test]
fn a_printer_that_knows_one_question_only_is_believed_when_it_has_paper() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut byte = [0];
        let mut last = [0; 3];
        while stream.read(&mut byte).is_ok_and(|count| count == 1) {
            last = [last[1], last[2], byte[0]];
            if last[..2] == [0x10, 4] {
                stream.write_all(&[0x12]).unwrap();
            }
        }
    });
    assert_eq!(network(&address).print(&ticket(), &QUICK), Outcome::Printed);
}

#[test]
fn a_plain_file_keeps_what_was_in_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tickets.bin");
    let device = Device::File { path: path.to_string_lossy().into_owned() };
    assert_eq!(device.print(&ticket(), &QUICK), Outcome::Printed);
    assert_eq!(device.print(&ticket(), &QUICK), Outcome::Printed);
    assert_eq!(std::fs::read(&path).unwrap(), [ticket(), ticket()].concat());
    for nowhere in [folder.path().join("no/such/folder"), folder.path().to_owned()] {
        let device = Device::File { path: nowhere.to_string_lossy().into_owned() };
        assert_eq!(failure(&device.print(&ticket(), &QUICK)), Some(Failure::WrongName), "{nowhere:?}");
    }
}

#[cfg(unix)]
#[test]
fn a_device_file_is_written_to_and_a_plain_file_is_no_device() {
    let folder = tempfile::tempdir().unwrap();
    let device = |name: &str| Device::DeviceFile { path: folder.path().join(name).to_string_lossy().into() };
    assert_eq!(failure(&device("lp0").print(&ticket(), &QUICK)), Some(Failure::WrongName), "not there");
    std::fs::write(folder.path().join("till.db"), "precious").unwrap();
    assert_eq!(failure(&device("till.db").print(&ticket(), &QUICK)), Some(Failure::WrongName));
    assert_eq!(std::fs::read(folder.path().join("till.db")).unwrap(), b"precious");

    let pipe = folder.path().join("lp1");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    assert_eq!(failure(&device("lp1").print(&ticket(), &QUICK)), Some(Failure::NoPrinter), "nobody reads");
    // Opened for both, so that neither side waits for the other.
    let mut reader = std::fs::OpenOptions::new().read(true).write(true).open(&pipe).unwrap();
    assert_eq!(device("lp1").print(&ticket(), &QUICK), Outcome::Printed);
    let mut printed = vec![0; ticket().len()];
    reader.read_exact(&mut printed).unwrap();
    assert_eq!(printed, ticket());
    // A device that takes nothing is not waited for for ever.
    let outcome = device("lp1").print(&vec![b'x'; 1 << 20], &QUICK);
    assert_eq!(failure(&outcome), Some(Failure::NoAnswer), "{outcome:?}");
}
