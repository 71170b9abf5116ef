//! What a printer can do. Invariant: a row is as many dots wide as its columns are, so text and pictures line up.

use serde::{Deserialize, Serialize};

use crate::code_page::CodePage;

/// A character of the printers' font A.
pub const CELL_WIDTH: usize = 12;
pub const CELL_HEIGHT: usize = 24;

/// Characters in a row: the widths that receipt printers have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Columns {
    /// Paper of 58 mm.
    C32,
    /// Paper of 80 mm with wide margins.
    C42,
    /// Paper of 80 mm.
    C48,
}

impl Columns {
    pub const ALL: [Self; 3] = [Self::C32, Self::C42, Self::C48];

    #[must_use]
    pub const fn count(self) -> usize {
        match self {
            Self::C32 => 32,
            Self::C42 => 42,
            Self::C48 => 48,
        }
    }
}

/// Who draws a QR code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QrBy {
    /// The printer: sharper and quicker, where it can.
    Printer,
    /// We do, as a picture: every printer prints it.
    Picture,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Profile {
    pub columns: Columns,
    pub code_page: CodePage,
    pub qr: QrBy,
    /// Whether there is a knife; without one the paper is fed to where it is torn.
    pub cuts: bool,
}

impl Profile {
    /// Dots in a row.
    #[must_use]
    pub const fn dots(&self) -> usize {
        self.columns.count() * CELL_WIDTH
    }
}
