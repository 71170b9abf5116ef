//! A window with nothing in it, made as the till's is: what `cargo xtask bench ui` compares the till's start with.

use tauri::{WebviewUrl, WebviewWindowBuilder};

fn main() -> tauri::Result<()> {
    tauri::Builder::default()
        .setup(|app| {
            let nothing = "about:blank".parse().expect("an address without a page");
            WebviewWindowBuilder::new(app, "empty", WebviewUrl::External(nothing))
                .inner_size(1280.0, 800.0)
                .build()?;
            Ok(())
        })
        .run(tauri::generate_context!())
}
