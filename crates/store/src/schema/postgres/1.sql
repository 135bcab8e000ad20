-- Which plumb brought the database to which format. The comment tells our tables from other programs'.
CREATE TABLE migration (
    version BIGINT PRIMARY KEY,
    tool    TEXT NOT NULL
);
COMMENT ON TABLE migration IS 'runs of plumb';

-- One row for each run; `header` is the whole RunHeader, the other columns are what is searched by. Texts are in the order of their
-- bytes, as SQLite has them. `checksum` is the CRC-32 of a record's text, here and below.
CREATE TABLE run (
    number   BIGINT  GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id       TEXT    COLLATE "C" NOT NULL UNIQUE,
    scenario TEXT    COLLATE "C" NOT NULL,
    title    TEXT    COLLATE "C" NOT NULL,
    digest   TEXT    COLLATE "C" NOT NULL,
    started  BIGINT  NOT NULL, -- milliseconds since 1970-01-01 UTC
    planned  BIGINT  NOT NULL,
    complete BOOLEAN NOT NULL DEFAULT FALSE,
    header   TEXT    NOT NULL, -- JSON
    checksum BIGINT
);
CREATE INDEX run_by_digest ON run (digest, started);

-- One row for each finished trial; `number` grows in the order in which those of a run were made.
CREATE TABLE trial (
    number   BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    run      BIGINT NOT NULL REFERENCES run (number) ON DELETE CASCADE,
    place    BIGINT NOT NULL, -- the trial's index in the plan
    cell     TEXT   COLLATE "C" NOT NULL,
    block    BIGINT NOT NULL,
    record   TEXT   NOT NULL, -- JSON
    checksum BIGINT,
    UNIQUE (run, place)
);
CREATE INDEX trial_by_cell ON trial (run, cell, block);
CREATE INDEX trial_by_number ON trial (run, number);

-- Cells that could not be measured.
CREATE TABLE skipped (
    number  BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    run     BIGINT NOT NULL REFERENCES run (number) ON DELETE CASCADE,
    cell    TEXT   COLLATE "C" NOT NULL,
    because TEXT   NOT NULL,
    UNIQUE (run, cell)
);

-- Why a cell got no more trials; `record` is the whole CellEnd.
CREATE TABLE ended (
    number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    run    BIGINT NOT NULL REFERENCES run (number) ON DELETE CASCADE,
    cell   TEXT   COLLATE "C" NOT NULL,
    record TEXT   NOT NULL, -- JSON
    UNIQUE (run, cell)
);

-- Runs that others are held against, by a name of the user's. Such a run cannot be removed.
CREATE TABLE baseline (
    name TEXT   COLLATE "C" PRIMARY KEY,
    run  BIGINT NOT NULL REFERENCES run (number)
);
CREATE INDEX baseline_by_run ON baseline (run);

-- Runs whose numbers are of other tools' logs: a list of runs need not read their headers, which may be long.
CREATE TABLE imported (
    run BIGINT PRIMARY KEY REFERENCES run (number) ON DELETE CASCADE
);

-- Where a run went on on another machine; `record` is the whole MachineChange.
CREATE TABLE machine_change (
    number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    run    BIGINT NOT NULL REFERENCES run (number) ON DELETE CASCADE,
    record TEXT   NOT NULL -- JSON
);
CREATE INDEX machine_change_by_run ON machine_change (run);
