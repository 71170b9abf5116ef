//! `turno-server serve` as a process of the test's own.

use std::{
    fs,
    io::{BufRead, BufReader},
    net::SocketAddr,
    process::{Child, Command, Stdio},
};

use serde_json::json;
use tempfile::TempDir;
use tokio::sync::{Mutex, MutexGuard};

pub struct Program {
    child: Child,
    pub address: SocketAddr,
    folder: TempDir,
    alone: Option<MutexGuard<'static, ()>>,
}

/// One attack at a time, so that how much slower others are is that attack's doing.
static ALONE: Mutex<()> = Mutex::const_new(());

/// Descriptors that an ordinary service starts with: far fewer than connections are to be held.
const DESCRIPTORS: &str = "1024";

impl Program {
    pub async fn start() -> Self {
        let alone = ALONE.lock().await;
        let mut program = Self::launch();
        program.alone = Some(alone);
        program
    }

    /// Another one, which nobody attacks, to compare with.
    pub fn beside(&self) -> Self {
        Self::launch()
    }

    fn launch() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let fixture = folder.path().join("fixture.json");
        fs::write(&fixture, fixture_json()).unwrap();
        let errors = fs::File::create(folder.path().join("errors.log")).unwrap();
        let database = format!("sqlite:{}", folder.path().join("ledger.db").display());
        let mut child = Command::new("sh")
            .args(["-c", "ulimit -S -n $0; exec \"$@\"", DESCRIPTORS, env!("CARGO_BIN_EXE_turno-server")])
            .args(["serve", "--listen", "127.0.0.1:0", "--database", &database, "--fixture"])
            .arg(&fixture)
            .stdout(Stdio::piped())
            .stderr(errors)
            .spawn()
            .unwrap();
        let mut said = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut said).unwrap();
        let address = said.trim().strip_prefix("listening on http://");
        let address = address.unwrap_or_else(|| panic!("the server said {said:?}")).parse().unwrap();
        Self { child, address, folder, alone: None }
    }

    /// Memory that it has in use, in KiB.
    pub fn resident_kib(&self) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
        line.split_whitespace().next().unwrap().parse().unwrap()
    }

    /// It lives, and has said nothing of a panic.
    pub fn assert_unharmed(&mut self) {
        assert!(self.child.try_wait().unwrap().is_none(), "the server has ended");
        let said = fs::read_to_string(self.folder.path().join("errors.log")).unwrap();
        assert!(!said.contains("panicked"), "{said}");
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // It may have ended by itself; either way there is nothing more to do about it.
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

fn fixture_json() -> String {
    json!({
        "settings": {
            "currency": "PEN", "body_limit_bytes": 65_536, "key_retention_days": 30, "similarity_window_s": 600,
            "identifying_fields": ["seat"], "confirmation_token_life_s": 86_400, "error_profile": "default",
            "acquirer_visibility_delay_s": 1, "acquirer_webhook_secret": "secret",
        },
        "integrations": [{"company": "A", "integration": "pos"}],
        "credentials": [{
            "token": "till", "company": "A", "integration": "pos", "environment": "production",
            "rights": ["create", "read"],
        }],
    })
    .to_string()
}
