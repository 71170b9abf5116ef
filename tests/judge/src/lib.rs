//! Judges the question *are these two one sale?* on days of which the truth is known.
//!
//! A day is a list of creations in the order in which they reach the server, each labelled by whoever knows: a sale of
//! its own, or a second time the same. The real server is asked with its default settings, and a manager who knows the
//! truth answers it. What counts is how many repeated sales were asked about (recall), how many questions were about
//! one (precision), and how many people were asked for nothing.
//!
//! Invariant: nothing here knows the rule that it judges. Verdicts come from the server's answers, labels from the
//! stories that made the sales or from a file.

pub mod day;
pub mod days;
pub mod report;
pub mod server;
pub mod verdict;
