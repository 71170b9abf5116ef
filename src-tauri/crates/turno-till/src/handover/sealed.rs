//! A file that only a passphrase opens: a head in the clear, then pieces that are encrypted and authenticated.
//!
//! Argon2id makes the key from the passphrase, XChaCha20-Poly1305 seals each piece. A piece's nonce holds its number and
//! whether it is the last one, and every piece is bound to the head: one that is changed, moved, repeated or left out
//! does not open, and neither does a file that was cut between two of them. Invariant: a line that is given out is one
//! that was written by somebody who knew the passphrase; memory is bounded by a piece and a line.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};

use argon2::{Algorithm, Argon2, Params, Version};
use chacha20poly1305::aead::{AeadInOut, KeyInit};
use chacha20poly1305::{XChaCha20Poly1305, XNonce};
use unicode_normalization::UnicodeNormalization;

use crate::random::Entropy;

/// Another number is another format; a program reads those that it knows.
const VERSION: u32 = 1;
const MAGIC: &str = "turno unsent sales ";
/// `999` and the line's end: nobody gets further.
const VERSION_BYTES: u64 = 4;
const SALT_BYTES: usize = 16;
/// The rest of the nonce is the piece's number and its last byte.
const PREFIX_BYTES: usize = 19;
/// Tells a wrong passphrase from a changed file.
const CHECK_BYTES: usize = 32;
const KEY_BYTES: usize = 32;
const TAG_BYTES: usize = 16;
/// Small enough for any till's memory, large enough that a tag weighs nothing.
const PIECE_BYTES: usize = 64 * 1024;
/// A sale with both of its bodies has some 4 KiB; a body alone may have 64 (contract §3).
const LINE_LIMIT: usize = 1024 * 1024;
/// The second choice of RFC 9106 (§4), for memory that a till has: a passphrase is tried some five times a second.
const COST_KIB: u32 = 64 * 1024;
const PASSES: u32 = 3;
const LANES: u32 = 1;

#[derive(Debug, thiserror::Error)]
pub enum SealError {
    #[error("the file cannot be read or written")]
    Io(#[from] io::Error),
    #[error("the file is not an export of unsent sales")]
    Foreign,
    #[error("the file has version {found}, this program knows {VERSION}")]
    Newer { found: u32 },
    #[error("the passphrase is not the file's")]
    Passphrase,
    #[error("the file was cut or changed")]
    Damaged,
    #[error("there is no memory to make a key of the passphrase")]
    NoMemory,
}

/// What every piece is bound to.
struct Head {
    bytes: Vec<u8>,
    prefix: [u8; PREFIX_BYTES],
}

impl Head {
    fn new(salt: [u8; SALT_BYTES], prefix: [u8; PREFIX_BYTES], check: &[u8; CHECK_BYTES]) -> Self {
        let mut bytes = format!("{MAGIC}{VERSION}\n").into_bytes();
        bytes.extend_from_slice(&salt);
        bytes.extend_from_slice(&prefix);
        bytes.extend_from_slice(check);
        Self { bytes, prefix }
    }

