//! WebKitWebDriver, one for each window: it starts the till's binary and speaks WebDriver about its page.

use std::net::{Ipv4Addr, TcpListener};
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use serde_json::json;
use tokio::net::TcpStream;

use crate::process::Owned;
use crate::screen::Screen;
use crate::wait::until;
use crate::webdriver::Session;

/// The driver cannot choose a port by itself and tell it, so it is given one that was free a moment ago; another
/// process may be quicker.
const PORT_ATTEMPTS: u32 = 5;

/// Ends with the value, and the till that it started with it.
pub struct Driver {
    process: Owned,
    port: u16,
}

/// On this screen and in this home folder, without a session bus.
pub fn at_home(command: &mut Command, screen: &Screen, home: &Path) {
    command
        .env("DISPLAY", screen.display())
        .env("GDK_BACKEND", "x11")
        .env("NO_AT_BRIDGE", "1")
        // It would still be writing when the home folder goes.
        .env("MESA_SHADER_CACHE_DISABLE", "true")
        .env("HOME", home)
        .env("XDG_DATA_HOME", home.join("data"))
        .env("XDG_CACHE_HOME", home.join("cache"))
        .env("XDG_CONFIG_HOME", home.join("config"))
        .env("XDG_STATE_HOME", home.join("state"))
        .env_remove("WAYLAND_DISPLAY")
        .env_remove("DBUS_SESSION_BUS_ADDRESS")
        .stdin(Stdio::null());
}

impl Driver {
    /// `home` keeps what the web view stores away from the person's own files.
    pub async fn start(screen: &Screen, home: &Path) -> Result<Self> {
        for _ in 0..PORT_ATTEMPTS {
            if let Some(driver) = Self::try_start(screen, home).await? {
                return Ok(driver);
            }
        }
        bail!("WebKitWebDriver found no free port in {PORT_ATTEMPTS} attempts")
    }

    async fn try_start(screen: &Screen, home: &Path) -> Result<Option<Self>> {
        let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port();
        let mut command = Command::new("WebKitWebDriver");
        command.arg(format!("--port={port}")).env("TAURI_WEBVIEW_AUTOMATION", "true");
        at_home(&mut command, screen, home);
        let mut process = Owned::start(&mut command)?;
        let is_up = until("WebKitWebDriver answers", async || {
            if process.has_ended()? {
                return Ok(Some(false));
            }
            Ok(TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await.is_ok().then_some(true))
        })
        .await?;
        Ok(is_up.then_some(Self { process, port }))
    }

    pub fn id(&self) -> u32 {
        self.process.id()
    }

    /// Starts the program and waits for its page.
    pub async fn open(&self, binary: &Path, args: &[String]) -> Result<Session> {
        // No browser name: WebKitWebDriver would compare it with the program's.
        let capabilities = json!({ "webkitgtk:browserOptions": { "binary": binary, "args": args } });
        Session::start(self.port, &capabilities)
            .await
            .with_context(|| format!("no session with {}", binary.display()))
    }
}
