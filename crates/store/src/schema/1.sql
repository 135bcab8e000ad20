-- The formats of the database and the versions of plumb that created them.
CREATE TABLE migration (
    version INTEGER PRIMARY KEY,
    tool    TEXT NOT NULL
) STRICT;

-- A run. `header` is its RunHeader; the other columns are for searching. `checksum` is the CRC-32 of the record's text, here and below.
CREATE TABLE run (
    number   INTEGER PRIMARY KEY,
    id       TEXT    NOT NULL UNIQUE,
    scenario TEXT    NOT NULL,
    title    TEXT    NOT NULL,
    digest   TEXT    NOT NULL,
    started  INTEGER NOT NULL, -- milliseconds since 1970-01-01 UTC
    planned  INTEGER NOT NULL,
    complete INTEGER NOT NULL DEFAULT 0,
    header   TEXT    NOT NULL, -- JSON
    checksum INTEGER NOT NULL
) STRICT;
CREATE INDEX run_by_digest ON run (digest, started);

-- A finished trial. `number` is the order in which the trials were run.
CREATE TABLE trial (
    number   INTEGER PRIMARY KEY,
    run      INTEGER NOT NULL REFERENCES run (number) ON DELETE CASCADE,
    place    INTEGER NOT NULL, -- the trial's index in the plan
    result   TEXT    NOT NULL,
    block    INTEGER NOT NULL,
    record   TEXT    NOT NULL, -- JSON
    checksum INTEGER NOT NULL,
    UNIQUE (run, place)
) STRICT;
CREATE INDEX trial_by_result ON trial (run, result, block);

-- Results that could not be measured.
CREATE TABLE skipped (
    number INTEGER PRIMARY KEY,
    run    INTEGER NOT NULL REFERENCES run (number) ON DELETE CASCADE,
    result TEXT    NOT NULL,
    reason TEXT    NOT NULL,
    UNIQUE (run, result)
) STRICT;

-- Why measuring a result stopped. `record` is the ResultEnd.
CREATE TABLE ended (
    number INTEGER PRIMARY KEY,
    run    INTEGER NOT NULL REFERENCES run (number) ON DELETE CASCADE,
    result TEXT    NOT NULL,
    record TEXT    NOT NULL, -- JSON
    UNIQUE (run, result)
) STRICT;

-- Baselines by name. Their runs cannot be removed.
CREATE TABLE baseline (
    name TEXT    PRIMARY KEY,
    run  INTEGER NOT NULL REFERENCES run (number)
) STRICT;

-- Imported runs, so that a list of runs does not read their long headers.
CREATE TABLE imported (
    run INTEGER PRIMARY KEY REFERENCES run (number) ON DELETE CASCADE
) STRICT;

-- Changes of the machine on resuming a run. `record` is the MachineChange.
CREATE TABLE machine_change (
    number INTEGER PRIMARY KEY,
    run    INTEGER NOT NULL REFERENCES run (number) ON DELETE CASCADE,
    record TEXT    NOT NULL -- JSON
) STRICT;
CREATE INDEX machine_change_by_run ON machine_change (run);
