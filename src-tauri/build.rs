//! Makes Tauri's context, with a permission for each of our commands and for no other.

#[path = "src/command_names.rs"]
mod command_names;

fn main() {
    let manifest = tauri_build::AppManifest::new().commands(command_names::COMMANDS);
    tauri_build::try_build(tauri_build::Attributes::new().app_manifest(manifest))
        .expect("the shell cannot be built without its context");
}
