//! On Linux the page is painted without OpenGL.
//!
//! WebKitGTK composes a page with OpenGL, and where a machine has no graphics processor that is computed: in Vender the
//! blinking caret alone took a quarter of a processor for ever. The page is text and lines. Without OpenGL the same
//! screen rests at some 3 % with all its processes, the way to it takes a fifth of the work, and the page's process half
//! the memory (WebKitGTK 2.50 under Xvfb; `cargo xtask bench ui` measures the first). Nor can a graphics driver leave the window empty.

#[cfg(target_os = "linux")]
use std::{env, os::unix::process::CommandExt, process::Command};

/// Read by WebKitGTK when it starts; whoever set it is obeyed.
#[cfg(target_os = "linux")]
const VARIABLE: &str = "WEBKIT_DISABLE_DMABUF_RENDERER";

/// Begins the program once more in its own place, with the variable: a process must not change its environment while
/// others read it. Returns when there is nothing to do.
#[cfg(target_os = "linux")]
pub fn without_opengl() {
    if env::var_os(VARIABLE).is_some() {
        return;
    }
    let again = env::current_exe()
        .map(|program| Command::new(program).args(env::args_os().skip(1)).env(VARIABLE, "1").exec());
    let error = again.unwrap_or_else(|error| error);
    tracing::warn!(%error, "the page is painted as the machine has it");
}

#[cfg(not(target_os = "linux"))]
pub fn without_opengl() {}