    fn nonce(&self, number: u32, end: End) -> XNonce {
        let mut nonce = [0; 24];
        nonce[..PREFIX_BYTES].copy_from_slice(&self.prefix);
        nonce[PREFIX_BYTES..23].copy_from_slice(&number.to_be_bytes());
        nonce[23] = u8::from(end == End::Last);
        XNonce::from(nonce)
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    More,
    Last,
}

/// Key and check of a passphrase. It is composed first: an accent is one character or two, as the keyboard likes.
fn derive(passphrase: &str, salt: &[u8]) -> Result<(XChaCha20Poly1305, [u8; CHECK_BYTES]), SealError> {
    let params = Params::new(COST_KIB, PASSES, LANES, Some(KEY_BYTES + CHECK_BYTES))
        .expect("the constants are within Argon2's limits");
    let mut out = [0; KEY_BYTES + CHECK_BYTES];
    let composed: String = passphrase.nfc().collect();
    Argon2::new(Algorithm::Argon2id, Version::V0x13, params)
        .hash_password_into(composed.as_bytes(), salt, &mut out)
        .map_err(|_| SealError::NoMemory)?;
    let cipher = XChaCha20Poly1305::new_from_slice(&out[..KEY_BYTES]).expect("a key has 32 bytes");
    let check = out[KEY_BYTES..].try_into().expect("the rest has 32 bytes");
    Ok((cipher, check))
}

/// Writes lines. Without [`Sealer::finish`] the file does not open.
pub struct Sealer<W> {
    to: W,
    cipher: XChaCha20Poly1305,
    head: Head,
    number: u32,
    piece: Vec<u8>,
}

impl<W: Write> Sealer<W> {
    /// # Errors
    /// The head cannot be written.
    pub fn begin(mut to: W, passphrase: &str, entropy: &dyn Entropy) -> Result<Self, SealError> {
        let (mut salt, mut prefix) = ([0; SALT_BYTES], [0; PREFIX_BYTES]);
        entropy.fill(&mut salt);
        entropy.fill(&mut prefix);
        let (cipher, check) = derive(passphrase, &salt)?;
        let head = Head::new(salt, prefix, &check);
        to.write_all(&head.bytes)?;
        Ok(Self { to, cipher, head, number: 0, piece: Vec::with_capacity(PIECE_BYTES) })
    }

    /// # Errors
    /// It cannot be written.
    pub fn line(&mut self, line: &[u8]) -> Result<(), SealError> {
        self.piece.extend_from_slice(line);
        self.piece.push(b'\n');
        // The last piece is sealed otherwise, so a full one waits until another follows.
        while self.piece.len() > PIECE_BYTES {
            let rest = self.piece.split_off(PIECE_BYTES);
            self.seal(End::More)?;
            self.piece = rest;
        }
        Ok(())
    }

    /// Seals the end and gives back what was written to.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn finish(mut self) -> Result<W, SealError> {
        self.seal(End::Last)?;
        Ok(self.to)
    }

    fn seal(&mut self, end: End) -> Result<(), SealError> {
        let nonce = self.head.nonce(self.number, end);
        self.cipher
            .encrypt_in_place(&nonce, &self.head.bytes, &mut self.piece)
            .expect("a piece is far below the cipher's limit");
        self.number = self.number.checked_add(1).ok_or(SealError::Damaged)?;
        self.to.write_all(&self.piece)?;
        self.piece.clear();
        Ok(())
    }
}

/// Reads what a [`Sealer`] wrote.
pub struct Opened {
    from: BufReader<File>,
    cipher: XChaCha20Poly1305,
    head: Head,
    number: u32,
    is_at_end: bool,
    /// Opened and not given out yet.
    clear: Vec<u8>,
    given: usize,
}

impl Opened {
    /// # Errors
    /// It is not such a file, is of a newer program, or has another passphrase.
    pub fn open(file: File, passphrase: &str) -> Result<Self, SealError> {
        let mut from = BufReader::new(file);
        let mut magic = [0; MAGIC.len()];
        read_head(&mut from, &mut magic)?;
        if magic != *MAGIC.as_bytes() {
            return Err(SealError::Foreign);
        }
        let mut version = Vec::new();
        (&mut from).take(VERSION_BYTES).read_until(b'\n', &mut version)?;
        let version = version.strip_suffix(b"\n").and_then(|digits| std::str::from_utf8(digits).ok());
        match version.and_then(|digits| digits.parse().ok()) {
            Some(VERSION) => {}
            Some(found) if found > VERSION => return Err(SealError::Newer { found }),
            Some(_) | None => return Err(SealError::Foreign),
        }
        let (mut salt, mut prefix, mut check) = ([0; SALT_BYTES], [0; PREFIX_BYTES], [0; CHECK_BYTES]);
        read_head(&mut from, &mut salt)?;
        read_head(&mut from, &mut prefix)?;
        read_head(&mut from, &mut check)?;
        let (cipher, expected) = derive(passphrase, &salt)?;
        if check != expected {
            return Err(SealError::Passphrase);
        }
        let head = Head::new(salt, prefix, &check);
        Ok(Self { from, cipher, head, number: 0, is_at_end: false, clear: Vec::new(), given: 0 })
    }

