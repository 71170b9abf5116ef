//! A picture of black and white dots. Invariant: a row is whole bytes, the first dot is the highest bit, and dots that
//! fill up the last byte are white: it can go to the printer as it is.

use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bitmap {
    width: usize,
    height: usize,
    bits: Vec<u8>,
}

impl Bitmap {
    #[must_use]
    pub fn white(width: usize, height: usize) -> Self {
        Self { width, height, bits: vec![0; width.div_ceil(8) * height] }
    }

    #[must_use]
    pub fn width(&self) -> usize {
        self.width
    }

    #[must_use]
    pub fn height(&self) -> usize {
        self.height
    }

    /// Bytes in a row.
    #[must_use]
    pub fn stride(&self) -> usize {
        self.width.div_ceil(8)
    }

    pub fn rows(&self) -> std::slice::ChunksExact<'_, u8> {
        self.bits.chunks_exact(self.stride().max(1))
    }

    /// Outside of the picture everything is white.
    #[must_use]
    pub fn is_black(&self, x: usize, y: usize) -> bool {
        x < self.width && y < self.height && self.bits[y * self.stride() + x / 8] & (0x80 >> (x % 8)) != 0
    }

    /// A dot outside of the picture is not there.
    pub fn blacken(&mut self, x: usize, y: usize) {
        if x < self.width && y < self.height {
            let stride = self.stride();
            self.bits[y * stride + x / 8] |= 0x80 >> (x % 8);
        }
    }

    /// In the middle of a row of so many dots; what is wider is cut off at the right.
    #[must_use]
    pub fn centred_in(&self, width: usize) -> Self {
        let left = width.saturating_sub(self.width) / 2;
        let mut wide = Self::white(width, self.height);
        for y in 0..self.height {
            for x in (0..self.width).filter(|x| self.is_black(*x, y)) {
                wide.blacken(left + x, y);
            }
        }
        wide
    }
}
