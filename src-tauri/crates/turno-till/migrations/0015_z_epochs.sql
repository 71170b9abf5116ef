-- A till that was put back to a backup counts its closings from there: the letters of its numbers tell them from those
-- that it had closed since. Closings of before have none.
ALTER TABLE closings ADD COLUMN epoch TEXT;