    /// Back to the first line.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn rewind(&mut self) -> Result<(), SealError> {
        let start = u64::try_from(self.head.bytes.len()).expect("a head is short");
        self.from.seek(SeekFrom::Start(start))?;
        (self.number, self.is_at_end, self.given) = (0, false, 0);
        self.clear.clear();
        Ok(())
    }

    /// The next line, without its end; nothing behind the last one.
    ///
    /// # Errors
    /// The file was cut or changed, or cannot be read.
    pub fn line(&mut self) -> Result<Option<Vec<u8>>, SealError> {
        let mut searched = self.given;
        loop {
            if let Some(at) = self.clear[searched..].iter().position(|byte| *byte == b'\n') {
                let line = self.clear[self.given..searched + at].to_vec();
                self.given = searched + at + 1;
                return Ok(Some(line));
            }
            let left = self.clear.len() - self.given;
            if self.is_at_end {
                return if left == 0 { Ok(None) } else { Err(SealError::Damaged) };
            }
            if left > LINE_LIMIT {
                return Err(SealError::Damaged);
            }
            self.clear.drain(..self.given);
            (self.given, searched) = (0, left);
            let piece = self.piece()?;
            self.clear.extend_from_slice(&piece);
        }
    }

    fn piece(&mut self) -> Result<Vec<u8>, SealError> {
        let limit = u64::try_from(PIECE_BYTES + TAG_BYTES).expect("a piece is small");
        let mut piece = Vec::with_capacity(PIECE_BYTES + TAG_BYTES);
        (&mut self.from).take(limit).read_to_end(&mut piece)?;
        let end = if self.from.fill_buf()?.is_empty() { End::Last } else { End::More };
        let nonce = self.head.nonce(self.number, end);
        self.cipher.decrypt_in_place(&nonce, &self.head.bytes, &mut piece).map_err(|_| SealError::Damaged)?;
        self.number = self.number.checked_add(1).ok_or(SealError::Damaged)?;
        self.is_at_end = end == End::Last;
        Ok(piece)
    }
}

