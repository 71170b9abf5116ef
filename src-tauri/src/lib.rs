//! The desktop shell: a window around the till.
//!
//! It opens the data folder, starts the till in it (and, in practice, a server beside it), and hands the page's
//! commands on. It decides nothing about sales and keeps nothing. Invariant: the page in the window reaches no
//! network, no file and no database; the commands are its only way out.

#[cfg(test)]
mod command_names;
mod commands;
mod desk;
mod events;
mod folder;
mod options;
#[cfg(feature = "practice")]
mod practice;
#[cfg(not(feature = "practice"))]
#[path = "no_practice.rs"]
mod practice;
mod word;

use std::path::PathBuf;

use tauri::async_runtime::{block_on, spawn};
use tauri::{App, AppHandle, Manager, RunEvent, WebviewWindowBuilder};

pub use crate::options::Options;

use crate::desk::{Desk, Folders};

/// The name of our folders below the user's.
const FOLDER: &str = "turno";

/// Opens the window and stays until it is closed.
///
/// # Errors
/// If there is no screen or no web view; whatever is wrong with the till is shown in the window.
pub fn run(options: Options) -> tauri::Result<()> {
    let app = tauri::Builder::default()
        .invoke_handler(commands::handler())
        .setup(|app| Ok(open(app, options)?))
        .build(tauri::generate_context!())?;
    app.run(|app, event| {
        if matches!(event, RunEvent::Exit) {
            block_on(app.state::<Desk>().close());
        }
    });
    Ok(())
}

/// The desk first: the page asks for it as soon as it is loaded.
fn open(app: &mut App, options: Options) -> tauri::Result<()> {
    app.manage(Desk::new(folders(app, &options)?, options));
    events::forward(app.handle());
    open_desk(app.handle());
    let window = app.config().app.windows.first().expect("the configuration describes the window");
    let (width, height) = fit(app, window.width, window.height)?;
    WebviewWindowBuilder::from_config(app.handle(), window)?.inner_size(width, height).build()?;
    Ok(())
}

/// As wished, or as much as the screen has: not every window manager keeps a window inside it, and a kiosk has none.
fn fit(app: &App, width: f64, height: f64) -> tauri::Result<(f64, f64)> {
    let Some(screen) = app.primary_monitor()? else { return Ok((width, height)) };
    let room = screen.size().to_logical::<f64>(screen.scale_factor());
    Ok((width.min(room.width), height.min(room.height)))
}

/// Beside the window, not after it: what waits is sent even if the page never comes.
fn open_desk(app: &AppHandle) {
    let app = app.clone();
    spawn(async move { app.state::<Desk>().open().await });
}

fn folders(app: &App, options: &Options) -> tauri::Result<Folders> {
    let data = match &options.data_dir {
        Some(folder) => folder.clone(),
        None => app.path().data_dir()?.join(FOLDER),
    };
    Ok(Folders { data, secrets: state_folder(app)?.join(FOLDER) })
}

/// Where programs keep what belongs to this machine and is not to be copied with the data.
fn state_folder(app: &App) -> tauri::Result<PathBuf> {
    match std::env::var_os("XDG_STATE_HOME").map(PathBuf::from).filter(|folder| folder.is_absolute()) {
        Some(folder) => Ok(folder),
        None if cfg!(target_os = "linux") => Ok(app.path().home_dir()?.join(".local/state")),
        None => app.path().local_data_dir(),
    }
}
