//! What keeps the tree as its design says: which parts may know which, and habits that no compiler checks.
//!
//! A rule that a new file breaks is either a mistake in the file or a decision to be taken here, in the open.

mod cases;
mod edges;
mod files;
mod habits;
