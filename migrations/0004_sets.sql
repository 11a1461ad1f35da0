-- The pgndex database, version 4: columns and sets of games, so that questions with filters are answered without a look at each game.
--
-- Games are taken in blocks of 65,536 numbers: game g is number g % 65536 of block g / 65536.

-- A column of `game`, a block of games at a time.
CREATE TABLE game_column (
    name  TEXT NOT NULL,                        -- of the column
    block INTEGER NOT NULL,
    cells TEXT NOT NULL,                        -- the different values that games of the block have, a JSON array: null, then
                                                -- integers, then texts, each in ascending order
    games BLOB NOT NULL,                        -- of each number, from 0 to that of the last game, which of these values the game
                                                -- has, from 0: a byte each, or, if there are more than 256 values, two, the
                                                -- lower one first. Without bytes all are NULL, as is a number without a game
    PRIMARY KEY (name, block)
) WITHOUT ROWID;

-- The games of a block that reached a visited position, by what they played there. The last move counts of a game that returned to it.
CREATE TABLE visit_set (
    key   INTEGER NOT NULL REFERENCES visited_position,
    block INTEGER NOT NULL,
    games BLOB NOT NULL,                        -- for each move, in ascending order: the move in short, then the set of games
    PRIMARY KEY (key, block)
) WITHOUT ROWID;
