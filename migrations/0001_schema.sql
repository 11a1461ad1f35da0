-- The pgndex database, version 1.
--
-- One file holds every position and every move of every game. Any SQLite shell can read all of it; start with the
-- views `games`, `moves` and `positions` at the end. To find the games of a position:
--
--     SELECT g.* FROM position_game AS o
--     JOIN game_position AS p ON p.game_id = o.game_id AND p.ply = o.ply
--     JOIN games AS g ON g.game_id = o.game_id
--     WHERE o.key = 5060803636482931868 AND p.fen = 'rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -'
--     LIMIT 20;
--
-- The key is a hash. Two different positions can have the same one, so a look-up goes by key and then compares the FEN.

-- 'PGNx': marks the file as a database of this program (`PRAGMA application_id`, and `file` can show it).
PRAGMA application_id = 0x50474e78;

-- One run of `pgndex index`.
CREATE TABLE import (
    import_id       INTEGER PRIMARY KEY,
    started_at      TEXT NOT NULL,              -- UTC, YYYY-MM-DDTHH:MM:SSZ
    finished_at     TEXT,                       -- NULL while it runs, or if it did not finish
    program_version TEXT NOT NULL,
    options         TEXT NOT NULL,              -- a JSON object: what the run was asked to do
    games           INTEGER NOT NULL DEFAULT 0, -- totals of what this run added
    plies           INTEGER NOT NULL DEFAULT 0, -- moves played
    positions       INTEGER NOT NULL DEFAULT 0, -- rows of game_position: a game of n plies has n + 1
    distinct_positions INTEGER NOT NULL DEFAULT 0,
    problems        INTEGER NOT NULL DEFAULT 0,
    duplicates      INTEGER NOT NULL DEFAULT 0, -- games that were skipped as duplicates
    seconds         REAL                        -- wall time
);

-- One reading of an input file, 1, 2, 3 ... in input order. A file that grew and was read on has a row for each reading.
CREATE TABLE source (
    source_id  INTEGER PRIMARY KEY,
    path       TEXT NOT NULL,                   -- as it was given; 'a.zip/b.pgn' is a file in an archive, '-' standard input
    first_byte INTEGER NOT NULL DEFAULT 0,      -- where this reading began: all before was read by earlier ones
    bytes      INTEGER,                         -- size of the PGN text, decompressed, to its end
    digest     TEXT,                            -- BLAKE3 of all these bytes, in hexadecimal; of a damaged archive, of those
                                                -- that could be decoded; NULL: the file was not read to its end
    games      INTEGER NOT NULL DEFAULT 0,
    plies      INTEGER NOT NULL DEFAULT 0,
    problems   INTEGER NOT NULL DEFAULT 0,
    duplicates INTEGER NOT NULL DEFAULT 0,      -- games skipped as duplicates
    last_game  INTEGER,                         -- where the last game begins that was found, kept or not; NULL: none was
    import_id  INTEGER NOT NULL REFERENCES import,
    indexed_at TEXT                             -- UTC; NULL until all of the file is indexed, which a damaged one never is
);

-- Names, numbered 1, 2, 3 ... in order of first appearance. A name that the PGN does not know ('?') has no row.
CREATE TABLE player (
    player_id INTEGER PRIMARY KEY,
    name      TEXT NOT NULL
);

CREATE TABLE event (
    event_id INTEGER PRIMARY KEY,
    name     TEXT NOT NULL
);

CREATE TABLE site (
    site_id INTEGER PRIMARY KEY,
    name    TEXT NOT NULL
);

