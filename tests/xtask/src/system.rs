//! What the operating system must have before anything builds. On Debian and Ubuntu it is installed, elsewhere
//! it is listed. Each need is probed by what it gives, not by a package's name, so a machine that has
//! everything is left alone whatever its distribution, and nothing is asked of a package server.

use std::path::Path;
use std::process::Command;

use anyhow::{Result, bail};

use crate::process;

/// How it shows that a need is met.
enum Probe {
    Program(&'static str),
    /// A library with its headers, by its pkg-config name.
    Library(&'static str),
    /// Any of these files; each distribution has its own place.
    File(&'static [&'static str]),
    /// Python with what makes an environment of its own.
    PythonEnvironments,
    /// A PostgreSQL server. Debian keeps its programs off the PATH, in a folder for each version.
    Postgres,
}

struct Need {
    what_for: &'static str,
    probe: Probe,
    debian_package: &'static str,
}

/// What building and opening the window takes.
const WINDOW: [Need; 4] = [
    Need {
        what_for: "compiling and linking",
        probe: Probe::Program("cc"),
        debian_package: "build-essential",
    },
    Need { what_for: "finding libraries", probe: Probe::Program("pkg-config"), debian_package: "pkg-config" },
    Need {
        what_for: "the window",
        probe: Probe::Library("webkit2gtk-4.1"),
        debian_package: "libwebkit2gtk-4.1-dev",
    },
    Need {
        what_for: "knowing a server by its certificate",
        probe: Probe::File(&[
            "/etc/ssl/certs/ca-certificates.crt",
            "/etc/pki/tls/certs/ca-bundle.crt",
            "/etc/ssl/ca-bundle.pem",
            "/etc/ssl/cert.pem",
        ]),
        debian_package: "ca-certificates",
    },
];

/// What the real-window tests take on top of it.
const WINDOW_TESTS: [Need; 2] = [
    Need {
        what_for: "driving the window in tests",
        probe: Probe::Program("WebKitWebDriver"),
        debian_package: "webkit2gtk-driver",
    },
    Need { what_for: "a screen for tests", probe: Probe::Program("Xvfb"), debian_package: "xvfb" },
];

/// What the server's tests take on top of it.
const SERVER_TESTS: [Need; 2] = [
    Need {
        what_for: "the server's tests on PostgreSQL",
        probe: Probe::Postgres,
        debian_package: "postgresql",
    },
    Need {
        what_for: "holding the server against its description",
        probe: Probe::PythonEnvironments,
        debian_package: "python3-venv",
    },
];

pub fn prepare_for_run() -> Result<()> {
    prepare(&WINDOW.iter().collect::<Vec<_>>())
}

pub fn prepare_for_test() -> Result<()> {
    prepare(&WINDOW.iter().chain(&WINDOW_TESTS).chain(&SERVER_TESTS).collect::<Vec<_>>())
}

fn prepare(needs: &[&Need]) -> Result<()> {
    check_node()?;
    if !cfg!(target_os = "linux") {
        return Ok(());
    }
    let missing = missing(needs);
    if missing.is_empty() {
        println!("everything is installed");
        return Ok(());
    }
    install(&missing)?;
    let still = self::missing(&missing);
    if !still.is_empty() {
        bail!("installed, and still not found:\n{}", list(&still));
    }
    Ok(())
}

fn missing<'a>(needs: &[&'a Need]) -> Vec<&'a Need> {
    needs.iter().copied().filter(|need| !is_met(&need.probe)).collect()
}

fn is_met(probe: &Probe) -> bool {
    match probe {
        Probe::Program(name) => process::is_on_path(name),
        Probe::Library(name) => process::succeeds("pkg-config", &["--exists", name]),
        Probe::File(places) => places.iter().any(|place| Path::new(place).exists()),
        Probe::PythonEnvironments => process::succeeds("python3", &["-c", "import venv, ensurepip"]),
        Probe::Postgres => has_postgres(),
    }
}

