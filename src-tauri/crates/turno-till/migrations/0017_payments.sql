-- What a card was asked to pay for a sale that YUPY has: one row for each card that was tried. The first part is a fact
-- and stays; the second is what became of it.
CREATE TABLE payments (
    payment_id INTEGER PRIMARY KEY,
    sequence INTEGER NOT NULL REFERENCES sales,
    -- 1 for the first card; after one that was declined comes the next
    card_number INTEGER NOT NULL CHECK (card_number >= 1),
    external_payment_id TEXT NOT NULL UNIQUE,
    idempotency_key TEXT NOT NULL UNIQUE,
    body BLOB NOT NULL,
    body_sha256 BLOB NOT NULL CHECK (length(body_sha256) = 32),
    amount_minor INTEGER NOT NULL CHECK (amount_minor > 0),
    created_at_ms INTEGER NOT NULL,

    -- waiting: YUPY does not have the sale any more, and gets it again first; withdrawn: never asked for
    state TEXT NOT NULL CHECK (state IN
        ('waiting', 'queued', 'sending', 'approved', 'declined', 'withdrawn', 'needs_attention')),
    -- when somebody last stood at the till with a card
    wanted_at_ms INTEGER NOT NULL,
    attempts INTEGER NOT NULL CHECK (attempts >= 0),
    -- YUPY may have been asked, so that the card may have been charged
    outcome_unknown INTEGER NOT NULL CHECK (outcome_unknown IN (0, 1)),
    due_at_ms INTEGER CHECK ((due_at_ms IS NOT NULL) = (state = 'queued')),
    trouble TEXT,
    -- YUPY's code for support; never a value
    detail TEXT,
    acquirer_payment_id TEXT CHECK (state <> 'approved' OR acquirer_payment_id IS NOT NULL),
    -- how often YUPY did not have the sale that it had accepted
    lost_count INTEGER NOT NULL DEFAULT 0 CHECK (lost_count >= 0),
    changed_at_ms INTEGER NOT NULL,
    UNIQUE (sequence, card_number)
) STRICT;

-- While nobody knows what became of one charge there is no second one, and none after one that was approved.
CREATE UNIQUE INDEX one_charge_of_a_sale ON payments (sequence) WHERE state NOT IN ('declined', 'withdrawn');
CREATE INDEX payments_due ON payments (due_at_ms) WHERE due_at_ms IS NOT NULL;
CREATE INDEX payments_unsettled ON payments (sequence)
    WHERE state IN ('waiting', 'queued', 'sending', 'needs_attention');

CREATE TRIGGER payments_are_frozen BEFORE UPDATE OF payment_id, sequence, card_number, external_payment_id,
    idempotency_key, body, body_sha256, amount_minor, created_at_ms ON payments
BEGIN SELECT RAISE(ABORT, 'what a card was asked to pay is never changed'); END;
CREATE TRIGGER payments_are_kept BEFORE DELETE ON payments
BEGIN SELECT RAISE(ABORT, 'a payment is never deleted'); END;

-- One row per payment that was about to leave; written before its first byte did.
CREATE TABLE payment_attempts (
    attempt_id INTEGER PRIMARY KEY,
    payment_id INTEGER NOT NULL REFERENCES payments,
    started_at_ms INTEGER NOT NULL,
    finished_at_ms INTEGER,
    -- null until the answer is known, or for ever when the program stopped in between
    outcome TEXT,
    status INTEGER,
    yupy_request_id TEXT
) STRICT;

CREATE INDEX attempts_of_a_payment ON payment_attempts (payment_id);