-- One game, numbered 1, 2, 3 ... in input order. NULL: the PGN does not say.
CREATE TABLE game (
    game_id      INTEGER PRIMARY KEY,
    source_id    INTEGER NOT NULL REFERENCES source,
    byte_offset  INTEGER NOT NULL,              -- its PGN text: `byte_length` bytes from here in its source, decompressed
    byte_length  INTEGER NOT NULL,
    event_id     INTEGER REFERENCES event,
    site_id      INTEGER REFERENCES site,
    date         TEXT,                          -- YYYY.MM.DD, unknown parts '??'
    round        TEXT,
    white_id     INTEGER REFERENCES player,
    black_id     INTEGER REFERENCES player,
    result       TEXT NOT NULL,                 -- '1-0', '0-1', '1/2-1/2', '*'
    white_elo    INTEGER,
    black_elo    INTEGER,
    white_title  TEXT,
    black_title  TEXT,
    eco          TEXT,                          -- as the PGN says
    opening_id   INTEGER REFERENCES opening,    -- of the last of its positions that has a name
    time_control TEXT,
    variant      TEXT,
    start_fen    TEXT,                          -- all six fields; NULL: the standard start position
    ply_count    INTEGER NOT NULL,              -- half-moves replayed
    status       TEXT NOT NULL,                 -- 'ok'; 'truncated' at the first illegal or unreadable move;
                                                -- 'skipped': unsupported variant or invalid start, no positions
    moves_hash   INTEGER NOT NULL,              -- equal games (same start, same moves) have equal hashes
    prefix_hash  INTEGER,                       -- of both players, date, start and the first 16 moves: a broken-off game
                                                -- and the whole one share it; NULL: fewer moves, or a player is unknown
    import_id    INTEGER NOT NULL REFERENCES import
);

-- The tag pairs that have no column of their own.
CREATE TABLE tag (
    game_id INTEGER NOT NULL REFERENCES game,
    name    TEXT NOT NULL,
    value   TEXT NOT NULL,
    PRIMARY KEY (game_id, name)
) WITHOUT ROWID;

-- One position of one game and the move played from it. Ply 0 is the start position; the last position of a game has no
-- move.
CREATE TABLE game_position (
    game_id        INTEGER NOT NULL REFERENCES game,
    ply            INTEGER NOT NULL,
    key            INTEGER NOT NULL,            -- Polyglot Zobrist key of `fen`, as a signed 64-bit integer
    halfmove_clock INTEGER NOT NULL,            -- half-moves since the last capture or pawn move
    move_code      INTEGER,                     -- the move's fields are shown by the view `moves`
    fen            TEXT NOT NULL,               -- placement, side, castling, en passant (only if such a capture is legal)
    PRIMARY KEY (game_id, ply)
) WITHOUT ROWID;

-- The same, to be found by position.
CREATE TABLE position_game (
    key     INTEGER NOT NULL,
    game_id INTEGER NOT NULL,
    ply     INTEGER NOT NULL,
    PRIMARY KEY (key, game_id, ply)
) WITHOUT ROWID;

-- A position that many games reached, with what came of them, so that nobody has to count a million rows of the start
-- position. "Many" is the value of the setting 'continuation_threshold'. A game counts once, however often it returned.
CREATE TABLE visited_position (
    key          INTEGER PRIMARY KEY,
    fen          TEXT NOT NULL,                 -- as in game_position
    games        INTEGER NOT NULL,              -- games with a result that reached it: white_wins + draws + black_wins
    white_wins   INTEGER NOT NULL,
    draws        INTEGER NOT NULL,
    black_wins   INTEGER NOT NULL,
    unfinished   INTEGER NOT NULL,              -- games that reached it and have the result '*': counted nowhere else
    elo_sum      INTEGER NOT NULL,              -- both players' ratings, of games in which both are known ...
    elo_games    INTEGER NOT NULL,              -- ... and how many these are: the mean is elo_sum / 2.0 / elo_games
    top_games    TEXT NOT NULL,                 -- a JSON array of up to 15 game_ids, by the players' mean rating, best first
    recent_games TEXT NOT NULL                  -- the same by date, latest first
);

-- What was played from a visited position. The last move counts of a game that returned to it.
CREATE TABLE continuation (
    key        INTEGER NOT NULL REFERENCES visited_position,
    move_code  INTEGER NOT NULL,
    games      INTEGER NOT NULL,                -- as in visited_position, of the games that went on with this move
    white_wins INTEGER NOT NULL,
    draws      INTEGER NOT NULL,
    black_wins INTEGER NOT NULL,
    elo_sum    INTEGER NOT NULL,
    elo_games  INTEGER NOT NULL,
    first_year INTEGER,                         -- of games whose year is known
    last_year  INTEGER,
    PRIMARY KEY (key, move_code)
) WITHOUT ROWID;

