-- The pgndex database, version 6: a column of games is found without reading others on the way.

-- The same columns as before. The table had no row numbers, so SQLite compared whole rows to find one, of some 200 KB each.
CREATE TABLE new_game_column (
    name  TEXT NOT NULL,                        -- as before
    block INTEGER NOT NULL,
    cells TEXT NOT NULL,
    games BLOB NOT NULL,
    PRIMARY KEY (name, block)
);
INSERT INTO new_game_column SELECT name, block, cells, games FROM game_column ORDER BY block, name;
DROP TABLE game_column;
ALTER TABLE new_game_column RENAME TO game_column;
