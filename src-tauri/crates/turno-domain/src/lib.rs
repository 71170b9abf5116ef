//! What a sale is: currencies, money, texts, ids and the rule that says when two sales look alike.
//!
//! Everything here is a pure function of its arguments: no file, no socket, no clock, no randomness. The till and the
//! server share it, so both sides read an amount, a name or a look-alike in exactly the same way.

pub mod currency;
pub mod ids;
pub mod lookalike;
pub mod money;
pub mod text;

pub use currency::Currency;
pub use money::Money;
