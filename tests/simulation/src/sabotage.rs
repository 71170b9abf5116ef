//! Deliberate faults of a till or a server, to see that the checks find them.
//!
//! Each stands for a bug that others have shipped. They are put between the parts, not into them: the product has no
//! switch that could make it misbehave.

/// What is done wrong in this world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sabotage {
    /// A new key for each attempt.
    KeyPerAttempt,
    /// A new external id for each attempt.
    ExternalIdPerAttempt,
    /// The time of the sale is stamped anew for each attempt.
    RestampedBody,
    /// A time-out is taken for a yes.
    AcceptedOnTimeout,
    /// Any 200 is taken for a yes.
    AcceptedOnPortal,
    /// A conflict is taken for a yes.
    AcceptedOnQuestion,
    /// A program answers the question instead of a manager.
    ProgramConfirms,
    /// Every request is sent twice as two sales.
    SentAsTwo,
    /// A crash loses what was committed last, as with `synchronous=OFF`.
    CommitsLost,
    /// A crash marks what waits as sent.
    QueueForgotten,
    /// One sale's trouble stops the queue for good.
    PoisonBlocks,
    /// The server does not look for look-alikes.
    ServerNeverAsks,
    /// The server comes back with an older file, and no till compares.
    NobodyCompares,
    /// Somebody edits the till's audit.
    AuditEdited,
    /// Older files are put back together with what is kept outside of them, and the journal is gone.
    WitnessPutBack,
}

impl Sabotage {
    pub const ALL: [Self; 15] = [
        Self::KeyPerAttempt,
        Self::ExternalIdPerAttempt,
        Self::RestampedBody,
        Self::AcceptedOnTimeout,
        Self::AcceptedOnPortal,
        Self::AcceptedOnQuestion,
        Self::ProgramConfirms,
        Self::SentAsTwo,
        Self::CommitsLost,
        Self::QueueForgotten,
        Self::PoisonBlocks,
        Self::ServerNeverAsks,
        Self::NobodyCompares,
        Self::AuditEdited,
        Self::WitnessPutBack,
    ];
}
