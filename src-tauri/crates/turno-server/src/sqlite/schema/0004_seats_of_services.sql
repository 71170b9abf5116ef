-- A seat is sold at the same price on every bus of an hour. With the service in the index, those on other buses are told
-- apart without reading their sales.
DROP INDEX sale_by_seat;
CREATE INDEX sale_by_seat ON sale (scope_id, seat, amount_minor, occurred_at_ms, service)
    WHERE operational = 'active' AND seat IS NOT NULL;
