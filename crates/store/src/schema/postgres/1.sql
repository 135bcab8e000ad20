-- The formats of the database and the versions of plumb that created them. The comment identifies the tables as those of plumb.
CREATE TABLE migration (
    version BIGINT PRIMARY KEY,
    tool    TEXT NOT NULL
);
COMMENT ON TABLE migration IS 'runs of plumb';

-- A run. `header` is its RunHeader; the other columns are for searching. Texts are sorted by their bytes, as in SQLite.
-- `checksum` is the CRC-32 of the record's text, here and below.
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
    checksum BIGINT  NOT NULL
);
CREATE INDEX run_by_digest ON run (digest, started);

-- A finished trial. `number` is the order in which the trials of a run were run.
CREATE TABLE trial (
    number   BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    run      BIGINT NOT NULL REFERENCES run (number) ON DELETE CASCADE,
    place    BIGINT NOT NULL, -- the trial's index in the plan
    result   TEXT   COLLATE "C" NOT NULL,
    block    BIGINT NOT NULL,
    record   TEXT   NOT NULL, -- JSON
    checksum BIGINT NOT NULL,
    UNIQUE (run, place)
);
CREATE INDEX trial_by_result ON trial (run, result, block);
CREATE INDEX trial_by_number ON trial (run, number);

-- Results that could not be measured.
CREATE TABLE skipped (
    number  BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    run     BIGINT NOT NULL REFERENCES run (number) ON DELETE CASCADE,
    result  TEXT   COLLATE "C" NOT NULL,
    reason  TEXT   NOT NULL,
    UNIQUE (run, result)
);

-- Why measuring a result stopped. `record` is the ResultEnd.
CREATE TABLE ended (
    number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    run    BIGINT NOT NULL REFERENCES run (number) ON DELETE CASCADE,
    result TEXT   COLLATE "C" NOT NULL,
    record TEXT   NOT NULL, -- JSON
    UNIQUE (run, result)
);

-- Baselines by name. Their runs cannot be removed.
CREATE TABLE baseline (
    name TEXT   COLLATE "C" PRIMARY KEY,
    run  BIGINT NOT NULL REFERENCES run (number)
);
CREATE INDEX baseline_by_run ON baseline (run);

-- Imported runs, so that a list of runs does not read their long headers.
CREATE TABLE imported (
    run BIGINT PRIMARY KEY REFERENCES run (number) ON DELETE CASCADE
);

-- Changes of the machine on resuming a run. `record` is the MachineChange.
CREATE TABLE machine_change (
    number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    run    BIGINT NOT NULL REFERENCES run (number) ON DELETE CASCADE,
    record TEXT   NOT NULL -- JSON
);
CREATE INDEX machine_change_by_run ON machine_change (run);
