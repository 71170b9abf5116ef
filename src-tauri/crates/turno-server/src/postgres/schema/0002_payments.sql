CREATE TABLE payment (
    scope_id BIGINT NOT NULL,
    external_payment_id TEXT NOT NULL,
    yupy_transaction_id TEXT NOT NULL REFERENCES sale (yupy_transaction_id),
    acquirer_payment_id TEXT NOT NULL UNIQUE,
    amount_minor BIGINT NOT NULL CHECK (amount_minor > 0),
    currency TEXT NOT NULL,
    method TEXT,
    state TEXT NOT NULL
        CHECK (state IN ('reserved', 'acquirer_started', 'pending', 'approved', 'declined', 'reconciliation')),
    -- Who may write: this owner, in this attempt.
    owner TEXT NOT NULL,
    attempt BIGINT NOT NULL CHECK (attempt > 0),
    lease_until_ms BIGINT,
    charged_at_ms BIGINT CHECK ((charged_at_ms IS NOT NULL) OR state = 'reserved'),
    created_at_ms BIGINT NOT NULL,
    PRIMARY KEY (scope_id, external_payment_id)
);

-- What the reaper looks after, the least tried first, so that one that cannot be settled keeps nobody waiting.
CREATE INDEX payment_unfinished ON payment (attempt, created_at_ms)
    WHERE state IN ('reserved', 'acquirer_started', 'pending');

-- Keys that end together with their payment.
CREATE INDEX idempotency_key_in_progress ON idempotency_key (scope_id, permanent_id) WHERE state = 'in_progress';

-- Webhooks that were seen: a repeat has no effect.
CREATE TABLE acquirer_event (
    event_id TEXT NOT NULL PRIMARY KEY,
    received_at_ms BIGINT NOT NULL
);
