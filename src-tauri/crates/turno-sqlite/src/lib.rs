//! One SQLite file with one writer.
//!
//! A [`Database`] opens a file with settings that are read back, brings its schema up to date and takes writes as
//! closures. Whatever waits at the same moment is committed together (one `fdatasync` for all of it), each closure
//! in its own savepoint, and nobody is answered before the commit has returned. Reads run beside the writer on
//! connections that cannot write.
//!
//! Invariant: `Ok` from [`Database::write`] means that the rows are on the disk; every error says whether they may be.

mod connection;
mod database;
mod error;
mod log;
mod migration;
mod reader;
mod writer;

pub use database::{Commits, Database, Options, WriterMode};
pub use error::{OpenError, WriteError, is_disk_full};
pub use migration::Migration;
pub use writer::{BATCH_LIMIT, QUEUE_LIMIT};
