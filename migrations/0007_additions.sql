-- The pgndex database, version 7: what is added stands together, and need not be looked for in levels that stay as they are.

-- The keys that many rows of the level have, and how many: src/store/frequent_keys.rs tells the bytes. NULL: nobody counted them.
ALTER TABLE occurrence_level ADD COLUMN frequent_keys BLOB;

-- The same rows as before. They stood by key, then block: those of new games belonged to all pages.
CREATE TABLE new_visit_set (
    block INTEGER NOT NULL,                     -- as before
    key   INTEGER NOT NULL REFERENCES visited_position,
    games BLOB NOT NULL,
    PRIMARY KEY (block, key)
) WITHOUT ROWID;
INSERT INTO new_visit_set SELECT block, key, games FROM visit_set ORDER BY block, key;
DROP TABLE visit_set;
ALTER TABLE new_visit_set RENAME TO visit_set;
