//! The program as a process of the test's own.

use std::{
    fs::File,
    io::{BufRead, BufReader},
    os::unix::process::ExitStatusExt,
    path::Path,
    process::{Child, Command, ExitStatus, Stdio},
    time::{Duration, Instant},
};

/// What takes longer than this on a loaded two-core machine is broken, not slow.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// Killed, and waited for, when the value goes.
pub struct Program {
    child: Child,
    /// `http://…`.
    pub address: String,
    said: BufReader<std::process::ChildStdout>,
}

pub fn command() -> Command {
    Command::new(env!("CARGO_BIN_EXE_turno-server"))
}

impl Program {
    /// Start it and wait until it listens. What it logs is added to `log`.
    pub fn start(command: &mut Command, log: &Path) -> Self {
        let log = File::options().create(true).append(true).open(log).unwrap();
        let mut child =
            command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(log).spawn().expect("it was built");
        let said = BufReader::new(child.stdout.take().unwrap());
        let mut program = Self { child, address: String::new(), said };
        program.address = program.next_address();
        program
    }

    /// Where else it listens.
    pub fn next_address(&mut self) -> String {
        let mut line = String::new();
        self.said.read_line(&mut line).unwrap();
        line.trim().strip_prefix("listening on ").expect("it says where").to_owned()
    }

    pub fn signal(&self, name: &str) {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args(["-s", name, &id]).status().unwrap().success());
    }

    /// SIGTERM, and wait for the end in good order.
    pub async fn end(mut self) {
        self.signal("TERM");
        let status = self.ended().await;
        assert!(status.success(), "{status}");
    }

    /// Wait until it is dead by SIGKILL.
    pub async fn killed(mut self) {
        let status = self.ended().await;
        assert_eq!(status.signal(), Some(9), "it reached its kill-point");
    }

    /// Wait until it stands still.
    pub async fn stopped(&self) {
        let stat = format!("/proc/{}/stat", self.child.id());
        until("it has stopped", || {
            let stat = std::fs::read_to_string(&stat).unwrap();
            let (_, rest) = stat.rsplit_once(')').unwrap();
            rest.trim_start().starts_with('T').then_some(())
        })
        .await;
    }

    async fn ended(&mut self) -> ExitStatus {
        until("the program has ended", || self.child.try_wait().unwrap()).await
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // It may have ended by itself; either way there is nothing more to do about it.
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

/// Asks until there is an answer. `what` completes the sentence "waited in vain until …".
pub async fn until<T>(what: &str, mut ask: impl FnMut() -> Option<T>) -> T {
    let end = Instant::now() + PATIENCE;
    loop {
        if let Some(answer) = ask() {
            return answer;
        }
        assert!(Instant::now() < end, "waited in vain until {what}");
        tokio::task::yield_now().await;
    }
}
