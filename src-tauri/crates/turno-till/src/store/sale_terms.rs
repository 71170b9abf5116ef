//! By which terms sales are found: for each block of numbers and each term, who in the block has it.
//!
//! Derived, in one transaction a block, once every number of the block is given out: sales behind the last block are
//! few and are looked through. A block goes among the rows of its own part and never among older ones, so that a million
//! sales cost a block no more than none. Invariant: what stands here of a block is all that its sales say; the empty
//! term marks that the block is there.

use std::collections::BTreeMap;

use rusqlite::{Connection, Result, Row, params};

use crate::search::{Facts, Query, Span};
use crate::store::installation;

/// Numbers in a block: as many sales are looked through at most.
pub const BLOCK: i64 = 256;
/// Blocks in a part. One page is read for each part and term that is looked for, which for a million sales is 31 times.
pub const PART: i64 = 128;
/// Fewer members are listed, two bytes each; from here on a map is smaller.
const MAP_BYTES: usize = 32;

/// Places in a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Members([u64; 4]);

impl Members {
    pub const NONE: Self = Self([0; 4]);
    pub const ALL: Self = Self([u64::MAX; 4]);

    pub fn add(&mut self, place: u16) {
        self.0[usize::from(place / 64) % 4] |= 1 << (place % 64);
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(|word| *word == 0)
    }

    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self(std::array::from_fn(|at| self.0[at] & other.0[at]))
    }

    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self(std::array::from_fn(|at| self.0[at] | other.0[at]))
    }

    /// The last place first.
    pub fn newest_first(self) -> impl Iterator<Item = u16> {
        (0..256).rev().filter(move |place: &u16| self.0[usize::from(place / 64)] >> (place % 64) & 1 == 1)
    }

    fn to_bytes(self) -> Vec<u8> {
        let count: u32 = self.0.iter().map(|word| word.count_ones()).sum();
        if usize::try_from(count).is_ok_and(|count| 2 * count < MAP_BYTES) {
            let mut places: Vec<u16> = self.newest_first().collect();
            places.reverse();
            return places.into_iter().flat_map(u16::to_le_bytes).collect();
        }
        self.0.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    fn or_bytes(&mut self, bytes: &[u8]) {
        if bytes.len() == MAP_BYTES {
            let (words, _) = bytes.as_chunks::<8>();
            for (mine, word) in self.0.iter_mut().zip(words) {
                *mine |= u64::from_le_bytes(*word);
            }
            return;
        }
        let (places, _) = bytes.as_chunks::<2>();
        for place in places {
            self.add(u16::from_le_bytes(*place));
        }
    }
}

#[must_use]
pub fn block_of(sequence: i64) -> i64 {
    sequence.div_euclid(BLOCK)
}

pub fn place_of(sequence: i64) -> u16 {
    u16::try_from(sequence.rem_euclid(BLOCK)).expect("a block is small")
}

/// The last block that is written, −1 before the first.
pub fn last_block(conn: &Connection) -> Result<i64> {
    conn.prepare_cached(
        "SELECT coalesce(max(block), -1) FROM sale_terms
         WHERE part = (SELECT max(part) FROM sale_terms) AND term = ''",
    )?
    .query_row([], |row| row.get(0))
}

/// The block to be written next, when all its numbers are given out.
pub fn next_block(conn: &Connection) -> Result<Option<i64>> {
    let (next, given) = (last_block(conn)? + 1, installation::last_sequence(conn)?);
    Ok(Some(next).filter(|next| block_of(given + 1) > *next))
}

/// A block's rows as they are to be written.
pub struct Rows {
    block: i64,
    members: BTreeMap<String, Members>,
}

/// Reads what a complete block's sales say. Reads only: the writer need not wait for it.
pub fn read_block(conn: &Connection, block: i64) -> Result<Rows> {
    let mut members = BTreeMap::from([(String::new(), Members::NONE)]);
    let select = select(Depth::Payment);
    let mut sales = conn.prepare_cached(&format!("{select} WHERE sales.sequence BETWEEN ?1 AND ?2"))?;
    let mut rows = sales.query(params![block * BLOCK, block * BLOCK + BLOCK - 1])?;
    while let Some(row) = rows.next()? {
        let place = place_of(row.get(0)?);
        for term in facts(row)?.terms() {
            members.entry(term).or_insert(Members::NONE).add(place);
        }
    }
    Ok(Rows { block, members })
}