/// A file that ends within its head is none of ours, or hardly one.
fn read_head(from: &mut impl Read, bytes: &mut [u8]) -> Result<(), SealError> {
    from.read_exact(bytes).map_err(|error| {
        if error.kind() == io::ErrorKind::UnexpectedEof { SealError::Foreign } else { SealError::Io(error) }
    })
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::PathBuf;

    use tempfile::TempDir;

    use super::*;
    use crate::random::OsEntropy;

    const PASSPHRASE: &str = "tres buses azules";

    fn sealed(folder: &TempDir, lines: &[Vec<u8>]) -> PathBuf {
        let path = folder.path().join("sealed");
        let mut sealer = Sealer::begin(File::create(&path).unwrap(), PASSPHRASE, &OsEntropy).unwrap();
        for line in lines {
            sealer.line(line).unwrap();
        }
        sealer.finish().unwrap();
        path
    }

    fn open(bytes: &[u8], passphrase: &str) -> Result<Opened, SealError> {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("other");
        fs::write(&path, bytes).unwrap();
        Opened::open(File::open(&path).unwrap(), passphrase)
    }

    fn read(opened: &mut Opened) -> Result<Vec<Vec<u8>>, SealError> {
        std::iter::from_fn(|| opened.line().transpose()).collect()
    }

    fn lines() -> Vec<Vec<u8>> {
        let mut lines: Vec<_> =
            (0..3_000_u32).map(|n| format!("line {n} {}", "x".repeat(60)).into_bytes()).collect();
        lines.push(Vec::new());
        lines.push(vec![b'y'; 2 * PIECE_BYTES + 7]);
        lines
    }

    #[test]
    fn lines_of_any_length_come_back_and_can_be_read_twice() {
        let folder = TempDir::new().unwrap();
        for lines in [lines(), Vec::new(), vec![vec![b'z'; PIECE_BYTES - 1]]] {
            let mut opened = Opened::open(File::open(sealed(&folder, &lines)).unwrap(), PASSPHRASE).unwrap();
            assert_eq!(read(&mut opened).unwrap(), lines);
            opened.rewind().unwrap();
            assert_eq!(read(&mut opened).unwrap(), lines);
        }
    }

    #[test]
    fn nothing_of_the_text_can_be_seen_and_no_two_files_are_alike() {
        let folder = TempDir::new().unwrap();
        let [one, other] = [0, 0].map(|_| fs::read(sealed(&folder, &[b"Ana Flores".to_vec()])).unwrap());
        assert!(!one.windows(3).any(|bytes| bytes == b"Ana"));
        assert_ne!(one, other);
    }

    #[test]
    fn a_cut_is_found_wherever_it_is_and_what_was_read_before_it_was_true() {
        let folder = TempDir::new().unwrap();
        let (bytes, lines) = (fs::read(sealed(&folder, &lines())).unwrap(), lines());
        let head = bytes.len() - bytes.len() % (PIECE_BYTES + TAG_BYTES);
        let between = MAGIC.len() + 2 + SALT_BYTES + PREFIX_BYTES + CHECK_BYTES + PIECE_BYTES + TAG_BYTES;
        for end in [between - 1, between, between + 1, head, bytes.len() - TAG_BYTES, bytes.len() - 1] {
            let mut opened = open(&bytes[..end], PASSPHRASE).unwrap();
            let mut whole = 0;
            let error = loop {
                match opened.line() {
                    Ok(Some(line)) => assert_eq!(line, lines[whole], "cut at {end}"),
                    Ok(None) => panic!("cut at {end} and nobody noticed"),
                    Err(error) => break error,
                }
                whole += 1;
            };
            assert!(matches!(error, SealError::Damaged), "cut at {end}: {error:?}");
        }
        for end in [0, 1, MAGIC.len(), MAGIC.len() + 2, MAGIC.len() + 40] {
            assert!(matches!(open(&bytes[..end], PASSPHRASE), Err(SealError::Foreign)), "cut at {end}");
        }
    }

    #[test]
    fn a_changed_byte_or_two_pieces_in_each_others_place_do_not_open() {
        let folder = TempDir::new().unwrap();
        let bytes = fs::read(sealed(&folder, &lines())).unwrap();
        let start = MAGIC.len() + 2 + SALT_BYTES + PREFIX_BYTES + CHECK_BYTES;
        let changed = |at: usize| {
            let mut bytes = bytes.clone();
            bytes[at] ^= 1;
            bytes
        };
        for at in [start, start + PIECE_BYTES, bytes.len() - 1, MAGIC.len() + 2 + SALT_BYTES] {
            let read = open(&changed(at), PASSPHRASE).and_then(|mut opened| read(&mut opened));
            assert!(matches!(read, Err(SealError::Damaged)), "byte {at}");
        }
        let piece = PIECE_BYTES + TAG_BYTES;
        let mut moved = bytes.clone();
        moved[start..start + 2 * piece].rotate_left(piece);
        assert!(matches!(open(&moved, PASSPHRASE).and_then(|mut it| read(&mut it)), Err(SealError::Damaged)));
    }

    #[test]
    fn another_passphrase_another_kind_of_file_and_a_newer_one_are_told_apart() {
        let folder = TempDir::new().unwrap();
        let bytes = fs::read(sealed(&folder, &[b"x".to_vec()])).unwrap();
        assert!(matches!(open(&bytes, "tres buses rojos"), Err(SealError::Passphrase)));
        assert!(matches!(
            open(b"%PDF-1.7 and so on, for longer than a head", PASSPHRASE),
            Err(SealError::Foreign)
        ));
        let newer = [b"turno unsent sales 2\n".as_slice(), &bytes[MAGIC.len() + 2..]].concat();
        assert!(matches!(open(&newer, PASSPHRASE), Err(SealError::Newer { found: 2 })));
        let accents = "cami\u{f3}n de maria";
        let path = folder.path().join("accents");
        Sealer::begin(File::create(&path).unwrap(), accents, &OsEntropy).unwrap().finish().unwrap();
        Opened::open(File::open(&path).unwrap(), "camio\u{301}n de maria").unwrap();
    }
}