-- A named opening position.
CREATE TABLE opening (
    opening_id INTEGER PRIMARY KEY,
    eco        TEXT NOT NULL,                   -- 'B90'
    name       TEXT NOT NULL,                   -- 'Sicilian Defense: Najdorf Variation'
    key        INTEGER NOT NULL,
    fen        TEXT NOT NULL                    -- as in game_position
);

-- What the tables depend on, beside the input.
CREATE TABLE setting (
    name  TEXT PRIMARY KEY,
    value NOT NULL
) WITHOUT ROWID;

-- One thing found wrong in the input.
CREATE TABLE problem (
    problem_id  INTEGER PRIMARY KEY,
    source_id   INTEGER NOT NULL REFERENCES source,
    byte_offset INTEGER NOT NULL,               -- from the start of the source
    line        INTEGER NOT NULL,               -- from 1
    column_number INTEGER NOT NULL,             -- byte within the line, from 1
    game_number INTEGER,                        -- which game of the source, from 1; NULL outside any game
    game_id     INTEGER REFERENCES game,        -- NULL: the game was not kept
    ply         INTEGER,                        -- the ply that could not be played
    token       TEXT,                           -- the offending text
    kind        TEXT NOT NULL,                  -- a word such as 'illegal-move'
    severity    TEXT NOT NULL,                  -- 'warning': put right; 'error': something of a game was lost
    message     TEXT NOT NULL
);

-- A game that repeats another one: with the same moves, players, date and result ('same'), with the same moves ('moves'), with
-- the first moves of a longer game by the same players on the same date, as a broken-off transmission ('prefix'), or with what
-- there was of a game that was cut off at the end of its file then and has been read again whole since ('cut').
CREATE TABLE duplicate (
    source_id   INTEGER NOT NULL REFERENCES source,
    byte_offset INTEGER NOT NULL,               -- its PGN text: `byte_length` bytes from here in its source
    byte_length INTEGER NOT NULL,
    line        INTEGER,                        -- where it begins, from 1, and which game of the source it is, from 1;
    game_number INTEGER,                        -- NULL of a 'prefix'
    kind        TEXT NOT NULL,
    game_id     INTEGER REFERENCES game,        -- of a 'prefix', which is kept; NULL: the game was skipped
    original_id INTEGER REFERENCES game         -- the game that it repeats; NULL: of a 'cut', the whole one was left out
        DEFERRABLE INITIALLY DEFERRED,
    import_id   INTEGER NOT NULL REFERENCES import,
    PRIMARY KEY (source_id, byte_offset)
) WITHOUT ROWID;

CREATE INDEX duplicate_original ON duplicate (original_id);
CREATE UNIQUE INDEX player_name ON player (name);
CREATE UNIQUE INDEX event_name ON event (name);
CREATE UNIQUE INDEX site_name ON site (name);
CREATE INDEX game_white ON game (white_id);
CREATE INDEX game_black ON game (black_id);
CREATE INDEX game_event ON game (event_id);
CREATE INDEX game_date ON game (date);
CREATE INDEX game_eco ON game (eco);
CREATE INDEX game_opening ON game (opening_id);
CREATE INDEX opening_key ON opening (key);
CREATE INDEX game_moves_hash ON game (moves_hash, white_id);
CREATE INDEX game_prefix_hash ON game (prefix_hash);

-- One row per game, with names.
CREATE VIEW games AS
SELECT
    game.game_id,
    white.name AS white,
    black.name AS black,
    game.white_elo,
    game.black_elo,
    game.result,
    game.date,
    event.name AS event,
    site.name AS site,
    game.round,
    game.eco,
    opening.eco AS opening_eco,                 -- told from the positions, not from the PGN's tags
    opening.name AS opening,
    game.ply_count,
    game.white_title,
    game.black_title,
    game.time_control,
    game.variant,
    game.start_fen,
    game.status,
    source.path AS source,
    game.byte_offset,
    game.byte_length