/// Writes a block, unless it is not its turn any more.
pub fn write_block(conn: &Connection, rows: &Rows) -> Result<()> {
    if next_block(conn)? != Some(rows.block) {
        return Ok(());
    }
    let mut insert =
        conn.prepare_cached("INSERT INTO sale_terms (part, term, block, members) VALUES (?1, ?2, ?3, ?4)")?;
    for (term, members) in &rows.members {
        insert.execute(params![rows.block / PART, term, rows.block, members.to_bytes()])?;
    }
    Ok(())
}

/// Members of each block of a part.
pub type Part = [Members; 128];

/// Who in a part's blocks may be meant. Of blocks that are not written it says nobody.
pub fn meant(conn: &Connection, part: i64, query: &Query) -> Result<Part> {
    let mut found = [Members::ALL; 128];
    for word in query.words() {
        let mut any = [Members::NONE; 128];
        for meaning in word {
            let mut all = found;
            for span in meaning {
                and(&mut all, &within(conn, part, span)?);
            }
            any.iter_mut().zip(all).for_each(|(one, other)| *one = one.or(other));
        }
        found = any;
        if found.iter().all(Members::is_empty) {
            break;
        }
    }
    Ok(found)
}

fn and(one: &mut Part, other: &Part) {
    one.iter_mut().zip(other).for_each(|(one, other)| *one = one.and(*other));
}

fn within(conn: &Connection, part: i64, span: &Span) -> Result<Part> {
    let mut members = [Members::NONE; 128];
    let mut rows = conn
        .prepare_cached("SELECT block, members FROM sale_terms WHERE part = ?1 AND term BETWEEN ?2 AND ?3")?;
    let mut rows = rows.query(params![part, span.from, span.to])?;
    while let Some(row) = rows.next()? {
        let at = usize::try_from(row.get::<_, i64>(0)?.rem_euclid(PART)).expect("a part is small");
        members[at].or_bytes(row.get_ref(1)?.as_blob()?);
    }
    Ok(members)
}

/// What of a sale [`facts`] reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    Sale,
    /// How it was paid as well. Tickets have random ids, so that this reads some page of the disk for each sale.
    Payment,
}

/// A statement for [`facts`], up to its condition: the number comes first; shift, state and whether it was voided last.
#[must_use]
pub fn select(depth: Depth) -> String {
    let (paid_in, join) = match depth {
        Depth::Sale => ("NULL", ""),
        Depth::Payment => (
            "CASE WHEN payment_method = 'split' THEN
                 (SELECT group_concat(tender.method, ' ')
                  FROM sale_tenders AS part JOIN checkout_tenders AS tender
                      ON tender.draft_id = sales.draft_id AND tender.position = part.position
                  WHERE part.sequence = sales.sequence)
             ELSE payment_method END",
            "LEFT JOIN checkouts ON checkouts.draft_id = sales.draft_id",
        ),
    };
    format!(
        "SELECT sales.sequence, external_transaction_id, occurred_at_ms, amount_minor, description, route, seat,
                buyer_name, {paid_in}, sales.shift_number, outbox.state, voids.sequence IS NOT NULL
         FROM sales JOIN outbox ON outbox.sequence = sales.sequence
             LEFT JOIN voids ON voids.sequence = sales.sequence {join}"
    )
}

pub fn facts(row: &Row<'_>) -> Result<Facts> {
    Ok(Facts {
        external_transaction_id: row.get(1)?,
        occurred_at: row.get(2)?,
        amount_minor: row.get(3)?,
        description: row.get(4)?,
        route: row.get(5)?,
        seat: row.get(6)?,
        buyer_name: row.get(7)?,
        paid_in: row.get(8)?,
    })
}
