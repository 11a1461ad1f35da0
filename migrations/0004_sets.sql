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

-- The games of a block that pass something at some time in what was played. They tell which games are worth looking at when a position
-- is described. Of a game that is in no set of kind 'game', nothing is known.
CREATE TABLE game_set (
    block INTEGER NOT NULL,
    kind  TEXT NOT NULL,                        -- what is passed; which, its value tells:
                                                -- 'game'      0: all games that the sets know
                                                -- 'material'  the pieces that are left: in hexadecimal digits White's queens,
                                                --             rooks, bishops, knights, Black's, White's pawns, Black's;
                                                --             printf('%010x', value) is 1222122288 at the start of a game
                                                -- 'pawns'     the first 12 bits of the exclusive or of the Polyglot constants
                                                --             of all pawns on their squares: several structures share one
                                                -- 'piece'     a piece on a square: 64 * (piece code - 2) + square,
                                                --             a1 is 0, b1 1, h8 63
                                                -- 'capture', 'check', 'mate'  the move of a piece to a square, numbered
                                                --             likewise, that captures, gives check or mate, gives mate
                                                -- 'promotion' to a piece on a square, likewise
                                                -- 'castling'  0 White's O-O, 1 White's O-O-O, 2 and 3 Black's
    value INTEGER NOT NULL,                     -- the first value of the row
    sets  BLOB NOT NULL,                        -- for each value that a game passes, in ascending order: by how much it is
                                                -- greater than the one before, the first than `value`; how many bytes the set
                                                -- has; the set. A set is: how many games, doubled, and 1 more if they are a bit
                                                -- map; then the first number, and of each further one by how much it is greater
                                                -- than the one before, less 1; or how many bytes the bit map has, and these.
                                                -- Numbers are written seven bits a byte, the lowest first; all bytes but the
                                                -- last have the top bit set
    PRIMARY KEY (block, kind, value)
) WITHOUT ROWID;
