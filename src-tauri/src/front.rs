//! A second start brings the first window forward instead of opening one that may do nothing.
//!
//! Whoever holds the data folder listens on a socket in it, so that neither a session bus nor a window manager's memory
//! is needed. Invariant: the lock decides who has the folder, never the socket; a socket that nobody answers changes
//! nothing. Where there are no such sockets the second window says that the folder is in use.

#[cfg(not(unix))]
use std::path::Path;

#[cfg(unix)]
pub use unix::{ask, listen};

#[cfg(not(unix))]
pub fn ask(_folder: &Path) -> bool {
    false
}

#[cfg(not(unix))]
pub fn listen(_folder: &Path, _come_forward: impl Fn() + Send + 'static) -> std::io::Result<()> {
    Ok(())
}

#[cfg(unix)]
mod unix {
    use std::io::{self, Read, Write};
    use std::os::unix::net::{UnixListener, UnixStream};
    use std::path::{Path, PathBuf};
    use std::time::Duration;

    const SOCKET_FILE: &str = "front";
    const COMING: u8 = b'!';

    /// A program that holds the folder and does not answer within this is not going to.
    const PATIENCE: Duration = Duration::from_secs(2);

    fn socket(folder: &Path) -> PathBuf {
        folder.join(SOCKET_FILE)
    }

    /// Asks whoever holds the folder to come forward. False: nobody does.
    pub fn ask(folder: &Path) -> bool {
        try_ask(folder).is_ok_and(|answer| answer == COMING)
    }

    fn try_ask(folder: &Path) -> io::Result<u8> {
        let mut holder = UnixStream::connect(socket(folder))?;
        holder.set_read_timeout(Some(PATIENCE))?;
        let mut answer = [0];
        holder.read_exact(&mut answer)?;
        Ok(answer[0])
    }

    /// Calls back whenever a second start asks. Only for who holds the folder: what an earlier holder left is replaced.
    pub fn listen(folder: &Path, come_forward: impl Fn() + Send + 'static) -> io::Result<()> {
        let path = socket(folder);
        match std::fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let listener = UnixListener::bind(path)?;
        std::thread::Builder::new().name("front".to_owned()).spawn(move || {
            for asking in listener.incoming() {
                // Whoever hung up has been answered by the window.
                let _ = asking.and_then(|mut asking| {
                    come_forward();
                    asking.write_all(&[COMING])
                });
            }
        })?;
        Ok(())
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[test]
    fn who_holds_the_folder_is_told_each_time_and_says_so() {
        let folder = tempfile::tempdir().unwrap();
        assert!(!ask(folder.path()), "nobody is there");
        let (told, hears) = mpsc::channel();
        listen(folder.path(), move || told.send(()).unwrap()).unwrap();
        for _ in 0..2 {
            assert!(ask(folder.path()));
            hears.recv().unwrap();
        }
    }

    #[test]
    fn what_a_killed_program_left_is_nobody_and_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let listener = std::os::unix::net::UnixListener::bind(folder.path().join("front")).unwrap();
        drop(listener);
        assert!(folder.path().join("front").exists(), "a dead socket stays");
        assert!(!ask(folder.path()));
        listen(folder.path(), || ()).unwrap();
        assert!(ask(folder.path()));
    }
}
