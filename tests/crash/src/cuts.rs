//! Cutting the power at many points of a story and looking at what the program finds.
//!
//! Invariant: a point is fine only if what is found is, byte for byte, a state that the program had committed, if that
//! state breaks no rule, and if everything is in it that anybody had been told by then.

use std::collections::{BTreeSet, HashMap};

use anyhow::Result;
use tempfile::TempDir;

use crate::chance::Chance;
use crate::disk::Op;
use crate::facts::{self, State};
use crate::rebuild::{self, Cursor, Image, Loss};
use crate::story::{self, Lived};

/// What a number of points came to.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    pub points: u64,
    /// At so many points something was missing that somebody had been told.
    pub acked_lost: u64,
    /// At so many points the database could not be opened, broke a rule, or was in a state that never was committed.
    pub corrupt: u64,
    /// Whole states that were found, at least.
    pub states: u64,
    pub examples: Vec<String>,
}

/// Failures that are told in full.
const EXAMPLES: usize = 5;

impl Tally {
    pub fn add(&mut self, other: Self) {
        self.points += other.points;
        self.acked_lost += other.acked_lost;
        self.corrupt += other.corrupt;
        self.states += other.states;
        self.examples.extend(other.examples);
        self.examples.truncate(EXAMPLES);
    }
}

/// Cuts the power at about `points` points, spread over the whole story.
///
/// # Errors
/// The machinery failed, not the disk.
pub fn cut(lived: &Lived, seed: u64, points: usize) -> Result<Tally> {
    story::on_paused_time(Cutter::new(lived, seed)?.all(points))
}

struct Cutter<'a> {
    lived: &'a Lived,
    seed: u64,
    folder: TempDir,
    /// What was found so far, by what the file held.
    known: HashMap<u64, State>,
    /// Every state that was ever committed.
    committed: BTreeSet<u64>,
}

impl<'a> Cutter<'a> {
    fn new(lived: &'a Lived, seed: u64) -> Result<Self> {
        let folder = story::folder()?;
        Ok(Self { lived, seed, folder, known: HashMap::new(), committed: BTreeSet::new() })
    }

    async fn all(mut self, points: usize) -> Result<Tally> {
        let mut tally = Tally::default();
        self.read_history(&mut tally).await?;
        let chance = Chance::new(self.seed ^ 0xC0FF_EE00);
        let all = (self.lived.log.len() + 1) * Loss::ALL.len();
        let mut cursor = Cursor::new(&self.lived.log, self.lived.names.len());
        for point in 0..points {
            // Evenly over the story, whose every position is met with every kind of loss if there are enough points.
            let at =
                if points >= all { point * all / points } else { (point * all + self.offset(all)) / points };
            let (position, loss) = (at / Loss::ALL.len(), Loss::ALL[at % Loss::ALL.len()]);
            cursor.advance_to(position);
            let image = cursor.image(loss, &chance);
            tally.points += 1;
            if let Err(trouble) = self.look(&image, position).await {
                trouble.count(&mut tally, &format!("seed {}, position {position}, {loss:?}", self.seed));
            }
        }
        tally.states += u64::try_from(self.known.len())?;
        Ok(tally)
    }

    fn offset(&self, all: usize) -> usize {
        Chance::new(self.seed).below(all)
    }

    /// What the program had committed, moment by moment: the disk with nothing lost, behind every commit.
    async fn read_history(&mut self, tally: &mut Tally) -> Result<()> {
        let chance = Chance::new(self.seed);
        let mut cursor = Cursor::new(&self.lived.log, self.lived.names.len());
        for position in commits(&self.lived.log) {
            cursor.advance_to(position);
            self.lay_out(&cursor.image(Loss::Nothing, &chance))?;
            let Ok(found) = facts::settle(self.folder.path()).await else { continue };
            self.committed.insert(found);
            if !self.known.contains_key(&found) {
                let state = facts::read(self.folder.path()).await?;
                if let Some(fault) = state.faults.first() {
                    Trouble::Corrupt(fault.clone())
                        .count(tally, &format!("seed {}, as it was lived", self.seed));
                }
                self.known.insert(found, state);
            }
        }
        Ok(())
    }

    async fn look(&mut self, image: &Image, position: usize) -> Result<(), Trouble> {
        self.lay_out(image)?;
        let found = facts::settle(self.folder.path()).await?;
        if !self.known.contains_key(&found) {
            self.known.insert(found, facts::read(self.folder.path()).await?);
        }
        let state = &self.known[&found];
        if let Some(fault) = state.faults.first() {
            return Err(Trouble::Corrupt(fault.clone()));
        }
        if !self.committed.contains(&found) {
            return Err(Trouble::Corrupt("this state was never committed".to_owned()));
        }
        let told = self.lived.told.iter().filter(|told| told.position <= position);
        for told in told {
            if !state.has(&told.ack) {
                return Err(Trouble::Lost(format!("{:?} was told at {}", told.ack, told.position)));
            }
        }
        Ok(())
    }

    fn lay_out(&self, image: &Image) -> Result<()> {
        Ok(rebuild::lay_out(self.folder.path(), &self.lived.names, image)?)
    }
}

enum Trouble {
    Lost(String),
    Corrupt(String),
}

impl From<anyhow::Error> for Trouble {
    fn from(error: anyhow::Error) -> Self {
        Self::Corrupt(format!("{error:#}"))
    }
}

impl Trouble {
    fn count(self, tally: &mut Tally, at: &str) {
        let what = match self {
            Self::Lost(what) => {
                tally.acked_lost += 1;
                format!("lost: {what}")
            }
            Self::Corrupt(what) => {
                tally.corrupt += 1;
                format!("corrupt: {what}")
            }
        };
        if tally.examples.len() < EXAMPLES {
            tally.examples.push(format!("{at}: {what}"));
        }
    }
}

/// Positions right behind a commit: behind a sync, and behind a frame of the log whose header names the size of the
/// database (SQLite's file format, 4.1), since a weak commit has no sync.
fn commits(log: &[Op]) -> Vec<usize> {
    const FRAME_HEADER: usize = 24;
    let mut positions = vec![0];
    for (index, op) in log.iter().enumerate() {
        match op {
            Op::Sync { .. } => positions.push(index + 1),
            Op::Write { bytes, .. } if bytes.len() == FRAME_HEADER && bytes[4..8] != [0; 4] => {
                // The page follows its header.
                positions.push(index + 2);
            }
            Op::Write { .. }
            | Op::Create { .. }
            | Op::Truncate { .. }
            | Op::Delete { .. }
            | Op::SyncFolder
            | Op::FailedSync { .. } => {}
        }
    }
    positions.retain(|position| *position <= log.len());
    positions
}
