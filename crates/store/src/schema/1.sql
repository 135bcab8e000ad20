-- Which plumb brought the file to which format.
CREATE TABLE migration (
    version INTEGER PRIMARY KEY,
    tool    TEXT NOT NULL
) STRICT;

-- One row for each run; `header` is the whole RunHeader, the other columns are what is searched by.
CREATE TABLE run (
    number   INTEGER PRIMARY KEY,
    id       TEXT    NOT NULL UNIQUE,
    scenario TEXT    NOT NULL,
    title    TEXT    NOT NULL,
    digest   TEXT    NOT NULL,
    started  INTEGER NOT NULL, -- milliseconds since 1970-01-01 UTC
    planned  INTEGER NOT NULL,
    complete INTEGER NOT NULL DEFAULT 0,
    header   TEXT    NOT NULL  -- JSON
) STRICT;
CREATE INDEX run_by_digest ON run (digest, started);

-- One row for each finished trial; `number` grows in the order in which they were made.
CREATE TABLE trial (
    number INTEGER PRIMARY KEY,
    run    INTEGER NOT NULL REFERENCES run (number) ON DELETE CASCADE,
    place  INTEGER NOT NULL, -- the trial's index in the plan
    cell   TEXT    NOT NULL,
    block  INTEGER NOT NULL,
    record TEXT    NOT NULL, -- JSON
    UNIQUE (run, place)
) STRICT;
CREATE INDEX trial_by_cell ON trial (run, cell, block);

-- Cells that could not be measured.
CREATE TABLE skipped (
    number  INTEGER PRIMARY KEY,
    run     INTEGER NOT NULL REFERENCES run (number) ON DELETE CASCADE,
    cell    TEXT    NOT NULL,
    because TEXT    NOT NULL,
    UNIQUE (run, cell)
) STRICT;
