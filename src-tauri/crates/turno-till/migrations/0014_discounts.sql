-- What was taken off a sale's price, and why. The sale's amount is what is left.
CREATE TABLE sale_discounts (
    sequence INTEGER PRIMARY KEY REFERENCES sales,
    list_minor INTEGER NOT NULL CHECK (list_minor > discount_minor),
    discount_minor INTEGER NOT NULL CHECK (discount_minor > 0),
    reason TEXT NOT NULL CHECK (reason <> ''),
    -- beyond what a cashier gives alone
    approved_by TEXT REFERENCES people
) STRICT;

CREATE TRIGGER sale_discounts_are_frozen BEFORE UPDATE ON sale_discounts
BEGIN SELECT RAISE(ABORT, 'a discount is never changed'); END;
CREATE TRIGGER sale_discounts_are_kept BEFORE DELETE ON sale_discounts
BEGIN SELECT RAISE(ABORT, 'a discount is never deleted'); END;

ALTER TABLE closings ADD COLUMN discounts_count INTEGER NOT NULL DEFAULT 0 CHECK (discounts_count >= 0);
ALTER TABLE closings ADD COLUMN discounts_minor INTEGER NOT NULL DEFAULT 0 CHECK (discounts_minor >= 0);
