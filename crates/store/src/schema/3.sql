-- Runs whose numbers are of other tools' logs: a list of runs need not read their headers, which may be long.
CREATE TABLE imported (
    run INTEGER PRIMARY KEY REFERENCES run (number) ON DELETE CASCADE
) STRICT;
INSERT INTO imported
    SELECT number FROM run WHERE CASE WHEN json_valid(header) THEN header ->> '$.origin.kind' END = 'imported';
