//! What is printed: a [`Document`] becomes rows of a given width, and those become ESC/POS bytes for a printer or a
//! preview for a screen.
//!
//! Invariant: paper and preview come from the same rows; nothing in a text can act on the printer, and no character is
//! replaced by a question mark: a line that the printer's code page cannot write is drawn.

mod bitmap;
mod code_page;
pub mod device;
mod document;
mod escpos;
#[cfg(any(test, feature = "fake"))]
pub mod fake;
mod font;
mod layout;
pub mod paper;
mod preview;
mod profile;
mod qr;
mod text;

pub use bitmap::Bitmap;
pub use code_page::CodePage;
pub use document::{Align, Block, Document, Size, Style};
pub use escpos::bytes;
pub use preview::{PreviewRow, preview};
pub use profile::{Columns, Profile, QrBy};
