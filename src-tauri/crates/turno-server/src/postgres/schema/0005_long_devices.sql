-- A text can be longer than an index can hold.
DROP INDEX sale_by_device;
CREATE INDEX sale_by_device ON sale (scope_id, device_id, arrival) WHERE octet_length(device_id) <= 512;
