-- Rows are numbered in the order they came, which is the order of entries in a cache file. Calls and
-- APIs are found by hashes, because an index cannot hold long arguments.
CREATE TABLE tool_replies (
    id       bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    call     bytea  NOT NULL UNIQUE,  -- hash of names and arguments
    api_hash bytea  NOT NULL,         -- hash of the names
    category text   NOT NULL,
    tool     text   NOT NULL,
    api      text   NOT NULL,
    key      bytea  NOT NULL,         -- the Python text of the arguments
    reply    bytea  NOT NULL,         -- JSON
    origin   text   NOT NULL,
    model    text,
    kept_at  bigint NOT NULL,
    hits     bigint NOT NULL DEFAULT 0
);
CREATE INDEX tool_replies_of_api ON tool_replies (api_hash, id);
