-- A new state for sales that were taken back before YUPY had them. A check cannot be changed in place.
DROP TRIGGER outbox_is_kept;
CREATE TABLE outbox_with_withdrawn (
    sequence INTEGER PRIMARY KEY REFERENCES sales,
    request_id INTEGER NOT NULL REFERENCES requests,
    state TEXT NOT NULL CHECK (state IN
        ('queued', 'sending', 'accepted', 'in_review', 'needs_attention', 'on_hold', 'discarded', 'withdrawn')),
    attempts INTEGER NOT NULL CHECK (attempts >= 0),
    -- queued and on_hold: when it is tried next
    due_at_ms INTEGER CHECK ((due_at_ms IS NOT NULL) = (state IN ('queued', 'on_hold'))),
    outcome_unknown INTEGER NOT NULL CHECK (outcome_unknown IN (0, 1)),
    reason TEXT,
    -- YUPY's code and field names for support; never a value
    detail TEXT,
    yupy_transaction_id TEXT CHECK (state <> 'accepted' OR yupy_transaction_id IS NOT NULL),
    duplicate_of TEXT CHECK (state <> 'discarded' OR duplicate_of IS NOT NULL),
    changed_at_ms INTEGER NOT NULL,
    -- The last run that saw the sale in YUPY's list.
    seen_in_run INTEGER REFERENCES reconciliations,
    -- YUPY accepted another version of the sale than the newest one here.
    differs_at_yupy INTEGER NOT NULL DEFAULT 0 CHECK (differs_at_yupy IN (0, 1))
) STRICT;
INSERT INTO outbox_with_withdrawn (sequence, request_id, state, attempts, due_at_ms, outcome_unknown, reason, detail,
                                   yupy_transaction_id, duplicate_of, changed_at_ms, seen_in_run, differs_at_yupy)
    SELECT sequence, request_id, state, attempts, due_at_ms, outcome_unknown, reason, detail, yupy_transaction_id,
           duplicate_of, changed_at_ms, seen_in_run, differs_at_yupy FROM outbox;
DROP TABLE outbox;
ALTER TABLE outbox_with_withdrawn RENAME TO outbox;
CREATE INDEX outbox_due ON outbox (due_at_ms) WHERE due_at_ms IS NOT NULL;
CREATE INDEX outbox_sending ON outbox (sequence) WHERE state = 'sending';
CREATE INDEX outbox_unsettled ON outbox (sequence, state)
    WHERE state NOT IN ('accepted', 'discarded', 'withdrawn');
CREATE INDEX outbox_seen ON outbox (seen_in_run) WHERE state = 'accepted';
CREATE TRIGGER outbox_is_kept BEFORE DELETE ON outbox
BEGIN SELECT RAISE(ABORT, 'an outbox entry is never deleted'); END;

-- A sale that was voided here: at most once. The first part is a fact and stays; the second is how far YUPY knows it.
CREATE TABLE voids (
    sequence INTEGER PRIMARY KEY REFERENCES sales,
    operation_id TEXT NOT NULL UNIQUE,
    idempotency_key TEXT NOT NULL UNIQUE,
    body BLOB NOT NULL,
    body_sha256 BLOB NOT NULL CHECK (length(body_sha256) = 32),
    -- whose drawer the money came from, whichever shift the sale was made in
    shift_number INTEGER NOT NULL REFERENCES shifts,
    asked_by TEXT NOT NULL REFERENCES people,
    approved_by TEXT NOT NULL REFERENCES people,
    reason TEXT NOT NULL CHECK (reason <> ''),
    -- what was given back: what was paid, which with cash is not the price
    returned_minor INTEGER NOT NULL CHECK (returned_minor >= 0),
    tender TEXT NOT NULL,
    voided_at_ms INTEGER NOT NULL,

    -- waiting: YUPY does not have the sale yet; local: it never had it, and there is nothing to tell
    state TEXT NOT NULL CHECK (state IN
        ('waiting', 'queued', 'sending', 'confirmed', 'local', 'needs_attention')),
    attempts INTEGER NOT NULL CHECK (attempts >= 0),
    due_at_ms INTEGER CHECK ((due_at_ms IS NOT NULL) = (state = 'queued')),
    trouble TEXT,
    -- YUPY's code for support; never a value
    detail TEXT,
    -- how often YUPY did not have the sale that it had accepted
    lost_count INTEGER NOT NULL DEFAULT 0 CHECK (lost_count >= 0),
    changed_at_ms INTEGER NOT NULL
) STRICT;

CREATE INDEX voids_of_a_shift ON voids (shift_number);
CREATE INDEX voids_due ON voids (due_at_ms) WHERE due_at_ms IS NOT NULL;
CREATE INDEX voids_unsettled ON voids (sequence) WHERE state IN ('queued', 'sending', 'needs_attention');

CREATE TRIGGER voids_are_frozen BEFORE UPDATE OF sequence, operation_id, idempotency_key, body, body_sha256,
    shift_number, asked_by, approved_by, reason, returned_minor, tender, voided_at_ms ON voids
BEGIN SELECT RAISE(ABORT, 'what was given back is never changed'); END;
CREATE TRIGGER voids_are_kept BEFORE DELETE ON voids
BEGIN SELECT RAISE(ABORT, 'a void is never deleted'); END;

-- One row per void that was about to leave; written before its first byte did.
CREATE TABLE void_attempts (
    attempt_id INTEGER PRIMARY KEY,
    sequence INTEGER NOT NULL REFERENCES voids,
    started_at_ms INTEGER NOT NULL,
    finished_at_ms INTEGER,
    -- null until the answer is known, or for ever when the program stopped in between
    outcome TEXT,
    status INTEGER,
    yupy_request_id TEXT
) STRICT;

CREATE INDEX attempts_of_a_void ON void_attempts (sequence);
