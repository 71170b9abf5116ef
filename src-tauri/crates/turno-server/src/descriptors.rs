//! How many files and sockets this process may have open.
//!
//! Invariant: the limit is only ever raised, within what the system allows the process to take by itself.

/// Ask for `wanted`; how many there are.
#[cfg(unix)]
pub(crate) fn allow(wanted: usize) -> usize {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

    let limit = getrlimit(Resource::Nofile);
    // No limit is `None`.
    let now = limit.current.unwrap_or(u64::MAX);
    let wanted = u64::try_from(wanted).unwrap_or(u64::MAX).min(limit.maximum.unwrap_or(u64::MAX));
    if wanted <= now {
        return usize::try_from(now).unwrap_or(usize::MAX);
    }
    let allowed = match setrlimit(Resource::Nofile, Rlimit { current: Some(wanted), ..limit }) {
        Ok(()) => wanted,
        Err(error) => {
            tracing::warn!(%error, now, wanted, "the limit of open files could not be raised");
            now
        }
    };
    usize::try_from(allowed).unwrap_or(usize::MAX)
}

/// Elsewhere sockets are not counted as files.
#[cfg(not(unix))]
pub(crate) fn allow(wanted: usize) -> usize {
    wanted
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_raised_and_never_lowered() {
        let before = allow(1);
        assert!(allow(before + 1) >= before);
        assert!(allow(1) >= before);
    }
}
