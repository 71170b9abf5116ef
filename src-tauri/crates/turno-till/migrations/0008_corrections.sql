-- Which correction of the sale's content a request carries; 0 is what was recorded at the sale.
ALTER TABLE requests ADD COLUMN revision INTEGER NOT NULL DEFAULT 0 CHECK (revision >= 0);
CREATE UNIQUE INDEX one_request_a_revision ON requests (sequence, revision) WHERE operation = 'create';

-- Who corrected a sale that YUPY had refused, and why. What was changed is in the bodies, both of which are kept.
CREATE TABLE corrections (
    request_id INTEGER PRIMARY KEY REFERENCES requests,
    sequence INTEGER NOT NULL REFERENCES sales,
    corrected_by TEXT NOT NULL REFERENCES people,
    reason TEXT NOT NULL CHECK (reason <> ''),
    -- the names of the members that changed, a JSON list
    changed_fields TEXT NOT NULL,
    corrected_at_ms INTEGER NOT NULL
) STRICT;

CREATE INDEX corrections_of_a_sale ON corrections (sequence);

CREATE TRIGGER corrections_are_frozen BEFORE UPDATE ON corrections
BEGIN SELECT RAISE(ABORT, 'a correction is never changed'); END;
CREATE TRIGGER corrections_are_kept BEFORE DELETE ON corrections
BEGIN SELECT RAISE(ABORT, 'a correction is never deleted'); END;

-- YUPY accepted another version of the sale than the newest one here.
ALTER TABLE outbox ADD COLUMN differs_at_yupy INTEGER NOT NULL DEFAULT 0 CHECK (differs_at_yupy IN (0, 1));

-- The timeline of a sale is read from the audit.
CREATE INDEX audit_of_a_sale ON audit (external_transaction_id) WHERE external_transaction_id IS NOT NULL;
