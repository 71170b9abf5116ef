-- Who may ask, and what each company chose for itself.

CREATE TABLE company (
    company TEXT NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    currency TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE integration (
    company TEXT NOT NULL REFERENCES company,
    integration TEXT NOT NULL,
    error_profile TEXT NOT NULL CHECK (error_profile IN ('default', 'ietf')),
    similarity_window_s INTEGER NOT NULL CHECK (similarity_window_s BETWEEN 30 AND 86400),
    -- JSON list of field names.
    identifying_fields TEXT NOT NULL,
    confirmation_token_life_s INTEGER NOT NULL CHECK (confirmation_token_life_s > 0),
    PRIMARY KEY (company, integration)
) STRICT, WITHOUT ROWID;

CREATE TABLE catalog (
    company TEXT NOT NULL,
    integration TEXT NOT NULL,
    etag TEXT NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (company, integration),
    FOREIGN KEY (company, integration) REFERENCES integration
) STRICT;

-- A short name for company + integration + environment, so that indexes stay small.
CREATE TABLE scope (
    scope_id INTEGER PRIMARY KEY,
    company TEXT NOT NULL,
    integration TEXT NOT NULL,
    environment TEXT NOT NULL,
    UNIQUE (company, integration, environment),
    FOREIGN KEY (company, integration) REFERENCES integration
) STRICT;

CREATE TABLE credential (
    token_hash BLOB NOT NULL PRIMARY KEY CHECK (length(token_hash) = 32),
    scope_id INTEGER NOT NULL REFERENCES scope,
    rights TEXT NOT NULL,
    -- The enrolment code that gave it out, if one did.
    code_hash BLOB REFERENCES enrolment_code,
    created_at_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX credential_by_code ON credential (code_hash) WHERE code_hash IS NOT NULL;

CREATE TABLE enrolment_code (
    code_hash BLOB NOT NULL PRIMARY KEY CHECK (length(code_hash) = 32),
    scope_id INTEGER NOT NULL REFERENCES scope,
    device_id TEXT NOT NULL,
    rights TEXT NOT NULL,
    installation_id TEXT,
    created_at_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE device_epoch (
    scope_id INTEGER NOT NULL REFERENCES scope,
    device_id TEXT NOT NULL,
    epoch TEXT NOT NULL,
    installation_id TEXT NOT NULL,
    registered_at_ms INTEGER NOT NULL,
    PRIMARY KEY (scope_id, device_id, epoch)
) STRICT, WITHOUT ROWID;

-- 'fingerprint' has one for ever, 'token' gets another with each rotation.
CREATE TABLE secret (
    purpose TEXT NOT NULL CHECK (purpose IN ('fingerprint', 'token')),
    generation INTEGER NOT NULL,
    value BLOB NOT NULL CHECK (length(value) = 32),
    created_at_ms INTEGER NOT NULL,
    PRIMARY KEY (purpose, generation)
) STRICT, WITHOUT ROWID;

-- What was sold.

CREATE TABLE sale (
    -- Order of arrival: the cursor of lists.
    arrival INTEGER PRIMARY KEY,
    yupy_transaction_id TEXT NOT NULL UNIQUE,
    scope_id INTEGER NOT NULL REFERENCES scope,
    external_transaction_id TEXT NOT NULL,
    amount_minor INTEGER NOT NULL CHECK (amount_minor > 0),
    currency TEXT NOT NULL,
    -- The exact instant in UTC; the milliseconds beside it are for the index.
    occurred_at TEXT NOT NULL,
    occurred_at_ms INTEGER NOT NULL,
    buyer_name TEXT,
    integration_experience TEXT,
    shift_id TEXT,
    device_id TEXT,
    payment_method TEXT,
    custom_reference_1 TEXT,
    custom_reference_2 TEXT,
    route TEXT,
    seat TEXT,
    "order" TEXT,
    product TEXT,
    service TEXT,
    operational TEXT NOT NULL CHECK (operational IN ('active', 'voided')),
    financial TEXT NOT NULL
        CHECK (financial IN ('awaiting_payment', 'processing', 'paid', 'declined', 'refunded')),
    created_at_ms INTEGER NOT NULL
) STRICT;

CREATE UNIQUE INDEX sale_by_external_id ON sale (scope_id, external_transaction_id);

-- A look-alike has the same amount and happened nearby in time: found without reading history.
CREATE INDEX sale_by_likeness ON sale (scope_id, amount_minor, currency, occurred_at_ms)
    WHERE operational = 'active';

CREATE INDEX sale_by_device ON sale (scope_id, device_id, arrival) WHERE device_id IS NOT NULL;

CREATE TABLE idempotency_key (
    scope_id INTEGER NOT NULL REFERENCES scope,
    idempotency_key TEXT NOT NULL,
    fingerprint_version INTEGER NOT NULL,
    full_fingerprint BLOB NOT NULL CHECK (length(full_fingerprint) = 32),
    core_fingerprint BLOB NOT NULL CHECK (length(core_fingerprint) = 32),
    state TEXT NOT NULL CHECK (state IN ('bound', 'in_progress', 'final')),
    original_status INTEGER CHECK ((original_status IS NULL) = (state <> 'final')),
    yupy_transaction_id TEXT,
    permanent_id TEXT,
    -- When it was last answered; what is in progress has no such time and is never purged.
    completed_at_ms INTEGER CHECK ((completed_at_ms IS NULL) = (state = 'in_progress')),
    PRIMARY KEY (scope_id, idempotency_key)
) STRICT, WITHOUT ROWID;

CREATE INDEX idempotency_key_by_completion ON idempotency_key (completed_at_ms)
    WHERE completed_at_ms IS NOT NULL;

CREATE TABLE void (
    scope_id INTEGER NOT NULL REFERENCES scope,
    external_operation_id TEXT NOT NULL,
    yupy_transaction_id TEXT NOT NULL REFERENCES sale (yupy_transaction_id),
    result TEXT NOT NULL CHECK (result IN ('applied', 'already_in_state')),
    reason TEXT,
    voided_at_ms INTEGER NOT NULL,
    PRIMARY KEY (scope_id, external_operation_id)
) STRICT, WITHOUT ROWID;

-- Questions about look-alikes.

CREATE TABLE challenge (
    -- Order of arrival: the cursor of lists.
    arrival INTEGER PRIMARY KEY,
    challenge_id TEXT NOT NULL UNIQUE,
    scope_id INTEGER NOT NULL REFERENCES scope,
    external_transaction_id TEXT NOT NULL,
    -- The sale that was asked about, as it is shown.
    asked TEXT NOT NULL,
    fingerprint_version INTEGER NOT NULL,
    core_fingerprint BLOB NOT NULL CHECK (length(core_fingerprint) = 32),
    -- JSON lists; the most similar candidate first, and the signals of that one.
    candidates TEXT NOT NULL,
    matching_signals TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('open', 'spent', 'superseded', 'expired', 'closed')),
    asked_at_ms INTEGER NOT NULL,
    expires_at_ms INTEGER NOT NULL,
    signed_with INTEGER NOT NULL,
    decision TEXT CHECK (decision IN ('same_sale', 'different_sale')),
    decided_by TEXT CHECK ((decided_by IS NULL) = (decision IS NULL)),
    decision_reason TEXT,
    decided_at_ms INTEGER CHECK ((decided_at_ms IS NULL) = (decision IS NULL))
) STRICT;

CREATE UNIQUE INDEX challenge_open ON challenge (scope_id, external_transaction_id) WHERE state = 'open';

CREATE INDEX challenge_undecided ON challenge (scope_id, arrival) WHERE state = 'open' AND decision IS NULL;

-- What has to be known later: one hash chain a company.

CREATE TABLE audit (
    company TEXT NOT NULL REFERENCES company,
    number INTEGER NOT NULL CHECK (number > 0),
    -- The entry in the canonical form in which it is hashed.
    entry TEXT NOT NULL,
    prev_hash BLOB NOT NULL CHECK (length(prev_hash) = 32),
    hash BLOB NOT NULL CHECK (length(hash) = 32),
    PRIMARY KEY (company, number)
) STRICT, WITHOUT ROWID;
