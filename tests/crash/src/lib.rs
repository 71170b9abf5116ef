//! Power cuts and failing disks under the till's real database.
//!
//! [`shim`] stands between SQLite and the file system and tells a [`disk`] what is written and synced. A [`story`] is
//! lived by the real till; afterwards its disk is rebuilt as a power cut at any moment could have left it
//! ([`rebuild`]), and what the real store finds there is compared with what people had been told ([`facts`]).
//! Invariant: the code under test is the code that is shipped; it does not know that its disk is watched.

pub mod chance;
pub mod cuts;
pub mod disk;
pub mod facts;
pub mod rebuild;
pub mod shim;
pub mod story;
pub mod yupy;