FROM game
LEFT JOIN player AS white ON white.player_id = game.white_id
LEFT JOIN player AS black ON black.player_id = game.black_id
LEFT JOIN event ON event.event_id = game.event_id
LEFT JOIN site ON site.site_id = game.site_id
LEFT JOIN opening ON opening.opening_id = game.opening_id
LEFT JOIN source ON source.source_id = game.source_id;

-- One row per move played; quick when asked by game_id: SELECT * FROM moves WHERE game_id = 7.
--
-- A move code is a 32-bit number, from the lowest bit up: captured piece (4 bits), moved piece (4), TO square (8), FROM
-- square (8), SPECIAL (4), bit 28 gives check, bit 29 gives mate. A square is file + 16 * rank. SPECIAL is 1 and 2
-- castling short and long, 3 a reversible move, 4, 5 and 8 to 13 a promotion to that piece, 6 a pawn move, 7 a capture
-- by a piece, 14 a pawn's double step, 15 en passant. Pieces are even for White and odd for Black: pawn 2 3, knight 4 5,
-- king 6 7, bishop 8 9, rook 10 11, queen 12 13. A null move has code 0.
CREATE VIEW moves AS
SELECT
    game_id,
    ply,                                        -- of the position before the move: 0 for a game's first move
    move_number,
    side,                                       -- 'w' or 'b'
    fen || ' ' || halfmove_clock || ' ' || move_number AS fen, -- before the move, all six fields
    CASE
        WHEN move_code = 0 THEN '0000'
        ELSE from_square || to_square || ifnull(promotion, '')
    END AS uci,                                 -- castling: where the king goes from and to
    move_code,
    special,
    from_square,
    to_square,
    piece,                                      -- as in FEN: 'N' a white knight, 'n' a black one
    captured,                                   -- the same; NULL: no capture
    promotion,                                  -- 'q', 'r', 'b', 'n'; NULL: no promotion
    is_check,
    is_mate,
    key                                         -- of the position before the move
FROM (
    SELECT
        p.game_id,
        p.ply,
        p.key,
        p.fen,
        p.halfmove_clock,
        p.move_code,
        substr(p.fen, instr(p.fen, ' ') + 1, 1) AS side,
        -- The number at the end of the start FEN; Black's reply has the same number as White's move.
        CASE
            WHEN g.start_fen IS NULL THEN 1 + p.ply / 2
            ELSE substr(g.start_fen, length(rtrim(g.start_fen, '0123456789')) + 1)
                + (p.ply + (substr(g.start_fen, instr(g.start_fen, ' ') + 1, 1) = 'b')) / 2
        END AS move_number,
        p.move_code >> 24 & 15 AS special,
        CASE WHEN p.move_code <> 0
            THEN char(97 + (p.move_code >> 16 & 7), 49 + (p.move_code >> 20 & 7)) END AS from_square,
        CASE WHEN p.move_code <> 0
            THEN char(97 + (p.move_code >> 8 & 7), 49 + (p.move_code >> 12 & 7)) END AS to_square,
        nullif(substr('  PpNnKkBbRrQq', (p.move_code >> 4 & 15) + 1, 1), ' ') AS piece,
        nullif(substr('  PpNnKkBbRrQq', (p.move_code & 15) + 1, 1), ' ') AS captured,
        nullif(substr('    nn  bbrrqq  ', (p.move_code >> 24 & 15) + 1, 1), ' ') AS promotion,
        p.move_code >> 28 & 1 AS is_check,
        p.move_code >> 29 & 1 AS is_mate
    FROM game_position AS p
    LEFT JOIN game AS g ON g.game_id = p.game_id
    WHERE p.move_code IS NOT NULL
);

-- One row per distinct position; quick when asked by key: SELECT * FROM positions WHERE key = 5060803636482931868.
-- Two positions that share a key have a row each.
CREATE VIEW positions AS
SELECT
    key,
    fen,
    occurrences,
    first_occurrence >> 32 AS first_game_id,
    first_occurrence & 0xffffffff AS first_ply
FROM (
    SELECT
        o.key,
        p.fen,
        count(*) AS occurrences,
        min(o.game_id << 32 | o.ply) AS first_occurrence
    FROM position_game AS o
    JOIN game_position AS p ON p.game_id = o.game_id AND p.ply = o.ply
    GROUP BY o.key, p.fen
);
