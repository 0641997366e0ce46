-- Every statement that changes a run names its holder, so that a process whose lock ended with its
-- session changes nothing any more once another process has taken the run.
CREATE TABLE runs (
    name   text   PRIMARY KEY,
    holder bigint NOT NULL   -- goes up by one whenever a process takes the run
);

-- A file appears and is replaced at once: its pieces are there before its row says so.
CREATE TABLE run_files (
    run     text   NOT NULL REFERENCES runs ON DELETE CASCADE,
    file    text   NOT NULL,
    content bigint NOT NULL,  -- which pieces make up the file
    PRIMARY KEY (run, file)
);

-- A piece is a line of a file that grows, or a part of any other file.
CREATE TABLE run_pieces (
    run     text   NOT NULL REFERENCES runs ON DELETE CASCADE,
    file    text   NOT NULL,
    content bigint NOT NULL,
    piece   bigint NOT NULL,
    bytes   bytea  NOT NULL,
    PRIMARY KEY (run, file, content, piece)
);
