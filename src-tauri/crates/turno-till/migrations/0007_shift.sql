-- Cash that went into or out of the drawer by hand. The number is the order; a clock may be set back.
CREATE TABLE cash_movements (
    movement_number INTEGER PRIMARY KEY,
    -- under which a screen asked for it: a second press finds the first
    draft_id TEXT UNIQUE,
    shift_number INTEGER NOT NULL REFERENCES shifts,
    kind TEXT NOT NULL CHECK (kind IN ('pay_in', 'pay_out', 'refund')),
    amount_minor INTEGER NOT NULL CHECK (amount_minor > 0),
    reason TEXT NOT NULL CHECK (reason <> ''),
    person_id TEXT NOT NULL REFERENCES people,
    approved_by TEXT REFERENCES people,
    -- refund: the sale of an earlier shift whose money was given back
    sequence INTEGER UNIQUE REFERENCES sales,
    at_ms INTEGER NOT NULL,
    CHECK ((kind = 'refund') = (sequence IS NOT NULL)),
    CHECK ((kind = 'refund') = (draft_id IS NULL))
) STRICT;

CREATE INDEX cash_movements_of_a_shift ON cash_movements (shift_number);

CREATE TRIGGER cash_movements_are_frozen BEFORE UPDATE ON cash_movements
BEGIN SELECT RAISE(ABORT, 'a cash movement is never changed'); END;
CREATE TRIGGER cash_movements_are_kept BEFORE DELETE ON cash_movements
BEGIN SELECT RAISE(ABORT, 'a cash movement is never deleted'); END;

-- The Z report of a shift: what was true when it was closed.
CREATE TABLE closings (
    z_number INTEGER PRIMARY KEY CHECK (z_number > 0),
    shift_number INTEGER NOT NULL UNIQUE REFERENCES shifts,
    closed_by TEXT NOT NULL REFERENCES people,
    closed_at_ms INTEGER NOT NULL,
    approved_by TEXT REFERENCES people,
    reason TEXT CHECK ((reason IS NULL) = (approved_by IS NULL)),
    -- sales behind this one came into the shift after its report
    last_sequence INTEGER NOT NULL,
    float_minor INTEGER NOT NULL,
    cash_sales_minor INTEGER NOT NULL,
    rounding_minor INTEGER NOT NULL CHECK (rounding_minor >= 0),
    pay_ins_minor INTEGER NOT NULL CHECK (pay_ins_minor >= 0),
    pay_outs_minor INTEGER NOT NULL CHECK (pay_outs_minor >= 0),
    refunds_minor INTEGER NOT NULL CHECK (refunds_minor >= 0),
    returned_count INTEGER NOT NULL CHECK (returned_count >= 0),
    returned_minor INTEGER NOT NULL CHECK (returned_minor >= 0),
    expected_minor INTEGER NOT NULL CHECK (expected_minor = float_minor + cash_sales_minor - rounding_minor
        + pay_ins_minor - pay_outs_minor - refunds_minor),
    counted_minor INTEGER NOT NULL CHECK (counted_minor >= 0)
) STRICT;

-- How many pieces of each coin and note were in the drawer.
CREATE TABLE closing_counts (
    z_number INTEGER NOT NULL REFERENCES closings,
    denomination_minor INTEGER NOT NULL CHECK (denomination_minor > 0),
    pieces INTEGER NOT NULL CHECK (pieces > 0),
    PRIMARY KEY (z_number, denomination_minor)
) STRICT, WITHOUT ROWID;

-- The report's sums: by where the sales were on their way, by tender, by hour, by route.
CREATE TABLE closing_tallies (
    z_number INTEGER NOT NULL REFERENCES closings,
    kind TEXT NOT NULL CHECK (kind IN ('state', 'tender', 'hour', 'route')),
    position INTEGER NOT NULL,
    -- as it was called then: a route may be renamed
    label TEXT NOT NULL,
    sales_count INTEGER NOT NULL CHECK (sales_count >= 0),
    amount_minor INTEGER NOT NULL,
    PRIMARY KEY (z_number, kind, position)
) STRICT, WITHOUT ROWID;

-- What YUPY had not settled then.
CREATE TABLE closing_unsettled (
    z_number INTEGER NOT NULL REFERENCES closings,
    sequence INTEGER NOT NULL REFERENCES sales,
    state TEXT NOT NULL,
    PRIMARY KEY (z_number, sequence)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER closings_are_frozen BEFORE UPDATE ON closings
BEGIN SELECT RAISE(ABORT, 'a closing is never changed'); END;
CREATE TRIGGER closings_are_kept BEFORE DELETE ON closings
BEGIN SELECT RAISE(ABORT, 'a closing is never deleted'); END;
CREATE TRIGGER closing_counts_are_frozen BEFORE UPDATE ON closing_counts
BEGIN SELECT RAISE(ABORT, 'a closing is never changed'); END;
CREATE TRIGGER closing_counts_are_kept BEFORE DELETE ON closing_counts
BEGIN SELECT RAISE(ABORT, 'a closing is never deleted'); END;
CREATE TRIGGER closing_tallies_are_frozen BEFORE UPDATE ON closing_tallies
BEGIN SELECT RAISE(ABORT, 'a closing is never changed'); END;
CREATE TRIGGER closing_tallies_are_kept BEFORE DELETE ON closing_tallies
BEGIN SELECT RAISE(ABORT, 'a closing is never deleted'); END;
CREATE TRIGGER closing_unsettled_are_frozen BEFORE UPDATE ON closing_unsettled
BEGIN SELECT RAISE(ABORT, 'a closing is never changed'); END;
CREATE TRIGGER closing_unsettled_are_kept BEFORE DELETE ON closing_unsettled
BEGIN SELECT RAISE(ABORT, 'a closing is never deleted'); END;
