-- Which run of the program wrote this file last, and the one before. The newest is also kept outside of the data
-- folder (src/witness.rs): a copy, or a file that was put back, does not match it.
ALTER TABLE installation ADD COLUMN start_id TEXT;
ALTER TABLE installation ADD COLUMN previous_start_id TEXT;

-- Under which epochs this till has sold; the newest is the one that the next sale gets.
CREATE TABLE epochs (
    epoch_number INTEGER PRIMARY KEY,
    epoch TEXT NOT NULL UNIQUE,
    -- Sales up to this sequence were numbered under earlier epochs.
    after_sequence INTEGER NOT NULL CHECK (after_sequence >= 0),
    reason TEXT NOT NULL,
    taken_at_ms INTEGER NOT NULL,
    -- null until YUPY knows it
    registered_at_ms INTEGER
) STRICT;

INSERT INTO epochs (epoch, after_sequence, reason, taken_at_ms, registered_at_ms)
    SELECT epoch, 0, 'enrolled', enrolled_at_ms, enrolled_at_ms FROM enrolment;
ALTER TABLE enrolment DROP COLUMN epoch;
