-- A sale that another till made belongs to no ticket, shift or person of this one.
ALTER TABLE sales ALTER COLUMN draft_id DROP NOT NULL;
ALTER TABLE sales ALTER COLUMN shift_number DROP NOT NULL;
ALTER TABLE sales ALTER COLUMN seller DROP NOT NULL;

CREATE TABLE imported_sales (
    sequence INTEGER PRIMARY KEY REFERENCES sales,
    -- where it was made, in the words of the till that made it
    device_id TEXT NOT NULL,
    shift_id TEXT NOT NULL,
    seller TEXT NOT NULL,
    imported_by TEXT NOT NULL REFERENCES people,
    imported_at_ms INTEGER NOT NULL
) STRICT;

CREATE TRIGGER imported_sales_are_frozen BEFORE UPDATE ON imported_sales
BEGIN SELECT RAISE(ABORT, 'where a sale was made is never changed'); END;
CREATE TRIGGER imported_sales_are_kept BEFORE DELETE ON imported_sales
BEGIN SELECT RAISE(ABORT, 'where a sale was made is never deleted'); END;

-- Since when another till may send it too, or may have: it is looked up at YUPY before it is sent.
ALTER TABLE outbox ADD COLUMN carried_at_ms INTEGER;
