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
mod front;
mod options;
mod painting;
mod places;
#[cfg(feature = "practice")]
mod practice;
#[cfg(not(feature = "practice"))]
#[path = "no_practice.rs"]
mod practice;
mod word;

use std::path::PathBuf;

use tauri::async_runtime::{block_on, spawn};
use tauri::{App, AppHandle, Manager, RunEvent, WebviewWindowBuilder, WindowEvent};

pub use crate::options::Options;
pub use crate::painting::without_opengl;

use crate::desk::{Desk, Folders};

/// The name of our folders below the user's.
const FOLDER: &str = "turno";

/// The one window there is.
const WINDOW: &str = "main";

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
        if let RunEvent::WindowEvent { label, event: WindowEvent::CloseRequested { api, .. }, .. } = event {
            api.prevent_close();
            close_when_written(app, label);
        // A second start that woke the first has no desk.
        } else if matches!(event, RunEvent::Exit)
            && let Some(desk) = app.try_state::<Desk>()
        {
            block_on(desk.close());
        }
    });
    Ok(())
}

/// The window stays until what is being recorded is on the disk and on the screen.
fn close_when_written(app: &AppHandle, label: String) {
    let app = app.clone();
    spawn(async move {
        let desk = app.state::<Desk>();
        let _nothing_more = desk.stop_recording().await;
        if let Some(window) = app.get_webview_window(&label)
            && let Err(error) = window.destroy()
        {
            tracing::error!(%error, "the window does not close");
        }
    });
}

/// The desk first: the page asks for it as soon as it is loaded.
fn open(app: &mut App, options: Options) -> tauri::Result<()> {
    let (folders, kiosk) = (folders(app, &options)?, options.kiosk);
    if front::ask(&folders.data) {
        app.handle().exit(0);
        return Ok(());
    }
    app.manage(Desk::new(folders, options));
    events::forward(app.handle());
    open_desk(app.handle());
    let window = app.config().app.windows.first().expect("the configuration describes the window");
    let (width, height) = fit(app, window.width, window.height)?;
    let window = WebviewWindowBuilder::from_config(app.handle(), window)?.inner_size(width, height);
    if kiosk {
        window.fullscreen(true).decorations(false).build()?
    } else {
        window.build()?
    };
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
    spawn(async move {
        let desk = app.state::<Desk>();
        let shown = app.clone();
        if let Some(folder) = desk.open().await
            && let Err(error) = front::listen(folder, move || come_forward(&shown))
        {
            tracing::warn!(%error, "a second start cannot find this window");
        }
    });
}

fn come_forward(app: &AppHandle) {
    let Some(window) = app.get_webview_window(WINDOW) else { return };
    let done = window.unminimize().and_then(|()| window.show()).and_then(|()| window.set_focus());
    if let Err(error) = done {
        tracing::warn!(%error, "the window does not come forward");
    }
}

fn folders(app: &App, options: &Options) -> tauri::Result<Folders> {
    let data = match &options.data_dir {
        Some(folder) => folder.clone(),
        None => app.path().data_dir()?.join(FOLDER),
    };
    Ok(Folders { data, secrets: state_folder(app)?.join(FOLDER), home: app.path().home_dir()? })
}

/// Where programs keep what belongs to this machine and is not to be copied with the data.
fn state_folder(app: &App) -> tauri::Result<PathBuf> {
    match std::env::var_os("XDG_STATE_HOME").map(PathBuf::from).filter(|folder| folder.is_absolute()) {
        Some(folder) => Ok(folder),
        None if cfg!(target_os = "linux") => Ok(app.path().home_dir()?.join(".local/state")),
        None => app.path().local_data_dir(),
    }
}
