//! What can happen to one exchange on a bad line.

use turno_simulation::chance::Chance;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fate {
    Clean,
    /// The connection ends before anything of the request has arrived.
    CutBefore,
    /// Half of the request arrives.
    CutWithin,
    /// The request arrives and is handled; its answer is lost.
    CutAfter,
    /// Half of the answer comes.
    CutAnswer,
    /// The same with a reset.
    ResetAnswer,
    /// The connection is reset instead of an answer.
    Reset,
    /// The answer comes a byte now and then.
    Drip,
    /// Nothing comes.
    Silence,
    /// The request arrives a second time, later.
    Duplicate,
    /// A portal's page.
    Html,
    /// A portal's way to its page.
    Redirect,
    /// A few bytes that would become many.
    GzipBomb,
    /// An answer without end.
    Endless,
    /// Something in between is busy.
    Busy,
}

const TROUBLES: [Fate; 14] = [
    Fate::CutBefore,
    Fate::CutWithin,
    Fate::CutAfter,
    Fate::CutAnswer,
    Fate::ResetAnswer,
    Fate::Reset,
    Fate::Drip,
    Fate::Silence,
    Fate::Duplicate,
    Fate::Html,
    Fate::Redirect,
    Fate::GzipBomb,
    Fate::Endless,
    Fate::Busy,
];

/// Of a thousand exchanges, so many meet trouble.
const TROUBLED: u64 = 400;

#[must_use]
pub fn draw(chance: &Chance) -> Fate {
    if chance.per_mille(TROUBLED) { *chance.pick(&TROUBLES) } else { Fate::Clean }
}
