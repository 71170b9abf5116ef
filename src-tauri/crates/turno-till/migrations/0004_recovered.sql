-- How many sales the journal put back when this epoch was taken.
ALTER TABLE epochs ADD COLUMN recovered_count INTEGER NOT NULL DEFAULT 0 CHECK (recovered_count >= 0);
