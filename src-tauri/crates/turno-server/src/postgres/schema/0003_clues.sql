-- Look-alikes are searched by the fields that may identify a sale, so that what a search costs does not grow with the
-- number of equal fares. These are the fields that identify unless an integration chooses others, which are searched
-- among the sales of one amount. A text of more than 512 bytes could be more than an index can hold, and is searched so
-- as well.

-- Folded as names are compared. Absent on sales from before this step: those are compared one by one.
ALTER TABLE sale ADD COLUMN buyer_name_folded TEXT;

CREATE INDEX sale_by_buyer ON sale (scope_id, buyer_name_folded, amount_minor, occurred_at_ms)
    WHERE operational = 'active' AND buyer_name IS NOT NULL AND octet_length(buyer_name_folded) <= 512;

CREATE INDEX sale_by_seat ON sale (scope_id, seat, amount_minor, occurred_at_ms)
    WHERE operational = 'active' AND octet_length(seat) <= 512;

CREATE INDEX sale_by_order ON sale (scope_id, "order", amount_minor, occurred_at_ms)
    WHERE operational = 'active' AND octet_length("order") <= 512;

CREATE INDEX sale_by_custom_reference_2 ON sale (scope_id, custom_reference_2, amount_minor, occurred_at_ms)
    WHERE operational = 'active' AND octet_length(custom_reference_2) <= 512;
