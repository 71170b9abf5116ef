-- Sales from before names were folded, which are searched on their own. Empty in a database that began after that, and
-- there so that the planner finds them without reading all sales of one amount.
CREATE INDEX sale_not_folded ON sale (scope_id, amount_minor, occurred_at_ms)
    WHERE operational = 'active' AND buyer_name IS NOT NULL AND buyer_name_folded IS NULL;
