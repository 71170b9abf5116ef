//! Places at which a test lets this process die, or stand still.
//!
//! In a build with the feature `kill-points`, `TURNO_KILL_POINT=after_approval` kills the process there (SIGKILL, so
//! that nothing is tidied up). `TURNO_HOLD_POINT=after_approval` holds it there once: it makes the file that
//! `TURNO_HOLD_FILE` names and waits until somebody has removed it, who may have sent SIGSTOP meanwhile. Invariant: no
//! build for use has any of this: without the feature [`reach`] does nothing, and with it an optimised build does not
//! compile.

#[cfg(all(feature = "kill-points", not(debug_assertions)))]
compile_error!("kill-points are for tests: an optimised build must not have them");

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KillPoint {
    /// The payment is reserved; nothing else has happened.
    AfterReserve,
    /// Something may have left, as far as anybody can tell afterwards.
    AfterAcquirerStarted,
    /// The acquirer has answered the charge, and nobody else knows.
    AfterApproval,
    /// The result is known, from a charge or a look-up, and its transaction has not begun.
    BeforeFinalise,
    /// The transaction has written everything and is not committed.
    WithinFinalise,
    /// Something new is committed (201), and the answer has not left.
    AfterCommitBeforeReply,
}

#[cfg(not(feature = "kill-points"))]
pub(crate) fn reach(_: KillPoint) {}

#[cfg(feature = "kill-points")]
pub(crate) use armed::reach;

#[cfg(feature = "kill-points")]
mod armed {
    use std::{
        fs::File,
        path::PathBuf,
        process::Command,
        sync::atomic::{AtomicBool, Ordering},
        time::Duration,
    };

    use super::KillPoint;

    impl KillPoint {
        fn name(self) -> &'static str {
            match self {
                Self::AfterReserve => "after_reserve",
                Self::AfterAcquirerStarted => "after_acquirer_started",
                Self::AfterApproval => "after_approval",
                Self::BeforeFinalise => "before_finalise",
                Self::WithinFinalise => "within_finalise",
                Self::AfterCommitBeforeReply => "after_commit_before_reply",
            }
        }
    }

    pub(crate) fn reach(point: KillPoint) {
        static HAS_HELD: AtomicBool = AtomicBool::new(false);
        let is_at = |variable| std::env::var(variable).is_ok_and(|name| name == point.name());
        if is_at("TURNO_KILL_POINT") {
            die();
        }
        if is_at("TURNO_HOLD_POINT") && !HAS_HELD.swap(true, Ordering::SeqCst) {
            hold();
        }
    }

    /// By the program `kill`, since the call is unsafe code and would be the only one.
    fn die() {
        let id = std::process::id().to_string();
        let status = Command::new("kill").args(["-s", "KILL", &id]).status();
        assert!(status.is_ok_and(|status| status.success()), "a test build needs the program `kill`");
        // It has been sent and takes effect any moment; nothing may be done until then.
        loop {
            std::thread::park();
        }
    }

    fn hold() {
        let file = PathBuf::from(std::env::var_os("TURNO_HOLD_FILE").expect("a hold-point needs a file"));
        File::create(&file).expect("the file of a hold-point can be made");
        while file.exists() {
            std::thread::park_timeout(Duration::from_millis(1));
        }
    }
}
