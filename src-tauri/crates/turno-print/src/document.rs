//! What is to be printed, without a word about how: the printer's width and abilities come later.
//!
//! Invariant: a document is plain data; the same one can be laid out for any [`crate::Profile`].

use serde::{Deserialize, Serialize};

use crate::bitmap::Bitmap;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Align {
    #[default]
    Left,
    Centre,
    Right,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Size {
    #[default]
    Normal,
    /// Twice as wide and as high: half as many characters in a row.
    Double,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Style {
    pub align: Align,
    pub size: Size,
    pub bold: bool,
}

impl Style {
    pub const PLAIN: Self = Self { align: Align::Left, size: Size::Normal, bold: false };
    pub const CENTRED: Self = Self { align: Align::Centre, ..Self::PLAIN };

    #[must_use]
    pub const fn bold(self) -> Self {
        Self { bold: true, ..self }
    }

    #[must_use]
    pub const fn double(self) -> Self {
        Self { size: Size::Double, ..self }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "block", rename_all = "snake_case")]
pub enum Block {
    Text {
        text: String,
        style: Style,
    },
    /// A name at the left that wraps, a figure at the right that never does.
    Columns {
        left: String,
        right: String,
        style: Style,
    },
    Rule,
    Blank,
    Qr {
        text: String,
    },
    Picture {
        picture: Bitmap,
    },
    Cut,
    /// The pulse that opens the cash drawer.
    OpenDrawer,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Document {
    pub blocks: Vec<Block>,
}

impl Document {
    pub fn text(&mut self, style: Style, text: impl Into<String>) -> &mut Self {
        self.add(Block::Text { text: text.into(), style })
    }

    pub fn columns(&mut self, style: Style, left: impl Into<String>, right: impl Into<String>) -> &mut Self {
        self.add(Block::Columns { left: left.into(), right: right.into(), style })
    }

    pub fn add(&mut self, block: Block) -> &mut Self {
        self.blocks.push(block);
        self
    }
}
