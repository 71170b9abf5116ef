-- Who may ask, and what each company chose for itself.

CREATE TABLE company (
    company TEXT NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    currency TEXT NOT NULL
);

-- Where a company's two series end. Whoever continues one locks the row until his commit, so that numbers become
-- visible in their order: a reader who has seen number 7 never finds a number 6 afterwards.
CREATE TABLE company_head (
    company TEXT NOT NULL PRIMARY KEY REFERENCES company,
    audit_rows BIGINT NOT NULL,
    audit_hash BYTEA NOT NULL CHECK (octet_length(audit_hash) = 32),
    arrivals BIGINT NOT NULL
);

CREATE TABLE integration (
    company TEXT NOT NULL REFERENCES company,
    integration TEXT NOT NULL,
    error_profile TEXT NOT NULL CHECK (error_profile IN ('default', 'ietf')),
    similarity_window_s BIGINT NOT NULL CHECK (similarity_window_s BETWEEN 30 AND 86400),
    -- JSON list of field names.
    identifying_fields TEXT NOT NULL,
    confirmation_token_life_s BIGINT NOT NULL CHECK (confirmation_token_life_s > 0),
    PRIMARY KEY (company, integration)
);

CREATE TABLE catalog (
    company TEXT NOT NULL,
    integration TEXT NOT NULL,
    etag TEXT NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (company, integration),
    FOREIGN KEY (company, integration) REFERENCES integration
);

-- A short name for company + integration + environment, so that indexes stay small.
CREATE TABLE scope (
    scope_id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    company TEXT NOT NULL,
    integration TEXT NOT NULL,
    environment TEXT NOT NULL,
    UNIQUE (company, integration, environment),
    FOREIGN KEY (company, integration) REFERENCES integration
);

CREATE TABLE enrolment_code (
    code_hash BYTEA NOT NULL PRIMARY KEY CHECK (octet_length(code_hash) = 32),
    scope_id BIGINT NOT NULL REFERENCES scope,
    device_id TEXT NOT NULL,
    rights TEXT NOT NULL,
    installation_id TEXT,
    created_at_ms BIGINT NOT NULL
);

CREATE TABLE credential (
    token_hash BYTEA NOT NULL PRIMARY KEY CHECK (octet_length(token_hash) = 32),
    scope_id BIGINT NOT NULL REFERENCES scope,
    rights TEXT NOT NULL,
    -- The enrolment code that gave it out, if one did.
    code_hash BYTEA REFERENCES enrolment_code,
    created_at_ms BIGINT NOT NULL
);

CREATE INDEX credential_by_code ON credential (code_hash) WHERE code_hash IS NOT NULL;

CREATE TABLE device_epoch (
    scope_id BIGINT NOT NULL REFERENCES scope,
    device_id TEXT NOT NULL,
    epoch TEXT NOT NULL,
    installation_id TEXT NOT NULL,
    registered_at_ms BIGINT NOT NULL,
    PRIMARY KEY (scope_id, device_id, epoch)
);

-- 'fingerprint' has one for ever, 'token' gets another with each rotation.
CREATE TABLE secret (
    purpose TEXT NOT NULL CHECK (purpose IN ('fingerprint', 'token')),
    generation BIGINT NOT NULL,
    value BYTEA NOT NULL CHECK (octet_length(value) = 32),
    created_at_ms BIGINT NOT NULL,
    PRIMARY KEY (purpose, generation)
);

-- What was sold. No foreign keys to `scope` from here on: each would lock its one hot row again with every sale, and
-- scopes are never deleted.

CREATE TABLE sale (
    yupy_transaction_id TEXT NOT NULL PRIMARY KEY,
    -- Order of commit within the company: the cursor of lists.
    arrival BIGINT NOT NULL,
    scope_id BIGINT NOT NULL,
    external_transaction_id TEXT NOT NULL,
    amount_minor BIGINT NOT NULL CHECK (amount_minor > 0),
    currency TEXT NOT NULL,
    -- The exact instant in UTC; the milliseconds beside it are for the index.
    occurred_at TEXT NOT NULL,
    occurred_at_ms BIGINT NOT NULL,
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
    created_at_ms BIGINT NOT NULL
);

