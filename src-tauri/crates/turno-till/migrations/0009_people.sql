-- Somebody who works here no more. Never deleted: sales name them.
ALTER TABLE people ADD COLUMN retired_at_ms INTEGER;

-- How long nobody may try a PIN runs with the program, not with a clock that anybody can set (src/pins.rs).
ALTER TABLE people DROP COLUMN locked_until_ms;
