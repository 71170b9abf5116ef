-- By which terms sales are found (src/search.rs): for each block of 256 numbers and each term, who in the block has it.
-- Derived from sales and from how they were paid, a block at a time and only once all its numbers are given out; sales
-- behind the last block are looked through. So recording a sale writes nothing here.
CREATE TABLE sale_terms (
    -- 128 blocks, whose rows of one term lie together: looking for a term reads a part's page and not one a block
    part INTEGER NOT NULL CHECK (part = block / 128),
    -- the empty term marks that the block is written
    term TEXT NOT NULL,
    block INTEGER NOT NULL CHECK (block >= 0),
    -- places in the block: 16 bits each, or a map of 256 bits
    members BLOB NOT NULL CHECK (length(members) <= 32),
    PRIMARY KEY (part, term, block)
) STRICT, WITHOUT ROWID;

-- A sale that is put back under an old number takes the blocks from there on away; they are made again.
CREATE TRIGGER sale_terms_are_whole AFTER INSERT ON sales
WHEN EXISTS (SELECT 1 FROM sale_terms
             WHERE part = new.sequence / 32768 AND term = '' AND block = new.sequence / 256)
BEGIN DELETE FROM sale_terms WHERE part >= new.sequence / 32768 AND block >= new.sequence / 256; END;
