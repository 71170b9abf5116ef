-- The printer of this till and what is to be printed by itself; no row until somebody sets it.
CREATE TABLE printer (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    device TEXT CHECK (device IN ('network', 'device_file', 'file')),
    -- a host with or without a port, or a path
    address TEXT CHECK ((address IS NULL) = (device IS NULL)),
    columns INTEGER NOT NULL CHECK (columns IN (32, 42, 48)),
    code_page TEXT NOT NULL,
    qr_by_printer INTEGER NOT NULL CHECK (qr_by_printer IN (0, 1)),
    cuts INTEGER NOT NULL CHECK (cuts IN (0, 1)),
    prints_tickets INTEGER NOT NULL CHECK (prints_tickets IN (0, 1)),
    opens_drawer INTEGER NOT NULL CHECK (opens_drawer IN (0, 1)),
    says_no_receipt INTEGER NOT NULL CHECK (says_no_receipt IN (0, 1)),
    footer_1 TEXT NOT NULL,
    footer_2 TEXT NOT NULL
) STRICT;

-- What was to be printed, in the order in which it was asked for. Where a sale is on its way to YUPY has nothing to do
-- with it.
CREATE TABLE print_jobs (
    job_id INTEGER PRIMARY KEY,
    kind TEXT NOT NULL CHECK (kind IN ('ticket', 'copy', 'test', 'drawer', 'report')),
    sequence INTEGER REFERENCES sales CHECK ((sequence IS NOT NULL) = (kind IN ('ticket', 'copy'))),
    -- 0 for an original
    copy_number INTEGER NOT NULL CHECK ((copy_number > 0) = (kind = 'copy')),
    -- as the catalog had it at the sale
    departs_at_ms INTEGER,
    -- a report as it is printed, in JSON
    document TEXT CHECK ((document IS NOT NULL) = (kind = 'report')),
    opens_drawer INTEGER NOT NULL CHECK (opens_drawer IN (0, 1)),
    -- who asked for it
    person_id TEXT NOT NULL REFERENCES people,
    state TEXT NOT NULL CHECK (state IN
        ('queued', 'printing', 'printed', 'failed', 'unknown', 'replaced', 'dismissed')),
    failure TEXT CHECK (failure IS NULL OR state IN ('failed', 'unknown', 'replaced', 'dismissed')),
    -- for support: what the system or the printer said
    detail TEXT,
    created_at_ms INTEGER NOT NULL,
    changed_at_ms INTEGER NOT NULL
) STRICT;

CREATE INDEX print_jobs_open ON print_jobs (state, job_id) WHERE state NOT IN ('printed', 'replaced', 'dismissed');
CREATE INDEX print_jobs_of_a_sale ON print_jobs (sequence, job_id) WHERE sequence IS NOT NULL;

CREATE TRIGGER print_jobs_are_kept BEFORE DELETE ON print_jobs
BEGIN SELECT RAISE(ABORT, 'a print job is never deleted'); END;
