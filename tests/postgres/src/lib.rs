//! A PostgreSQL server of the test's own, from the programs that the system has.
//!
//! Invariant: nothing of it outlives the last test that uses it, and nothing outside its folder is touched: it listens
//! on a socket in there and on no network. PostgreSQL refuses to run as root, so for root it runs as `postgres` or
//! `nobody`.

mod programs;

use std::{
    env,
    fs::{self, File},
    path::Path,
    process::{Command, Stdio},
    sync::{
        Arc, Mutex, Weak,
        atomic::{AtomicU32, Ordering},
    },
};

use anyhow::{Context, Result, bail};
use tempfile::TempDir;

use programs::Programs;

/// Set where tests on PostgreSQL must run: a machine without it fails then, instead of leaving them out.
const REQUIRED: &str = "TURNO_REQUIRE_POSTGRES";

/// Nobody outside sees it; it needs a name all the same.
const ROLE: &str = "turno";

/// Written data is thrown away with the test: nothing has to survive a power cut.
const FLEETING: &str = "-c fsync=off -c full_page_writes=off -c max_connections=100 -c autovacuum=off";

/// As an operator leaves it: every commit is on the disk.
const DURABLE: &str = "-c max_connections=100";

/// A server that is stopped, and whose folder is removed, with its last user.
pub struct Cluster {
    folder: TempDir,
    programs: Programs,
    databases: AtomicU32,
    settings: &'static str,
}

/// An empty database.
pub struct Database {
    cluster: Arc<Cluster>,
    name: String,
}

impl Database {
    /// A new database on the server that all tests of this process share; `None` where no PostgreSQL is installed.
    pub fn create() -> Result<Option<Self>> {
        Cluster::shared()?.map(Self::on).transpose()
    }

    /// A new database on a server of its own whose commits are on the disk, for measuring; `None` where no PostgreSQL
    /// is installed.
    pub fn create_durable() -> Result<Option<Self>> {
        Cluster::new(DURABLE)?.map(|cluster| Self::on(Arc::new(cluster))).transpose()
    }

    /// Another database on the same server.
    pub fn beside(&self) -> Result<Self> {
        Self::on(Arc::clone(&self.cluster))
    }

    fn on(cluster: Arc<Cluster>) -> Result<Self> {
        let name = format!("test_{}", cluster.databases.fetch_add(1, Ordering::Relaxed));
        let mut create = cluster.programs.command("createdb");
        create.arg("--host").arg(cluster.folder.path()).args(["--username", ROLE, &name]);
        run(&mut create)?;
        Ok(Self { cluster, name })
    }

    /// One of PostgreSQL's own programs, about to work on this database.
    pub fn program(&self, name: &str) -> Command {
        let mut command = self.cluster.programs.command(name);
        command.arg("--host").arg(self.cluster.folder.path()).args(["--username", ROLE]);
        command.env("PGDATABASE", &self.name);
        command
    }

    /// `postgres://…`, with the socket's folder as the host.
    pub fn url(&self) -> String {
        let host = self.cluster.folder.path().to_string_lossy().replace('/', "%2F");
        format!("postgres://{ROLE}@{host}/{}", self.name)
    }

    /// End all its connections and accept no more, as if the server were gone; other databases go on.
    pub fn refuse_connections(&self) -> Result<()> {
        let name = &self.name;
        self.administer(&format!("ALTER DATABASE {name} ALLOW_CONNECTIONS false"))?;
        self.administer(&format!(
            "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE datname = '{name}'"
        ))
    }

    pub fn accept_connections(&self) -> Result<()> {
        self.administer(&format!("ALTER DATABASE {} ALLOW_CONNECTIONS true", self.name))
    }

    fn administer(&self, sql: &str) -> Result<()> {
        let mut psql = self.cluster.programs.command("psql");
        psql.arg("--host").arg(self.cluster.folder.path());
        psql.args(["--username", ROLE, "--no-psqlrc", "--dbname", "postgres", "--command", sql]);
        run(&mut psql)
    }
}

impl Cluster {
    fn shared() -> Result<Option<Arc<Self>>> {
        static RUNNING: Mutex<Weak<Cluster>> = Mutex::new(Weak::new());
        let mut running = RUNNING.lock().expect("whoever held it returned an error instead of panicking");
        if let Some(cluster) = running.upgrade() {
            return Ok(Some(cluster));
        }
        let started = Self::new(FLEETING)?.map(Arc::new);
        if let Some(cluster) = &started {
            *running = Arc::downgrade(cluster);
        }
        Ok(started)
    }

    fn new(settings: &'static str) -> Result<Option<Self>> {
        let Some(programs) = Programs::find()? else {
            if env::var_os(REQUIRED).is_some() {
                bail!("initdb and pg_ctl are not there: install the package `postgresql`");
            }
            return Ok(None);
        };
        let folder = tempfile::Builder::new().prefix("turno-pg-").tempdir()?;
        programs.hand_over(folder.path())?;
        let cluster = Self { folder, programs, databases: AtomicU32::new(0), settings };
        let mut init = cluster.programs.command("initdb");
        init.arg("--pgdata").arg(cluster.data());
        init.args([
            "--username",
            ROLE,
            "--auth",
            "trust",
            "--encoding",
            "UTF8",
            "--locale",
            "C",
            "--no-sync",
        ]);
        run(&mut init)?;
        cluster.start()?;
        Ok(Some(cluster))
    }

    fn data(&self) -> std::path::PathBuf {
        self.folder.path().join("data")
    }

    /// Returns when it answers.
    fn start(&self) -> Result<()> {
        let socket = self.folder.path().display();
        let settings =
            format!("-c listen_addresses='' -c unix_socket_directories='{socket}' {}", self.settings);
        let mut start = self.programs.command("pg_ctl");
        start.arg("--pgdata").arg(self.data()).arg("--log").arg(self.data().join("server.log"));
        start.args(["--wait", "--options", &settings, "start"]);
        run(&mut start)
    }

    fn stop(&self, mode: &str) -> Result<()> {
        let mut stop = self.programs.command("pg_ctl");
        stop.arg("--pgdata").arg(self.data()).args(["--wait", "--mode", mode, "stop"]);
        run(&mut stop)
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        if self.data().join("postmaster.pid").exists()
            && let Err(error) = self.stop("immediate")
            && !std::thread::panicking()
        {
            panic!("the test's PostgreSQL goes on running: {error:#}");
        }
    }
}

/// The server inherits what its starter holds, so the output goes to a file: a pipe would stay open with it.
fn run(command: &mut Command) -> Result<()> {
    let said = tempfile::NamedTempFile::new()?;
    let (out, err) = (said.reopen()?, said.reopen()?);
    let status = wait(command, out, err).with_context(|| format!("cannot run {command:?}"))?;
    if !status.success() {
        bail!("{command:?} ended with {status}:\n{}", read(said.path()));
    }
    Ok(())
}

fn wait(command: &mut Command, out: File, err: File) -> std::io::Result<std::process::ExitStatus> {
    command.stdin(Stdio::null()).stdout(out).stderr(err).status()
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_default()
}
