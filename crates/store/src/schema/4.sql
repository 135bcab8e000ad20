-- The CRC-32 of a record's text, so that a digit that changed later is noticed; none of what earlier versions kept.
ALTER TABLE run ADD COLUMN checksum INTEGER;
ALTER TABLE trial ADD COLUMN checksum INTEGER;

-- Where a run went on on another machine; `record` is the whole MachineChange.
CREATE TABLE machine_change (
    number INTEGER PRIMARY KEY,
    run    INTEGER NOT NULL REFERENCES run (number) ON DELETE CASCADE,
    record TEXT    NOT NULL -- JSON
) STRICT;
CREATE INDEX machine_change_by_run ON machine_change (run);