CREATE UNIQUE INDEX sale_by_external_id ON sale (scope_id, external_transaction_id);

-- A look-alike has the same amount and happened nearby in time: found without reading history.
CREATE INDEX sale_by_likeness ON sale (scope_id, amount_minor, currency, occurred_at_ms)
    WHERE operational = 'active';

CREATE INDEX sale_by_device ON sale (scope_id, device_id, arrival) WHERE device_id IS NOT NULL;

CREATE TABLE idempotency_key (
    scope_id BIGINT NOT NULL,
    idempotency_key TEXT NOT NULL,
    fingerprint_version BIGINT NOT NULL,
    full_fingerprint BYTEA NOT NULL CHECK (octet_length(full_fingerprint) = 32),
    core_fingerprint BYTEA NOT NULL CHECK (octet_length(core_fingerprint) = 32),
    state TEXT NOT NULL CHECK (state IN ('bound', 'in_progress', 'final')),
    original_status BIGINT CHECK ((original_status IS NULL) = (state <> 'final')),
    yupy_transaction_id TEXT,
    permanent_id TEXT,
    -- When it was last answered; what is in progress has no such time and is never purged.
    completed_at_ms BIGINT CHECK ((completed_at_ms IS NULL) = (state = 'in_progress')),
    PRIMARY KEY (scope_id, idempotency_key)
);

CREATE INDEX idempotency_key_by_completion ON idempotency_key (completed_at_ms)
    WHERE completed_at_ms IS NOT NULL;

CREATE TABLE void (
    scope_id BIGINT NOT NULL,
    external_operation_id TEXT NOT NULL,
    yupy_transaction_id TEXT NOT NULL REFERENCES sale (yupy_transaction_id),
    result TEXT NOT NULL CHECK (result IN ('applied', 'already_in_state')),
    reason TEXT,
    voided_at_ms BIGINT NOT NULL,
    PRIMARY KEY (scope_id, external_operation_id)
);

-- Questions about look-alikes.

CREATE TABLE challenge (
    challenge_id TEXT NOT NULL PRIMARY KEY,
    -- Order of commit within the company: the cursor of lists.
    arrival BIGINT NOT NULL,
    scope_id BIGINT NOT NULL,
    external_transaction_id TEXT NOT NULL,
    -- The sale that was asked about, as it is shown.
    asked TEXT NOT NULL,
    fingerprint_version BIGINT NOT NULL,
    core_fingerprint BYTEA NOT NULL CHECK (octet_length(core_fingerprint) = 32),
    -- JSON lists; the most similar candidate first, and the signals of that one.
    candidates TEXT NOT NULL,
    matching_signals TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('open', 'spent', 'superseded', 'expired', 'closed')),
    asked_at_ms BIGINT NOT NULL,
    expires_at_ms BIGINT NOT NULL,
    signed_with BIGINT NOT NULL,
    decision TEXT CHECK (decision IN ('same_sale', 'different_sale')),
    decided_by TEXT CHECK ((decided_by IS NULL) = (decision IS NULL)),
    decision_reason TEXT,
    decided_at_ms BIGINT CHECK ((decided_at_ms IS NULL) = (decision IS NULL))
);

CREATE UNIQUE INDEX challenge_open ON challenge (scope_id, external_transaction_id) WHERE state = 'open';

CREATE INDEX challenge_undecided ON challenge (scope_id, arrival) WHERE state = 'open' AND decision IS NULL;

-- What has to be known later: one hash chain a company.

CREATE TABLE audit (
    company TEXT NOT NULL REFERENCES company,
    number BIGINT NOT NULL CHECK (number > 0),
    -- The entry in the canonical form in which it is hashed.
    entry TEXT NOT NULL,
    prev_hash BYTEA NOT NULL CHECK (octet_length(prev_hash) = 32),
    hash BYTEA NOT NULL CHECK (octet_length(hash) = 32),
    PRIMARY KEY (company, number)
);
