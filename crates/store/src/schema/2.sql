-- Why a cell got no more trials; `record` is the whole CellEnd.
CREATE TABLE ended (
    number INTEGER PRIMARY KEY,
    run    INTEGER NOT NULL REFERENCES run (number) ON DELETE CASCADE,
    cell   TEXT    NOT NULL,
    record TEXT    NOT NULL, -- JSON
    UNIQUE (run, cell)
) STRICT;

-- Runs that others are held against, by a name of the user's. Such a run cannot be removed.
CREATE TABLE baseline (
    name TEXT    PRIMARY KEY,
    run  INTEGER NOT NULL REFERENCES run (number)
) STRICT;
