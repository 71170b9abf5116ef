-- A person switched sending off; it stays off until a person switches it on again.
ALTER TABLE installation ADD COLUMN sending_paused_at_ms INTEGER;

-- What YUPY's clock said in the answer, beside our own time: whoever doubts a time can compare both.
ALTER TABLE attempts ADD COLUMN yupy_at_ms INTEGER;
