CREATE TABLE apis (
    id INTEGER PRIMARY KEY,
    category TEXT NOT NULL,
    tool TEXT NOT NULL,
    api TEXT NOT NULL,
    UNIQUE (category, tool, api)
);
-- `key` is the Python text of the arguments; `reply` is JSON. Rows are numbered in the order they
-- came, which is the order of entries in a cache file.
CREATE TABLE tool_replies (
    id INTEGER PRIMARY KEY,
    api_id INTEGER NOT NULL REFERENCES apis (id),
    key TEXT NOT NULL,
    reply TEXT NOT NULL,
    origin TEXT NOT NULL,
    model TEXT,
    kept_at INTEGER NOT NULL,
    hits INTEGER NOT NULL DEFAULT 0,
    UNIQUE (api_id, key)
);
