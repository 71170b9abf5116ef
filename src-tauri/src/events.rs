//! Hints to the page that what it shows may be out of date.
//!
//! A hint carries nothing: the page reads again what it shows, so a hint too many costs a read and nothing else.

use tauri::{AppHandle, Emitter, Manager, Runtime};

use crate::WINDOW;
use crate::desk::Desk;

const CHANGED: &str = "till-changed";

/// Passes the till's changes on to the window, for as long as the program runs.
pub fn forward<R: Runtime>(app: &AppHandle<R>) {
    let app = app.clone();
    tauri::async_runtime::spawn(async move {
        let mut changes = app.state::<Desk>().changes();
        while changes.changed().await.is_ok() {
            if let Err(error) = app.emit_to(WINDOW, CHANGED, ()) {
                tracing::warn!(%error, "the window was not told of a change");
            }
        }
    });
}
