-- Times ending in _ms are milliseconds since 1970, UTC. Amounts are minor units of the enrolment's currency.

-- This data folder, from its first opening on.
CREATE TABLE installation (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    installation_id TEXT NOT NULL,
    -- The last numbers given out; they only grow, also when what took them is refused later.
    last_sequence INTEGER NOT NULL DEFAULT 0 CHECK (last_sequence >= 0),
    last_shift INTEGER NOT NULL DEFAULT 0 CHECK (last_shift >= 0)
) STRICT;

-- What YUPY said this till is. The credential itself is kept outside the database.
CREATE TABLE enrolment (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    address TEXT NOT NULL,
    company TEXT NOT NULL,
    integration TEXT NOT NULL,
    environment TEXT NOT NULL,
    company_name TEXT NOT NULL,
    device_id TEXT NOT NULL,
    epoch TEXT NOT NULL,
    currency TEXT NOT NULL,
    enrolled_at_ms INTEGER NOT NULL
) STRICT;

CREATE TABLE catalog (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    etag TEXT,
    body BLOB NOT NULL,
    fetched_at_ms INTEGER NOT NULL
) STRICT;

CREATE TABLE people (
    person_id TEXT PRIMARY KEY,
    name TEXT NOT NULL CHECK (name <> ''),
    role TEXT NOT NULL CHECK (role IN ('cashier', 'manager')),
    -- Argon2id in PHC form; worthless without the pepper, which is not in this file.
    pin_hash TEXT NOT NULL,
    pin_failures INTEGER NOT NULL DEFAULT 0 CHECK (pin_failures >= 0),
    locked_until_ms INTEGER NOT NULL DEFAULT 0,
    unlocked_at_ms INTEGER
) STRICT;

CREATE TABLE shifts (
    shift_number INTEGER PRIMARY KEY CHECK (shift_number > 0),
    opened_by TEXT NOT NULL REFERENCES people,
    opened_at_ms INTEGER NOT NULL,
    float_minor INTEGER NOT NULL CHECK (float_minor >= 0),
    closed_at_ms INTEGER
) STRICT;

CREATE UNIQUE INDEX one_open_shift ON shifts ((closed_at_ms IS NULL)) WHERE closed_at_ms IS NULL;

-- One press of Cobrar. The draft id makes a second press find the first.
CREATE TABLE checkouts (
    draft_id TEXT PRIMARY KEY,
    -- SHA-256 of what was asked for: the same draft with other lines is refused, not recorded.
    charge_digest BLOB NOT NULL CHECK (length(charge_digest) = 32),
    shift_number INTEGER NOT NULL REFERENCES shifts,
    seller TEXT NOT NULL REFERENCES people,
    recorded_at_ms INTEGER NOT NULL,
    payment_method TEXT NOT NULL,
    total_minor INTEGER NOT NULL CHECK (total_minor > 0),
    rounding_minor INTEGER NOT NULL CHECK (rounding_minor >= 0),
    received_minor INTEGER NOT NULL,
    CHECK (received_minor >= total_minor - rounding_minor)
) STRICT;

-- What was sold; frozen the moment it is written.
CREATE TABLE sales (
    sequence INTEGER PRIMARY KEY CHECK (sequence > 0),
    external_transaction_id TEXT NOT NULL UNIQUE,
    draft_id TEXT NOT NULL REFERENCES checkouts,
    shift_number INTEGER NOT NULL REFERENCES shifts,
    seller TEXT NOT NULL REFERENCES people,
    occurred_at_ms INTEGER NOT NULL,
    amount_minor INTEGER NOT NULL CHECK (amount_minor > 0),
    currency TEXT NOT NULL,
    quantity INTEGER NOT NULL CHECK (quantity > 0),
    description TEXT NOT NULL,
    offer_id TEXT NOT NULL,
    route TEXT,
    seat TEXT,
    product TEXT,
    service TEXT,
    buyer_name TEXT
) STRICT;

CREATE INDEX sales_of_a_checkout ON sales (draft_id);
CREATE INDEX sales_of_a_shift ON sales (shift_number);
CREATE INDEX sales_by_amount_and_time ON sales (currency, amount_minor, occurred_at_ms);
CREATE INDEX sales_by_seat ON sales (service, seat) WHERE seat IS NOT NULL;

CREATE TRIGGER sales_are_frozen BEFORE UPDATE ON sales
BEGIN SELECT RAISE(ABORT, 'a recorded sale is never changed'); END;
CREATE TRIGGER sales_are_kept BEFORE DELETE ON sales
BEGIN SELECT RAISE(ABORT, 'a recorded sale is never deleted'); END;

-- What is sent, byte for byte, under which key. A confirmation or a repaired body is a request of its own.
CREATE TABLE requests (
    request_id INTEGER PRIMARY KEY,
    sequence INTEGER NOT NULL REFERENCES sales,
    operation TEXT NOT NULL CHECK (operation IN ('create', 'confirm')),
    idempotency_key TEXT NOT NULL UNIQUE,
    path TEXT NOT NULL,
    body BLOB NOT NULL,
    body_sha256 BLOB NOT NULL CHECK (length(body_sha256) = 32),
    created_at_ms INTEGER NOT NULL
) STRICT;