fn has_postgres() -> bool {
    let versions = Path::new("/usr/lib/postgresql").read_dir().into_iter().flatten().flatten();
    process::is_on_path("initdb")
        || versions.into_iter().any(|entry| entry.path().join("bin/initdb").exists())
}

fn install(missing: &[&Need]) -> Result<()> {
    if !process::is_on_path("apt-get") {
        bail!(
            "these are missing and this system has no apt-get; install what they are called here and try again:\n{}",
            list(missing)
        );
    }
    println!("missing:\n{}", list(missing));
    process::run(&mut apt_get(&["update"])?)?;
    let mut words = vec!["install", "--yes", "--no-install-recommends"];
    words.extend(missing.iter().map(|need| need.debian_package));
    process::run(&mut apt_get(&words)?)
}

/// apt-get as root: directly, or through sudo.
fn apt_get(args: &[&str]) -> Result<Command> {
    let noninteractive = "DEBIAN_FRONTEND=noninteractive";
    if is_root() {
        return Ok(process::command("env", &[&[noninteractive, "apt-get"], args].concat()));
    }
    if process::is_on_path("sudo") {
        return Ok(process::command("sudo", &[&["env", noninteractive, "apt-get"], args].concat()));
    }
    bail!("this needs root and there is no sudo; as root, run: apt-get {}", args.join(" "))
}

fn is_root() -> bool {
    Command::new("id").arg("-u").output().is_ok_and(|output| output.stdout.trim_ascii() == b"0")
}

fn check_node() -> Result<()> {
    let output = Command::new("node").arg("--version").output();
    let version =
        output.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned()).unwrap_or_default();
    match major_and_minor(&version) {
        Some(version) if builds_the_page(version) && process::is_on_path("npm") => Ok(()),
        Some(_) | None => bail!(
            "Node.js 20.19 or newer, or from 22.12 on, with npm is needed to build the page; found: {}",
            if version.is_empty() { "none" } else { &version }
        ),
    }
}

/// What Vite 8 runs on, as its package says.
fn builds_the_page((major, minor): (u32, u32)) -> bool {
    match major {
        20 => minor >= 19,
        22 => minor >= 12,
        _ => major > 22,
    }
}

/// `v20.11.1` is 20 and 11.
fn major_and_minor(version: &str) -> Option<(u32, u32)> {
    let mut parts = version.strip_prefix('v')?.split('.').map(|part| part.parse().ok());
    Some((parts.next()??, parts.next()??))
}

fn list(needs: &[&Need]) -> String {
    let line = |need: &&Need| {
        let probe = match need.probe {
            Probe::Program(name) => format!("program {name}"),
            Probe::Library(name) => format!("library {name}"),
            Probe::File(places) => format!("file {}", places[0]),
            Probe::PythonEnvironments => "python3 -m venv".to_owned(),
            Probe::Postgres => "program initdb".to_owned(),
        };
        format!("  {:<22} {:<40} ({})", need.debian_package, probe, need.what_for)
    };
    needs.iter().map(line).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_of_node_is_read_from_what_it_prints() {
        assert_eq!(major_and_minor("v20.20.2"), Some((20, 20)));
        assert_eq!(major_and_minor("v9.0.0"), Some((9, 0)));
        for text in ["", "20.1", "v20", "vx.1"] {
            assert_eq!(major_and_minor(text), None, "{text}");
        }
    }

    #[test]
    fn a_node_that_vite_does_not_run_on_is_refused() {
        for (version, enough) in [
            ((18, 20), false),
            ((20, 18), false),
            ((20, 19), true),
            ((21, 9), false),
            ((22, 11), false),
            ((22, 12), true),
            ((24, 0), true),
        ] {
            assert_eq!(builds_the_page(version), enough, "{version:?}");
        }
    }

    #[test]
    fn a_need_that_nothing_meets_is_reported_with_its_package() {
        let need =
            Need { what_for: "x", probe: Probe::Program("no-such-program"), debian_package: "no-such" };
        let found = missing(&[&need]);
        assert_eq!(found.len(), 1);
        assert!(list(&found).contains("no-such "), "{}", list(&found));
    }
}
