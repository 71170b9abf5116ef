//! A machine of its own for one test: a screen, a home folder, a data folder. A till can be opened on it, killed, and
//! opened again.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};

use anyhow::Result;
use tempfile::TempDir;

use crate::driver::{Driver, at_home};
use crate::process::Owned;
use crate::screen::Screen;
use crate::tree;
use crate::wait::until;
use crate::window::Window;

pub struct Machine {
    screen: Screen,
    home: TempDir,
    data: PathBuf,
}

impl Machine {
    /// With the screen of a till that has room.
    pub fn new() -> Result<Self> {
        Self::with_screen(1280, 800)
    }

    pub fn with_screen(width: u32, height: u32) -> Result<Self> {
        let home = TempDir::new()?;
        let data = home.path().join("turno");
        Ok(Self { screen: Screen::start(width, height)?, home, data })
    }

    /// The till's data folder. Its databases may be opened while no till is.
    pub fn data(&self) -> &Path {
        &self.data
    }

    /// A file of the test's own, beside the data folder.
    pub fn path(&self, name: &str) -> PathBuf {
        self.home.path().join(name)
    }

    /// The practice server's database, for looking at when the till is closed.
    pub fn server_database(&self) -> PathBuf {
        self.data.join("practice/yupy.db")
    }

    /// The practice till's database, for looking at when the till is closed.
    pub fn till_database(&self) -> PathBuf {
        self.data.join("practice/till.db")
    }

    /// Opens the till in practice.
    pub async fn practise(&self) -> Result<Window> {
        self.open(&["--practice"]).await
    }

    /// Starts the program once more, as somebody does who clicks its icon again: how it ended, once it has.
    pub async fn start_again(&self) -> Result<ExitStatus> {
        let mut command = Command::new(tree::binaries().join("turno"));
        command.arg("--data-dir").arg(&self.data);
        at_home(&mut command, &self.screen, self.home.path());
        let mut program = Owned::start(&mut command)?;
        until("the second start ends", async || Ok(program.child().try_wait()?)).await
    }

    /// Opens the till with these arguments besides the data folder's.
    pub async fn open(&self, args: &[&str]) -> Result<Window> {
        let mut words = vec!["--data-dir".to_owned(), self.data.display().to_string()];
        words.extend(args.iter().map(|&word| word.to_owned()));
        self.open_program(&tree::binaries().join("turno"), &words).await
    }

    /// Opens another program that has a web view.
    pub async fn open_program(&self, program: &Path, args: &[String]) -> Result<Window> {
        let driver = Driver::start(&self.screen, self.home.path()).await?;
        Window::open(driver, program, args).await
    }
}
