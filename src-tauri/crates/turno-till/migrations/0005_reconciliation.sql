-- Each comparison of our sales with YUPY's list of them.
CREATE TABLE reconciliations (
    run_id INTEGER PRIMARY KEY,
    reason TEXT NOT NULL CHECK (reason IN ('daily', 'outage', 'asked')),
    -- the list was read from where that run had stopped; null: from its beginning
    from_run INTEGER REFERENCES reconciliations,
    -- sales with a later attempt may be missing from what was read
    last_attempt_id INTEGER NOT NULL,
    started_at_ms INTEGER NOT NULL,
    -- null: it never came to its end and says nothing
    finished_at_ms INTEGER,
    -- where YUPY's last page began
    cursor TEXT,
    compared INTEGER NOT NULL DEFAULT 0,
    -- sales of another installation with this till's name
    of_others INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE TABLE reconciliation_findings (
    run_id INTEGER NOT NULL REFERENCES reconciliations,
    external_transaction_id TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('unknown_here', 'amount_differs', 'discarded_here', 'sent_again')),
    yupy_transaction_id TEXT,
    -- as YUPY writes it, e.g. 85.50
    yupy_amount TEXT,
    yupy_currency TEXT,
    our_amount_minor INTEGER,
    PRIMARY KEY (run_id, external_transaction_id)
) STRICT, WITHOUT ROWID;

-- The last run that saw the sale in YUPY's list.
ALTER TABLE outbox ADD COLUMN seen_in_run INTEGER REFERENCES reconciliations;

CREATE INDEX outbox_seen ON outbox (seen_in_run) WHERE state = 'accepted';
