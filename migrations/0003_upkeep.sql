-- The pgndex database, version 3: games can be taken out again, and a player can have several names.

-- A game that was taken out. Its text is still in its source, of which it is `byte_length` bytes.
CREATE TABLE removed_game (
    source_id   INTEGER NOT NULL REFERENCES source,
    byte_offset INTEGER NOT NULL,
    byte_length INTEGER NOT NULL,
    PRIMARY KEY (source_id, byte_offset)
) WITHOUT ROWID;

-- Another spelling of a player's name. The games keep what the PGN says; look-ups and counts take both for one player.
CREATE TABLE player_alias (
    alias   TEXT PRIMARY KEY,                   -- as in player.name
    name    TEXT NOT NULL,                      -- the player's name, which is no alias itself
    fide_id INTEGER                             -- the player's number at FIDE; NULL: nobody said
) WITHOUT ROWID;

CREATE INDEX player_alias_name ON player_alias (name);

-- One row per player, whatever the spellings. A game in which both sides have a name of the same player counts once.
CREATE VIEW players AS
SELECT
    ifnull(alias.name, player.name) AS name,
    count(DISTINCT player.player_id) AS spellings, -- that games have
    count(DISTINCT game_id) AS games,
    sum(is_white) AS as_white,                  -- games with White
    sum(NOT is_white) AS as_black,
    min(year) AS first_year,                    -- of games whose year is known
    max(year) AS last_year,
    max(alias.fide_id) AS fide_id
FROM (
    SELECT
        game_id,
        white_id AS player_id,
        1 AS is_white,
        CASE WHEN date GLOB '[0-9][0-9][0-9][0-9]*' THEN CAST(substr(date, 1, 4) AS INTEGER) END AS year
    FROM game
    UNION ALL
    SELECT
        game_id,
        black_id,
        0,
        CASE WHEN date GLOB '[0-9][0-9][0-9][0-9]*' THEN CAST(substr(date, 1, 4) AS INTEGER) END
    FROM game
)
JOIN player USING (player_id)
LEFT JOIN player_alias AS alias ON alias.alias = player.name
GROUP BY 1;
