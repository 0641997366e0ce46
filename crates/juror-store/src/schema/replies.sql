CREATE TABLE replies (
    id            INTEGER PRIMARY KEY,
    key           BLOB    NOT NULL UNIQUE,  -- hash of everything that decides the reply
    purpose       TEXT    NOT NULL,         -- what the call was for
    model         TEXT    NOT NULL,         -- provider/model
    reply         TEXT    NOT NULL,
    declined      INTEGER NOT NULL DEFAULT 0,  -- whether the model will not answer; the reply says why
    input_tokens  INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    kept_at       INTEGER NOT NULL          -- seconds since 1970
);

-- What was made of the replies for a whole question: saves looking each of them up.
CREATE TABLE judgements (
    id      INTEGER PRIMARY KEY,
    key     BLOB    NOT NULL UNIQUE,  -- hash of the case and of everything that decides verdicts
    notes   TEXT    NOT NULL,
    kept_at INTEGER NOT NULL
);
