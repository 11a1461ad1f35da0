-- The pgndex database, version 5: what is added is written beside what is there, and seldom makes all of it be written anew.

-- Positions to be found by their keys, in levels. Games that are added get a level of their own; levels that came after it and are
-- not much smaller are merged into one. All games of a level have greater numbers than those of the level before.
CREATE TABLE occurrence_level (
    level INTEGER PRIMARY KEY                   -- the number of its first game
);

CREATE TABLE occurrence (
    level   INTEGER NOT NULL,                  -- as in occurrence_level
    key     INTEGER NOT NULL,                   -- as in game_position
    game_id INTEGER NOT NULL,
    ply     INTEGER NOT NULL,
    PRIMARY KEY (level, key, game_id, ply)
) WITHOUT ROWID;

INSERT INTO occurrence_level VALUES (1);
INSERT INTO occurrence SELECT 1, key, game_id, ply FROM position_game ORDER BY key, game_id, ply;

-- All levels together; quick when asked by key.
DROP VIEW positions;
DROP TABLE position_game;
CREATE VIEW position_game AS
SELECT o.key, o.game_id, o.ply
FROM occurrence_level AS l
CROSS JOIN occurrence AS o
WHERE o.level = l.level;

-- One row per distinct position; quick when asked by key: SELECT * FROM positions WHERE key = 5060803636482931868. Two positions that
-- share a key have a row each.
CREATE VIEW positions AS
SELECT
    o.key,
    p.fen,
    (
        SELECT count(*)
        FROM position_game AS other
        JOIN game_position AS q ON q.game_id = other.game_id AND q.ply = other.ply
        WHERE other.key = o.key AND q.fen = p.fen
    ) AS occurrences,
    o.game_id AS first_game_id,
    o.ply AS first_ply
FROM position_game AS o
JOIN game_position AS p ON p.game_id = o.game_id AND p.ply = o.ply
-- No earlier occurrence of the same key has the same position.
WHERE NOT EXISTS (
    SELECT 1
    FROM position_game AS other
    JOIN game_position AS q ON q.game_id = other.game_id AND q.ply = other.ply
    WHERE other.key = o.key
        AND (other.game_id < o.game_id OR other.game_id = o.game_id AND other.ply < o.ply)
        AND q.fen = p.fen
);
