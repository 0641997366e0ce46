-- Texts of replies are bytes, because text here cannot hold every character that a model may write.
CREATE TABLE replies (
    key           bytea   PRIMARY KEY,  -- hash of everything that decides the reply
    purpose       text    NOT NULL,     -- what the call was for
    model         text    NOT NULL,     -- provider/model
    reply         bytea   NOT NULL,
    declined      boolean NOT NULL,     -- whether the model will not answer; the reply says why
    input_tokens  bigint  NOT NULL,
    output_tokens bigint  NOT NULL,
    kept_at       bigint  NOT NULL      -- seconds since 1970
);

-- What was made of the replies for a whole question: saves looking each of them up.
CREATE TABLE judgements (
    key     bytea  PRIMARY KEY,  -- hash of the case and of everything that decides verdicts
    notes   bytea  NOT NULL,
    kept_at bigint NOT NULL
);