CREATE INDEX requests_of_a_sale ON requests (sequence, operation);

CREATE TRIGGER requests_are_frozen BEFORE UPDATE ON requests
BEGIN SELECT RAISE(ABORT, 'a request is never changed'); END;
CREATE TRIGGER requests_are_kept BEFORE DELETE ON requests
BEGIN SELECT RAISE(ABORT, 'a request is never deleted'); END;

-- Where each sale is on its way to YUPY: the states of src/outbox.rs.
CREATE TABLE outbox (
    sequence INTEGER PRIMARY KEY REFERENCES sales,
    request_id INTEGER NOT NULL REFERENCES requests,
    state TEXT NOT NULL CHECK (state IN
        ('queued', 'sending', 'accepted', 'in_review', 'needs_attention', 'on_hold', 'discarded')),
    attempts INTEGER NOT NULL CHECK (attempts >= 0),
    -- queued and on_hold: when it is tried next
    due_at_ms INTEGER CHECK ((due_at_ms IS NOT NULL) = (state IN ('queued', 'on_hold'))),
    outcome_unknown INTEGER NOT NULL CHECK (outcome_unknown IN (0, 1)),
    reason TEXT,
    -- YUPY's code and field names for support; never a value
    detail TEXT,
    yupy_transaction_id TEXT CHECK (state <> 'accepted' OR yupy_transaction_id IS NOT NULL),
    duplicate_of TEXT CHECK (state <> 'discarded' OR duplicate_of IS NOT NULL),
    changed_at_ms INTEGER NOT NULL
) STRICT;

CREATE INDEX outbox_due ON outbox (due_at_ms) WHERE due_at_ms IS NOT NULL;
CREATE INDEX outbox_sending ON outbox (sequence) WHERE state = 'sending';
CREATE INDEX outbox_unsettled ON outbox (sequence, state) WHERE state NOT IN ('accepted', 'discarded');

CREATE TRIGGER outbox_is_kept BEFORE DELETE ON outbox
BEGIN SELECT RAISE(ABORT, 'an outbox entry is never deleted'); END;

-- One row per request that was about to leave; written before its first byte did.
CREATE TABLE attempts (
    attempt_id INTEGER PRIMARY KEY,
    request_id INTEGER NOT NULL REFERENCES requests,
    started_at_ms INTEGER NOT NULL,
    finished_at_ms INTEGER,
    -- null until the answer is known, or for ever when the program stopped in between
    outcome TEXT,
    status INTEGER,
    yupy_request_id TEXT,
    may_have_arrived INTEGER NOT NULL DEFAULT 1 CHECK (may_have_arrived IN (0, 1))
) STRICT;

CREATE INDEX attempts_of_a_request ON attempts (request_id);

-- YUPY's questions and what a manager said.
CREATE TABLE questions (
    challenge_id TEXT PRIMARY KEY,
    sequence INTEGER NOT NULL REFERENCES sales,
    token TEXT NOT NULL,
    expires_at TEXT NOT NULL,
    candidate TEXT NOT NULL,
    candidate_transaction_id TEXT NOT NULL,
    candidates_count INTEGER NOT NULL,
    matching_signals TEXT NOT NULL,
    previous_confirmation TEXT,
    asked_at_ms INTEGER NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('open', 'decided', 'superseded')),
    decision TEXT CHECK (decision IN ('different_sale', 'same_sale')),
    decided_by TEXT REFERENCES people,
    decided_at_ms INTEGER,
    reason TEXT,
    money TEXT CHECK (money IN ('refunded', 'not_collected')),
    -- the earlier question whose decision was carried over, once, to this one
    honours TEXT REFERENCES questions,
    CHECK ((state = 'decided') = (decision IS NOT NULL)),
    CHECK ((decision IS NULL) = (decided_by IS NULL))
) STRICT;

CREATE UNIQUE INDEX one_open_question ON questions (sequence) WHERE state = 'open';
CREATE INDEX questions_of_a_sale ON questions (sequence);

-- Hash-chained, append-only.
CREATE TABLE audit (
    audit_id INTEGER PRIMARY KEY,
    at_ms INTEGER NOT NULL,
    event TEXT NOT NULL,
    person_id TEXT,
    external_transaction_id TEXT,
    data TEXT NOT NULL,
    prev_hash BLOB NOT NULL CHECK (length(prev_hash) = 32),
    hash BLOB NOT NULL CHECK (length(hash) = 32)
) STRICT;

CREATE TRIGGER audit_is_frozen BEFORE UPDATE ON audit
BEGIN SELECT RAISE(ABORT, 'the audit is append-only'); END;
CREATE TRIGGER audit_is_kept BEFORE DELETE ON audit
BEGIN SELECT RAISE(ABORT, 'the audit is append-only'); END;
