-- How a ticket was paid when it was not all cash: a ticket without a row here was paid in its checkout's
-- payment_method. The rounding of a checkout is of its cash.
CREATE TABLE checkout_tenders (
    draft_id TEXT NOT NULL REFERENCES checkouts,
    position INTEGER NOT NULL CHECK (position BETWEEN 0 AND 3),
    method TEXT NOT NULL CHECK (method IN ('cash', 'wallet', 'card')),
    provider TEXT CHECK ((provider IS NOT NULL) = (method = 'wallet')),
    -- the payment as the customer's telephone showed it
    operation_number TEXT CHECK ((operation_number IS NOT NULL) = (method = 'wallet')),
    -- what of the ticket's price it pays; of cash, before rounding
    amount_minor INTEGER NOT NULL CHECK (amount_minor > 0),
    PRIMARY KEY (draft_id, position)
) STRICT, WITHOUT ROWID;

CREATE INDEX tenders_by_operation ON checkout_tenders (operation_number) WHERE operation_number IS NOT NULL;

-- What each sale of such a ticket has of each tender.
CREATE TABLE sale_tenders (
    sequence INTEGER NOT NULL REFERENCES sales,
    position INTEGER NOT NULL,
    amount_minor INTEGER NOT NULL CHECK (amount_minor > 0),
    PRIMARY KEY (sequence, position)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER checkout_tenders_are_frozen BEFORE UPDATE ON checkout_tenders
BEGIN SELECT RAISE(ABORT, 'how a ticket was paid is never changed'); END;
CREATE TRIGGER checkout_tenders_are_kept BEFORE DELETE ON checkout_tenders
BEGIN SELECT RAISE(ABORT, 'how a ticket was paid is never deleted'); END;
CREATE TRIGGER sale_tenders_are_frozen BEFORE UPDATE ON sale_tenders
BEGIN SELECT RAISE(ABORT, 'how a sale was paid is never changed'); END;
CREATE TRIGGER sale_tenders_are_kept BEFORE DELETE ON sale_tenders
BEGIN SELECT RAISE(ABORT, 'how a sale was paid is never deleted'); END;
