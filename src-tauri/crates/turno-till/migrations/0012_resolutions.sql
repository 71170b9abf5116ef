-- Who answered a question may be on another till, where no person of this one is to be named. A check cannot be changed
-- in place. The self-reference follows the table's name.
CREATE TABLE questions_with_elsewhere (
    challenge_id TEXT PRIMARY KEY,
    sequence INTEGER NOT NULL REFERENCES sales,
    token TEXT NOT NULL,
    expires_at TEXT NOT NULL,
    candidate TEXT NOT NULL,
    candidate_transaction_id TEXT NOT NULL,
    candidates_count INTEGER NOT NULL,
    matching_signals TEXT NOT NULL,
    previous_confirmation TEXT,
    asked_at_ms INTEGER NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('open', 'decided', 'superseded')),
    decision TEXT CHECK (decision IN ('different_sale', 'same_sale')),
    -- one of them: a person of this till, or the name that YUPY gave
    decided_by TEXT REFERENCES people,
    decided_elsewhere_by TEXT CHECK (decided_elsewhere_by <> ''),
    decided_at_ms INTEGER,
    reason TEXT,
    money TEXT CHECK (money IN ('refunded', 'not_collected')),
    -- the earlier question whose decision was carried over, once, to this one
    honours TEXT REFERENCES questions_with_elsewhere,
    -- YUPY did not take the confirmation: the decision stands for no other question
    is_refused INTEGER NOT NULL DEFAULT 0 CHECK (is_refused IN (0, 1)),
    CHECK ((state = 'decided') = (decision IS NOT NULL)),
    CHECK ((decision IS NOT NULL) = ((decided_by IS NOT NULL) + (decided_elsewhere_by IS NOT NULL) = 1))
) STRICT;
INSERT INTO questions_with_elsewhere (rowid, challenge_id, sequence, token, expires_at, candidate,
        candidate_transaction_id, candidates_count, matching_signals, previous_confirmation, asked_at_ms, state,
        decision, decided_by, decided_at_ms, reason, money, honours)
    SELECT rowid, challenge_id, sequence, token, expires_at, candidate, candidate_transaction_id, candidates_count,
           matching_signals, previous_confirmation, asked_at_ms, state, decision, decided_by, decided_at_ms, reason,
           money, honours FROM questions ORDER BY rowid;
DROP TABLE questions;
ALTER TABLE questions_with_elsewhere RENAME TO questions;
CREATE UNIQUE INDEX one_open_question ON questions (sequence) WHERE state = 'open';
CREATE INDEX questions_of_a_sale ON questions (sequence);

-- What somebody on another till, or at a desk, said to a question of this one: a fact, learnt from YUPY.
CREATE TABLE decisions_elsewhere (
    challenge_id TEXT PRIMARY KEY REFERENCES questions,
    sequence INTEGER NOT NULL REFERENCES sales,
    decision TEXT NOT NULL CHECK (decision IN ('different_sale', 'same_sale')),
    -- the name that YUPY gave
    decided_by TEXT NOT NULL,
    reason TEXT,
    decided_at_ms INTEGER,
    learnt_at_ms INTEGER NOT NULL
) STRICT;

CREATE INDEX decisions_elsewhere_of_a_sale ON decisions_elsewhere (sequence);

CREATE TRIGGER decisions_elsewhere_are_frozen BEFORE UPDATE ON decisions_elsewhere
BEGIN SELECT RAISE(ABORT, 'what somebody decided is never changed'); END;
CREATE TRIGGER decisions_elsewhere_are_kept BEFORE DELETE ON decisions_elsewhere
BEGIN SELECT RAISE(ABORT, 'what somebody decided is never deleted'); END;

-- A decision that YUPY is told of. The first part is a fact and stays; the second is how far YUPY knows it.
CREATE TABLE resolutions (
    resolution_id INTEGER PRIMARY KEY,
    challenge_id TEXT NOT NULL,
    -- the sale that was discarded; null: the question is another till's, and its sale is there
    sequence INTEGER REFERENCES sales,
    external_transaction_id TEXT NOT NULL,
    decision TEXT NOT NULL CHECK (decision IN ('different_sale', 'same_sale')),
    decided_by TEXT NOT NULL REFERENCES people,
    reason TEXT NOT NULL CHECK (reason <> ''),
    decided_at_ms INTEGER NOT NULL,
    body BLOB NOT NULL,
    body_sha256 BLOB NOT NULL CHECK (length(body_sha256) = 32),

    state TEXT NOT NULL CHECK (state IN
        ('queued', 'sending', 'told', 'taken_back', 'closed', 'needs_attention', 'acknowledged')),
    attempts INTEGER NOT NULL CHECK (attempts >= 0),
    due_at_ms INTEGER CHECK ((due_at_ms IS NOT NULL) = (state = 'queued')),
    -- YUPY may know it although nobody told us
    outcome_unknown INTEGER NOT NULL CHECK (outcome_unknown IN (0, 1)),
    trouble TEXT,
    -- who decided otherwise, or YUPY's code for support
    detail TEXT,
    changed_at_ms INTEGER NOT NULL,
    -- One's own sale that is another one is confirmed, not told of.
    CHECK (sequence IS NULL OR decision = 'same_sale')
) STRICT;

CREATE UNIQUE INDEX one_resolution ON resolutions (challenge_id) WHERE state <> 'taken_back';
CREATE UNIQUE INDEX one_resolution_of_a_sale ON resolutions (sequence)
    WHERE sequence IS NOT NULL AND state <> 'taken_back';
CREATE INDEX resolutions_due ON resolutions (due_at_ms) WHERE due_at_ms IS NOT NULL;
CREATE INDEX resolutions_unsettled ON resolutions (sequence)
    WHERE state IN ('queued', 'sending', 'needs_attention');

CREATE TRIGGER resolutions_are_frozen BEFORE UPDATE OF challenge_id, sequence, external_transaction_id, decision,
    decided_by, reason, decided_at_ms, body, body_sha256 ON resolutions
BEGIN SELECT RAISE(ABORT, 'a decision is never changed'); END;
CREATE TRIGGER resolutions_are_kept BEFORE DELETE ON resolutions
BEGIN SELECT RAISE(ABORT, 'a decision is never deleted'); END;

-- One row per decision that was about to leave; written before its first byte did.
CREATE TABLE resolution_attempts (
    attempt_id INTEGER PRIMARY KEY,
    resolution_id INTEGER NOT NULL REFERENCES resolutions,
    started_at_ms INTEGER NOT NULL,
    finished_at_ms INTEGER,
    -- null until the answer is known, or for ever when the program stopped in between
    outcome TEXT,
    status INTEGER,
    yupy_request_id TEXT
) STRICT;

CREATE INDEX attempts_of_a_resolution ON resolution_attempts (resolution_id);
