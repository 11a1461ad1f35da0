-- Version 4: sets of games.

-- The games that pass something at some time in what was played: of a block of 65,536 numbers, game g being number g % 65536 of block
-- g / 65536. They tell which games are worth looking at when a position is described. Of a game that is in no set of kind 'game',
-- nothing is known.
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
