-- The pgndex database, schema version 1.
--
-- One file holds every position and every move of every game. Any SQLite shell from 3.37 on can read all of it: start with the views
-- `games`, `moves` and `positions` at the end. To find the games that reached a position:
--
--     SELECT g.* FROM position_game AS o
--     JOIN game_position AS p ON p.game_id = o.game_id AND p.ply = o.ply
--     JOIN games AS g ON g.game_id = o.game_id
--     WHERE o.key = 5060803636482931868 AND p.fen = 'rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -'
--     LIMIT 20;
--
-- The key is a hash: two positions can have the same key. So look up the key first, then compare the FEN.

-- 'PGNd' marks the file as a pgndex database (`PRAGMA application_id`).
PRAGMA application_id = 0x50474e64;

-- -------- Runs and input files --------------------------------------------------------------------------------------------------

-- One run of `pgndex index`.
CREATE TABLE import (
    import_id       INTEGER PRIMARY KEY,
    started_at      TEXT NOT NULL,              -- UTC, YYYY-MM-DDTHH:MM:SSZ
    finished_at     TEXT,                       -- NULL: the run is not finished, or was interrupted
    program_version TEXT NOT NULL,
    options         TEXT NOT NULL,              -- a JSON object: the options of the run
    games           INTEGER NOT NULL DEFAULT 0, -- games that this run added, without those removed since
    plies           INTEGER NOT NULL DEFAULT 0, -- moves played
    positions       INTEGER NOT NULL DEFAULT 0, -- rows of game_position: a game of n plies has n + 1
    distinct_positions INTEGER NOT NULL DEFAULT 0,
    problems        INTEGER NOT NULL DEFAULT 0,
    duplicates      INTEGER NOT NULL DEFAULT 0, -- games skipped as duplicates
    seconds         REAL,                       -- wall time
    CHECK (games >= 0),
    CHECK (plies >= 0),
    CHECK (positions >= 0),
    CHECK (distinct_positions >= 0),
    CHECK (problems >= 0),
    CHECK (duplicates >= 0),
    CHECK (seconds >= 0)
) STRICT;

-- One reading of an input file, numbered 1, 2, 3 ... in input order. A file that grew between runs has one row per reading.
CREATE TABLE source (
    source_id  INTEGER PRIMARY KEY,
    path       ANY NOT NULL,                    -- as given; 'a.zip/b.pgn' is a file in an archive, '-' is standard input
    first_byte INTEGER NOT NULL DEFAULT 0,      -- where this reading began; earlier readings cover the bytes before it
    bytes      INTEGER,                         -- size of the whole PGN text, decompressed
    digest     TEXT,                            -- BLAKE3 of these bytes, in hexadecimal; for a damaged archive, of the bytes
                                                -- that could be decoded; NULL: the file was not read to its end
    games      INTEGER NOT NULL DEFAULT 0,
    plies      INTEGER NOT NULL DEFAULT 0,
    problems   INTEGER NOT NULL DEFAULT 0,
    duplicates INTEGER NOT NULL DEFAULT 0,      -- games skipped as duplicates
    last_game  INTEGER,                         -- byte at which the last game found begins, kept or not; NULL: no game was found
    import_id  INTEGER NOT NULL REFERENCES import,
    indexed_at TEXT,                            -- UTC; NULL: not completely indexed (a damaged file never is)
    CHECK (first_byte >= 0),
    CHECK (bytes >= 0),
    CHECK (games >= 0),
    CHECK (plies >= 0),
    CHECK (problems >= 0),
    CHECK (duplicates >= 0),
    CHECK (last_game >= 0)
) STRICT;

-- A removed game. Its text, `byte_length` bytes, is still in its source.
CREATE TABLE removed_game (
    source_id   INTEGER NOT NULL REFERENCES source,
    byte_offset INTEGER NOT NULL,
    byte_length INTEGER NOT NULL,
    CHECK (byte_offset >= 0),
    CHECK (byte_length >= 0),
    PRIMARY KEY (source_id, byte_offset)
) WITHOUT ROWID, STRICT;

-- One problem found in the input.
CREATE TABLE problem (
    problem_id  INTEGER PRIMARY KEY,
    source_id   INTEGER NOT NULL REFERENCES source,
    byte_offset INTEGER NOT NULL,               -- from the start of the source
    line        INTEGER NOT NULL,               -- from 1
    column_number INTEGER NOT NULL,             -- byte within the line, from 1
    game_number INTEGER,                        -- number of the game in the source, from 1; NULL: outside any game
    game_id     INTEGER REFERENCES game,        -- NULL: the game was not kept
    ply         INTEGER,                        -- the ply that could not be played, or at which the problem was found
    token       TEXT,                           -- the offending text
    kind        TEXT NOT NULL,                  -- a word such as 'illegal-move'
    severity    TEXT NOT NULL,                  -- 'warning': tolerated or corrected; 'error': part of a game or of
                                                -- the source was lost, or the source has no games
    message     TEXT NOT NULL,
    CHECK (byte_offset >= 0),
    CHECK (line > 0),
    CHECK (column_number > 0),
    CHECK (game_number > 0),
    CHECK (severity IN ('warning', 'error'))
) STRICT;

-- A game that repeats another one: with the same moves, players, date and result ('same'); with the same moves ('moves'); with the
-- first moves of a longer game by the same players on the same date, as after a broken-off broadcast ('prefix'); or a skipped copy of
-- another game, which itself was cut off at the end of its file and was read completely later ('cut').
CREATE TABLE duplicate (
    source_id   INTEGER NOT NULL REFERENCES source,
    byte_offset INTEGER NOT NULL,               -- its PGN text: `byte_length` bytes from here in its source
    byte_length INTEGER NOT NULL,
    line        INTEGER,                        -- where it begins, from 1; NULL: a 'prefix'
    game_number INTEGER,                        -- number of the game in the source, from 1; NULL: a 'prefix'
    kind        TEXT NOT NULL,
    game_id     INTEGER REFERENCES game,        -- the game itself if it is a 'prefix', which is kept; NULL: the game was skipped
    original_id INTEGER REFERENCES game         -- the game that it repeats; NULL: that game was removed, or the whole game
                                                -- of a 'cut' was not kept
        DEFERRABLE INITIALLY DEFERRED,
    import_id   INTEGER NOT NULL REFERENCES import,
    CHECK (kind IN ('same', 'moves', 'prefix', 'cut')),
    PRIMARY KEY (source_id, byte_offset)
) WITHOUT ROWID, STRICT;

CREATE INDEX duplicate_original ON duplicate (original_id);

-- Options that the contents of the tables depend on, with their values. Once games were removed, there are two more rows: 'removed_games',
-- the number of removed games, and 'last_game', the greatest game_id of a removed game. Once a growing file was read again from the middle
-- of a game, there can be a row 'last_game' only.
CREATE TABLE setting (
    name  TEXT PRIMARY KEY,
    value ANY NOT NULL,
    CHECK (name NOT IN ('last_game', 'removed_games') OR typeof(value) = 'integer' AND value BETWEEN 0 AND 4294967295)
) WITHOUT ROWID, STRICT;

-- -------- Games -----------------------------------------------------------------------------------------------------------------

-- Players' names, numbered 1, 2, 3 ... in order of first appearance. A name that the PGN does not give ('?') has no row.
CREATE TABLE player (
    player_id INTEGER PRIMARY KEY,
    name      TEXT NOT NULL
) STRICT;

-- Names of events, numbered like players.
CREATE TABLE event (
    event_id INTEGER PRIMARY KEY,
    name     TEXT NOT NULL
) STRICT;

-- Names of sites, numbered like players.
CREATE TABLE site (
    site_id INTEGER PRIMARY KEY,
    name    TEXT NOT NULL
) STRICT;

CREATE UNIQUE INDEX player_name ON player (name);
CREATE UNIQUE INDEX event_name ON event (name);
CREATE UNIQUE INDEX site_name ON site (name);

-- Another spelling of a player's name. Games keep what the PGN says; look-ups and counts treat both names as one player.
CREATE TABLE player_alias (
    alias   TEXT PRIMARY KEY,                   -- as in player.name
    name    TEXT NOT NULL,                      -- the player's main name, which is not itself an alias
    fide_id INTEGER,                            -- the player's FIDE ID; NULL: unknown
    CHECK (fide_id BETWEEN 1 AND 4294967295)
) WITHOUT ROWID, STRICT;

CREATE INDEX player_alias_name ON player_alias (name);

-- A named opening position.
CREATE TABLE opening (
    opening_id INTEGER PRIMARY KEY,
    eco        TEXT NOT NULL,                   -- 'B90'
    name       TEXT NOT NULL,                   -- 'Sicilian Defense: Najdorf Variation'
    key        INTEGER NOT NULL,
    fen        TEXT NOT NULL                    -- as in game_position
) STRICT;

CREATE INDEX opening_key ON opening (key);

-- One game, numbered 1, 2, 3 ... in input order. NULL: the PGN does not give the value.
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
    opening_id   INTEGER REFERENCES opening,    -- opening of its last position that has a name
    time_control TEXT,
    variant      TEXT,
    start_fen    TEXT,                          -- all six FEN fields; NULL: the standard start position
    ply_count    INTEGER NOT NULL,              -- half-moves replayed
    status       TEXT NOT NULL,                 -- 'ok'; 'truncated' at the first illegal or unreadable move;
                                                -- 'skipped': unsupported variant or invalid start, no positions
    moves_hash   INTEGER NOT NULL,              -- hash of the start position and the moves: equal if both are equal
    prefix_hash  INTEGER,                       -- hash of both players, date, start and the first 16 moves: a broken-off game
                                                -- and the whole game share it; NULL: fewer moves, or a player is unknown
    import_id    INTEGER NOT NULL REFERENCES import,
    -- From tags, which are also in `tag`.
    lichess_id   TEXT,                          -- 'q7ZvsdUF': the game is at https://lichess.org/q7ZvsdUF
    started_at   TEXT,                          -- UTC, YYYY-MM-DDTHH:MM:SSZ, from the tags UTCDate and UTCTime
    time_initial INTEGER,                       -- seconds on each clock at the start, from the tag TimeControl; the first
                                                -- period, if there are several
    time_increment INTEGER,                     -- seconds added for each move, rounded
    time_increment_cs INTEGER,                  -- the same in centiseconds: 10 for '10+0.1'
    speed        TEXT,                          -- 'ultraBullet', 'bullet', 'blitz', 'rapid', 'classical':
                                                -- initial + 40 * increment is below 30, 180, 480, 1500 seconds, or
                                                -- more; 'correspondence': an hour or more for each move
    termination  TEXT,                          -- how the game ended: 'Normal', 'Time forfeit' ...
    white_rating_diff INTEGER,                  -- change of White's rating by this game
    black_rating_diff INTEGER,
    white_fide_id INTEGER,
    black_fide_id INTEGER,
    eval_count   INTEGER,                       -- rows of move_eval with an evaluation; NULL: annotations were not read
    clock_count  INTEGER,                       -- rows of move_eval with a clock
    CHECK (game_id BETWEEN 1 AND 4294967295),
    CHECK (result IN ('1-0', '0-1', '1/2-1/2', '*')),
    CHECK (white_elo BETWEEN 0 AND 65535),
    CHECK (black_elo BETWEEN 0 AND 65535),
    CHECK (byte_offset >= 0),
    CHECK (byte_length >= 0),
    CHECK (ply_count BETWEEN 0 AND 4294967295),
    CHECK (time_initial BETWEEN 0 AND 4294967295),
    CHECK (time_increment BETWEEN 0 AND 4294967295),
    CHECK (time_increment_cs BETWEEN 0 AND 4294967295),
    CHECK (white_fide_id BETWEEN 0 AND 4294967295),
    CHECK (black_fide_id BETWEEN 0 AND 4294967295),
    CHECK (eval_count BETWEEN 0 AND 4294967295),
    CHECK (clock_count BETWEEN 0 AND 4294967295),
    CHECK (white_rating_diff BETWEEN -2147483648 AND 2147483647),
    CHECK (black_rating_diff BETWEEN -2147483648 AND 2147483647),
    CHECK (status IN ('ok', 'truncated', 'skipped'))
) STRICT;

-- Each index begins with the block of a game, so that adding games changes only the end of the index. `WHERE white_id = 7` still uses
-- the index: `sqlite_stat1` says that there are few blocks, so SQLite looks the value up in each of them
-- (https://www.sqlite.org/optoverview.html, "Skip-scan"). Blocks of hashes are larger, because an import looks each new game up in all of them.
CREATE INDEX game_white ON game (game_id >> 16, white_id);
CREATE INDEX game_black ON game (game_id >> 16, black_id);
CREATE INDEX game_event ON game (game_id >> 16, event_id);
CREATE INDEX game_date ON game (game_id >> 16, date);
CREATE INDEX game_eco ON game (game_id >> 16, eco);
CREATE INDEX game_opening ON game (game_id >> 16, opening_id);
CREATE INDEX game_moves_hash ON game (game_id >> 18, moves_hash, white_id);
CREATE INDEX game_prefix_hash ON game (game_id >> 18, prefix_hash);

-- Creates `sqlite_stat1`; CREATE TABLE cannot. The program fills it.
ANALYZE setting;

-- The tag pairs that have no column of their own.
CREATE TABLE tag (
    game_id INTEGER NOT NULL REFERENCES game,
    name    TEXT NOT NULL COLLATE NOCASE,
    value   TEXT NOT NULL,
    PRIMARY KEY (game_id, name)
) WITHOUT ROWID, STRICT;

-- -------- Positions and moves ---------------------------------------------------------------------------------------------------

-- One position of one game and the move played from it. Ply 0 is the start position; the last position of a game has no
-- move.
CREATE TABLE game_position (
    game_id        INTEGER NOT NULL REFERENCES game,
    ply            INTEGER NOT NULL,
    key            INTEGER NOT NULL,            -- Polyglot Zobrist key of `fen`, as a signed 64-bit integer
    halfmove_clock INTEGER NOT NULL,            -- half-moves since the last capture or pawn move
    move_code      INTEGER,                     -- the view `moves` decodes it; NULL: the last position of the game
    fen            TEXT NOT NULL,               -- placement, side, castling, en passant (only if an en passant capture is legal)
    CHECK (ply >= 0),
    PRIMARY KEY (game_id, ply)
) WITHOUT ROWID, STRICT;

-- The moves of each game in a compact database, which computes `game_position` from them; empty in other databases.
CREATE TABLE game_moves (
    game_id INTEGER PRIMARY KEY REFERENCES game,
    moves   BLOB NOT NULL,                      -- four bytes for each ply: its move code, highest byte first. The highest bit
                                                -- is set if en passant is legal in the position after the move
    CHECK (length(moves) % 4 = 0)
) STRICT;

-- The levels of the tables `occurrence`, `level_position`, `level_continuation` and `visit_set`. Each level covers the games from its
-- first game up to the first game of the next level. Adding games writes one level: a new one, or one that takes in the last levels. Rows of
-- older levels stay as they are, except that removing games corrects or deletes counts. `pgndex optimize` writes one level.
CREATE TABLE occurrence_level (
    level INTEGER PRIMARY KEY,                  -- game_id of its first game
    CHECK (level BETWEEN 1 AND 4294967295)
) STRICT;

INSERT INTO occurrence_level VALUES (1);

-- The positions by key. The view `position_game` shows all levels as one table, without the games in `deleted_game`.
CREATE TABLE occurrence (
    level   INTEGER NOT NULL,                   -- as in occurrence_level
    key     INTEGER NOT NULL,                   -- as in game_position
    game_id INTEGER NOT NULL,
    ply     INTEGER NOT NULL,
    PRIMARY KEY (level, key, game_id, ply)
) WITHOUT ROWID, STRICT;

-- Removed games that `occurrence`, `visit_set` and `game_set` still contain, because their level has not been written again since.
CREATE TABLE deleted_game (
    game_id INTEGER PRIMARY KEY,
    CHECK (game_id BETWEEN 1 AND 4294967295)
) STRICT;

-- A position that many games of a level reached, with their results, so that looking up the start position does not count a million
-- rows. "Many" is the value of the setting 'continuation_threshold'. A game counts once, even if the position occurred several times.
-- The view `visited_position` shows the counts of all levels together. If games of the level reached two positions with one key, neither
-- has a row.
CREATE TABLE level_position (
    level        INTEGER NOT NULL REFERENCES occurrence_level,
    key          INTEGER NOT NULL,
    fen          TEXT NOT NULL,                 -- as in game_position
    games        INTEGER NOT NULL,              -- games that reached it and have a result: white_wins + draws + black_wins
    white_wins   INTEGER NOT NULL,
    draws        INTEGER NOT NULL,
    black_wins   INTEGER NOT NULL,
    unfinished   INTEGER NOT NULL,              -- games that reached it and have the result '*'; no other column counts them
    white_elo_sum   INTEGER NOT NULL,           -- sum of White's known ratings
    white_elo_games INTEGER NOT NULL,           -- number of these ratings: the mean is 1.0 * white_elo_sum / white_elo_games
    black_elo_sum   INTEGER NOT NULL,           -- the same for Black
    black_elo_games INTEGER NOT NULL,
    top_games    TEXT NOT NULL,                 -- a JSON array of up to 15 game_ids, by the players' mean rating, best first
    recent_games TEXT NOT NULL,                 -- the same by date, latest first
    PRIMARY KEY (level, key)
) WITHOUT ROWID, STRICT;

-- A move played from a position of `level_position`. A game that reached the position several times counts once, with the last move it
-- played there, even if the game ended there. The view `continuation` shows the counts of all levels together.
CREATE TABLE level_continuation (
    level      INTEGER NOT NULL,
    key        INTEGER NOT NULL,
    move_code  INTEGER NOT NULL,
    games      INTEGER NOT NULL,                -- games with a result that continued with this move
    white_wins INTEGER NOT NULL,
    draws      INTEGER NOT NULL,
    black_wins INTEGER NOT NULL,
    white_elo_sum   INTEGER NOT NULL,
    white_elo_games INTEGER NOT NULL,
    black_elo_sum   INTEGER NOT NULL,
    black_elo_games INTEGER NOT NULL,
    first_year INTEGER,                         -- of games whose year is known
    last_year  INTEGER,
    PRIMARY KEY (level, key, move_code),
    FOREIGN KEY (level, key) REFERENCES level_position
) WITHOUT ROWID, STRICT;

-- -------- Annotations -----------------------------------------------------------------------------------------------------------

-- In these tables, ply is the number of a position, as in game_position: n after n half-moves. Line 0 is the main line; 1, 2, 3 ... are
-- the variations of a game in the order of the PGN text.

-- Clock, time used and evaluation after the move that led to a position of the main line. A row exists only if one of them is known.
CREATE TABLE move_eval (
    game_id   INTEGER NOT NULL REFERENCES game,
    ply       INTEGER NOT NULL,
    clock     INTEGER,                          -- centiseconds left on the clock of the player who has just moved
    elapsed   INTEGER,                          -- centiseconds used for the move
    eval_cp   INTEGER,                          -- centipawns, White's view
    eval_mate INTEGER,                          -- moves to mate, negative if Black mates; then eval_cp is NULL
    depth     INTEGER,                          -- search depth of the evaluation, in plies
    CHECK (clock BETWEEN 0 AND 4294967295),
    CHECK (elapsed BETWEEN 0 AND 4294967295),
    CHECK (eval_cp BETWEEN -2147483648 AND 2147483647),
    CHECK (eval_mate BETWEEN -2147483648 AND 2147483647),
    CHECK (eval_cp IS NULL OR eval_mate IS NULL),
    CHECK (depth BETWEEN 0 AND 4294967295),
    CHECK (depth IS NULL OR eval_cp IS NOT NULL OR eval_mate IS NOT NULL),
    PRIMARY KEY (game_id, ply)
) WITHOUT ROWID, STRICT;

-- A comment, without its commands ('[%name value]').
CREATE TABLE comment (
    game_id INTEGER NOT NULL REFERENCES game,
    line    INTEGER NOT NULL,
    ply     INTEGER NOT NULL,
    number  INTEGER NOT NULL,                   -- 1, 2, 3 ... at each position
    text    TEXT NOT NULL,
    CHECK (text <> ''),
    PRIMARY KEY (game_id, line, ply, number)
) WITHOUT ROWID, STRICT;

-- A numeric annotation glyph: 1 is '!', 2 '?', 3 '!!', 4 '??', 5 '!?', 6 '?!', others as in the PGN standard.
CREATE TABLE nag (
    game_id INTEGER NOT NULL REFERENCES game,
    line    INTEGER NOT NULL,
    ply     INTEGER NOT NULL,
    nag     INTEGER NOT NULL,
    CHECK (nag BETWEEN 0 AND 4294967295),
    PRIMARY KEY (game_id, line, ply, nag)
) WITHOUT ROWID, STRICT;

-- A command of a comment, '[%name value]', that is not stored in move_eval: arrows ('cal'), coloured squares ('csl') and others. A command
-- stored in move_eval also has a row here if it is written in an unusual way, such as '[%emt 3.2]' for '[%emt 0:00:03.2]'.
CREATE TABLE command (
    game_id INTEGER NOT NULL REFERENCES game,
    line    INTEGER NOT NULL,
    ply     INTEGER NOT NULL,
    number  INTEGER NOT NULL,                   -- 1, 2, 3 ... at each position
    name    TEXT NOT NULL,
    value   TEXT NOT NULL,
    CHECK (name <> '' AND name NOT GLOB '*[^0-9A-Za-z_]*'),
    CHECK (instr(value, ']') = 0),
    PRIMARY KEY (game_id, line, ply, number)
) WITHOUT ROWID, STRICT;

-- A variation. Its first move replaces the move that its parent line plays from the position `ply`.
CREATE TABLE variation (
    game_id     INTEGER NOT NULL REFERENCES game,
    line        INTEGER NOT NULL,               -- 1, 2, 3 ...
    parent_line INTEGER NOT NULL,
    ply         INTEGER NOT NULL,
    CHECK (line > 0),
    CHECK (parent_line BETWEEN 0 AND line - 1),
    PRIMARY KEY (game_id, line)
) WITHOUT ROWID, STRICT;

-- A move of a variation, and the position that it leads to.
CREATE TABLE variation_move (
    game_id        INTEGER NOT NULL REFERENCES game,
    line           INTEGER NOT NULL,
    ply            INTEGER NOT NULL,
    key            INTEGER NOT NULL,            -- key of the position, as in game_position
    halfmove_clock INTEGER NOT NULL,
    move_code      INTEGER NOT NULL,            -- the move that led to the position
    fen            TEXT NOT NULL,
    PRIMARY KEY (game_id, line, ply)
) WITHOUT ROWID, STRICT;

CREATE INDEX variation_move_key ON variation_move (key);

-- -------- Copies that make filters and searches fast ----------------------------------------------------------------------------

-- These tables repeat data of other tables, in blocks of 65,536 game numbers: game g is number g % 65536 of block g / 65536.

-- One column of `game` for one block. The table has row numbers, because in a WITHOUT ROWID table SQLite would compare whole rows of
-- about 200 KB to find one.
CREATE TABLE game_column (
    name  TEXT NOT NULL,                        -- name of the column
    block INTEGER NOT NULL,
    cells TEXT NOT NULL,                        -- the distinct values in this block as a JSON array: null, then integers,
                                                -- then texts, each in ascending order
    games BLOB NOT NULL,                        -- for each number from 0 to the last game, the index of its value in `cells`,
                                                -- from 0: one byte each, or two (low byte first) for more than 256 values.
                                                -- Empty: all are NULL. Numbers without a game are NULL as well
    CHECK (block BETWEEN 0 AND 65535),
    PRIMARY KEY (name, block)
) STRICT;

-- The games of a block and level that reached a position of `level_position`, by the move they played there. If the position occurred
-- several times in a game, the last move counts. The sets also contain the games in `deleted_game`.
CREATE TABLE visit_set (
    level INTEGER NOT NULL,
    block INTEGER NOT NULL,
    key   INTEGER NOT NULL,
    games BLOB NOT NULL,                        -- for each move, in ascending order: the short move code, the set of games
    CHECK (block BETWEEN 0 AND 65535),
    PRIMARY KEY (level, block, key),
    FOREIGN KEY (level, key) REFERENCES level_position
) WITHOUT ROWID, STRICT;

-- The games of a block that have a feature at some point of the main line. A search by description replays only games in these sets, and
-- games that are not in a set of kind 'game', because their features are not recorded. The sets also contain the games in `deleted_game`.
CREATE TABLE game_set (
    block INTEGER NOT NULL,
    kind  TEXT NOT NULL,                        -- the kind of feature, with the meaning of `value`:
                                                -- 'game'      0: all games whose features are recorded
                                                -- 'material'  the pieces on the board: hexadecimal digits for White's queens,
                                                --             rooks, bishops, knights, Black's, White's pawns, Black's;
                                                --             printf('%010x', value) is 1222122288 at the start of a game
                                                -- 'pawns'     the first 12 bits of the XOR of the Polyglot constants of all
                                                --             pawns on their squares: several structures share a value
                                                -- 'piece'     a piece on a square: 64 * (piece code - 2) + square,
                                                --             a1 is 0, b1 1, h8 63
                                                -- 'capture', 'check', 'mate'  a move of a piece to a square (numbers as
                                                --             for 'piece') that captures, gives check or mate, gives mate
                                                -- 'promotion' to a piece on a square (numbers as for 'piece')
                                                -- 'castling'  0 White's O-O, 1 White's O-O-O, 2 and 3 Black's
    value INTEGER NOT NULL,                     -- the first value of the row
    sets  BLOB NOT NULL,                        -- for each value that a game has, in ascending order: the difference from the
                                                -- value before (the first: from `value`), the length of the set in bytes, the
                                                -- set. A set is 2 * the number of games, plus 1 for a bitmap; then the first
                                                -- game number and for each further number the difference from the one before,
                                                -- minus 1; or, for a bitmap, its length in bytes and these bytes. Numbers are
                                                -- varints: seven bits per byte, lowest bits first; the top bit is set in all
                                                -- bytes but the last
    CHECK (block BETWEEN 0 AND 65535),
    PRIMARY KEY (block, kind, value)
) WITHOUT ROWID, STRICT;

-- -------- Views to read ---------------------------------------------------------------------------------------------------------

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
    CASE WHEN instr(game.date, '?') = 0 THEN replace(game.date, '.', '-') END AS iso_date, -- YYYY-MM-DD; NULL: the date is incomplete
    event.name AS event,
    site.name AS site,
    game.round,
    game.eco,
    opening.eco AS opening_eco,                 -- from the positions, not from the PGN's tags
    opening.name AS opening,
    game.ply_count,
    game.white_title,
    game.black_title,
    game.time_control,
    game.time_initial,
    game.time_increment,
    game.speed,
    game.termination,
    game.started_at,
    game.lichess_id,
    game.white_rating_diff,
    game.black_rating_diff,
    game.white_fide_id,
    game.black_fide_id,
    game.eval_count,
    game.clock_count,
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

-- One row per move played. Fast with a game_id: SELECT * FROM moves WHERE game_id = 7.
--
-- A move code is a 32-bit number, from the lowest bit up: captured piece (4 bits), moved piece (4), TO square (8), FROM
-- square (8), SPECIAL (4), bit 28: gives check, bit 29: gives mate. A square is file + 16 * rank. Values of SPECIAL: 1 castling
-- short, 2 castling long, 3 a reversible move, 4, 5 and 8 to 13 a promotion to that piece, 6 a pawn move, 7 a capture
-- by a piece, 14 a pawn's double step, 15 en passant. Piece codes are even for White and odd for Black: pawn 2 3, knight 4 5,
-- king 6 7, bishop 8 9, rook 10 11, queen 12 13. A null move has code 0.
CREATE VIEW moves AS
SELECT
    game_id,
    ply,                                        -- ply of the position before the move: 0 for a game's first move
    move_number,
    side,                                       -- 'w' or 'b'
    fen || ' ' || halfmove_clock || ' ' || move_number AS fen, -- before the move, all six fields
    CASE
        WHEN move_code = 0 THEN '0000'
        ELSE from_square || to_square || ifnull(promotion, '')
    END AS uci,                                 -- castling: the king's from and to squares
    move_code,
    special,
    from_square,
    to_square,
    piece,                                      -- as in FEN: 'N' a white knight, 'n' a black one
    captured,                                   -- the same; NULL: no capture
    promotion,                                  -- 'q', 'r', 'b', 'n'; NULL: no promotion
    is_check,
    is_mate,
    key,                                        -- key of the position before the move
    clock,                                      -- centiseconds left on the player's clock after the move
    CASE WHEN elapsed >= 0 THEN elapsed END AS elapsed, -- centiseconds used: from the PGN, or computed from clocks and increment
    eval_cp_before,                             -- evaluation before the move: centipawns, White's view
    eval_mate_before,                           -- moves to mate, negative if Black mates
    eval_cp,                                    -- evaluation after the move
    eval_mate,
    (
        SELECT group_concat(CAST(n.nag AS TEXT), ' ')
        FROM nag AS n WHERE n.game_id = m.game_id AND n.line = 0 AND n.ply = m.ply + 1
    ) AS nags,                                  -- numeric annotation glyphs: '1 14'
    (
        SELECT group_concat(c.text, ' ')
        FROM comment AS c WHERE c.game_id = m.game_id AND c.line = 0 AND c.ply = m.ply + 1
    ) AS comment                                -- after the move
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
            WHEN g.start_fen IS NULL THEN 1 + (p.ply >> 1)
            ELSE CAST(substr(g.start_fen, length(rtrim(g.start_fen, '0123456789')) + 1) AS INTEGER)
                + (p.ply + CASE WHEN substr(g.start_fen, instr(g.start_fen, ' ') + 1, 1) = 'b' THEN 1 ELSE 0 END >> 1)
        END AS move_number,
        p.move_code >> 24 & 15 AS special,
        CASE WHEN p.move_code <> 0
            THEN substr('abcdefgh', 1 + (p.move_code >> 16 & 7), 1) || (1 + (p.move_code >> 20 & 7)) END AS from_square,
        CASE WHEN p.move_code <> 0
            THEN substr('abcdefgh', 1 + (p.move_code >> 8 & 7), 1) || (1 + (p.move_code >> 12 & 7)) END AS to_square,
        nullif(substr('  PpNnKkBbRrQq', (p.move_code >> 4 & 15) + 1, 1), ' ') AS piece,
        nullif(substr('  PpNnKkBbRrQq', (p.move_code & 15) + 1, 1), ' ') AS captured,
        nullif(substr('    nn  bbrrqq  ', (p.move_code >> 24 & 15) + 1, 1), ' ') AS promotion,
        p.move_code >> 28 & 1 AS is_check,
        p.move_code >> 29 & 1 AS is_mate,
        after_move.clock,
        COALESCE(after_move.elapsed, earlier.clock - after_move.clock + g.time_increment_cs) AS elapsed,
        before_move.eval_cp AS eval_cp_before,
        before_move.eval_mate AS eval_mate_before,
        after_move.eval_cp,
        after_move.eval_mate
    FROM game_position AS p
    LEFT JOIN game AS g ON g.game_id = p.game_id
    LEFT JOIN move_eval AS after_move ON after_move.game_id = p.game_id AND after_move.ply = p.ply + 1
    LEFT JOIN move_eval AS before_move ON before_move.game_id = p.game_id AND before_move.ply = p.ply
    LEFT JOIN move_eval AS earlier ON earlier.game_id = p.game_id AND earlier.ply = p.ply - 1
    WHERE p.move_code IS NOT NULL
) AS m;

-- Positions of games by key: all levels of `occurrence` as one table, without removed games. Fast with a key.
CREATE VIEW position_game AS
SELECT key, game_id, ply
FROM occurrence
-- With the first condition SQLite looks a key up in each level. A join would fix the order of tables in the whole statement.
WHERE level IN (SELECT level FROM occurrence_level)
    AND game_id NOT IN (SELECT game_id FROM deleted_game);

-- The positions of `visited_position` and `continuation`: of each, the row of the first level that counts it. If levels count two
-- positions with one key, neither is here.
CREATE VIEW counted_position AS
SELECT
    key, fen, games, white_wins, draws, black_wins, unfinished,
    white_elo_sum, white_elo_games, black_elo_sum, black_elo_games, top_games, recent_games
FROM level_position AS p
WHERE p.level IN (SELECT level FROM occurrence_level)
    AND NOT EXISTS (
        SELECT 1
        FROM occurrence_level AS l
        CROSS JOIN level_position AS q ON q.level = l.level AND q.key = p.key
        WHERE l.level < p.level OR q.fen <> p.fen
    );

-- A position that many games of at least one level reached, with the results of all games that reached it. Columns as in
-- `level_position`. Fast with a key, also in a join.
CREATE VIEW visited_position AS
SELECT
    p.key,
    p.fen,
    CASE WHEN total.value = 0 THEN p.games ELSE json_extract(total.value, '$[0]') END AS games,
    CASE WHEN total.value = 0 THEN p.white_wins ELSE json_extract(total.value, '$[1]') END AS white_wins,
    CASE WHEN total.value = 0 THEN p.draws ELSE json_extract(total.value, '$[2]') END AS draws,
    CASE WHEN total.value = 0 THEN p.black_wins ELSE json_extract(total.value, '$[3]') END AS black_wins,
    CASE WHEN total.value = 0 THEN p.unfinished ELSE json_extract(total.value, '$[4]') END AS unfinished,
    CASE WHEN total.value = 0 THEN p.white_elo_sum ELSE json_extract(total.value, '$[5]') END AS white_elo_sum,
    CASE WHEN total.value = 0 THEN p.white_elo_games ELSE json_extract(total.value, '$[6]') END AS white_elo_games,
    CASE WHEN total.value = 0 THEN p.black_elo_sum ELSE json_extract(total.value, '$[7]') END AS black_elo_sum,
    CASE WHEN total.value = 0 THEN p.black_elo_games ELSE json_extract(total.value, '$[8]') END AS black_elo_games,
    CASE WHEN total.value = 0 THEN p.top_games ELSE (
        SELECT json_group_array(game_id)
        FROM (
            SELECT game.game_id, game.white_elo + game.black_elo AS rank
            FROM occurrence_level AS l
            CROSS JOIN level_position AS q ON q.level = l.level AND q.key = p.key AND q.fen = p.fen
            CROSS JOIN json_each(q.top_games) AS t
            CROSS JOIN game ON game.game_id = t.value
            UNION
            SELECT game.game_id, game.white_elo + game.black_elo
            FROM occurrence_level AS l
            CROSS JOIN occurrence AS o ON o.level = l.level AND o.key = p.key
            CROSS JOIN game_position AS x ON x.game_id = o.game_id AND x.ply = o.ply AND x.fen = p.fen
            CROSS JOIN game ON game.game_id = o.game_id AND game.result <> '*' AND game.white_elo + game.black_elo IS NOT NULL
            WHERE NOT EXISTS (SELECT 1 FROM level_position AS c WHERE c.level = l.level AND c.key = p.key)
            ORDER BY 2 DESC, 1
            LIMIT 15
        )
    ) END AS top_games,
    CASE WHEN total.value = 0 THEN p.recent_games ELSE (
        SELECT json_group_array(game_id)
        FROM (
            SELECT game.game_id, ifnull(CASE WHEN instr(substr(game.date, 1, 4), '?') THEN 0 ELSE substr(game.date, 1, 4) * 10000 END
                + replace(substr(game.date, 6, 2), '?', '0') * 100 + replace(substr(game.date, 9, 2), '?', '0'), 0) AS rank
            FROM occurrence_level AS l
            CROSS JOIN level_position AS q ON q.level = l.level AND q.key = p.key AND q.fen = p.fen
            CROSS JOIN json_each(q.recent_games) AS t
            CROSS JOIN game ON game.game_id = t.value
            UNION
            SELECT game.game_id, ifnull(CASE WHEN instr(substr(game.date, 1, 4), '?') THEN 0 ELSE substr(game.date, 1, 4) * 10000 END
                + replace(substr(game.date, 6, 2), '?', '0') * 100 + replace(substr(game.date, 9, 2), '?', '0'), 0)
            FROM occurrence_level AS l
            CROSS JOIN occurrence AS o ON o.level = l.level AND o.key = p.key
            CROSS JOIN game_position AS x ON x.game_id = o.game_id AND x.ply = o.ply AND x.fen = p.fen
            CROSS JOIN game ON game.game_id = o.game_id AND game.result <> '*'
            WHERE NOT EXISTS (SELECT 1 FROM level_position AS c WHERE c.level = l.level AND c.key = p.key)
            ORDER BY 2 DESC, 1 DESC
            LIMIT 15
        )
    ) END AS recent_games
FROM counted_position AS p
-- The sums over all levels. A level without a row for the position usually has few of its games. They are counted one
-- by one. With one level, its row is the answer. A subquery in FROM cannot use columns of another table, but the argument of json_each can.
CROSS JOIN json_each(CASE WHEN (SELECT count(*) FROM occurrence_level) = 1 THEN '[0]' ELSE (
    SELECT json_array(json_array(
        sum(games), sum(white_wins), sum(draws), sum(black_wins), sum(unfinished),
        sum(white_elo_sum), sum(white_elo_games), sum(black_elo_sum), sum(black_elo_games)))
    FROM (
        SELECT
            q.games, q.white_wins, q.draws, q.black_wins, q.unfinished,
            q.white_elo_sum, q.white_elo_games, q.black_elo_sum, q.black_elo_games
        FROM occurrence_level AS l
        CROSS JOIN level_position AS q ON q.level = l.level AND q.key = p.key AND q.fen = p.fen
        UNION ALL
        SELECT
            game.result <> '*',
            game.result = '1-0',
            game.result = '1/2-1/2',
            game.result = '0-1',
            game.result = '*',
            CASE WHEN game.result <> '*' THEN ifnull(game.white_elo, 0) ELSE 0 END,
            game.result <> '*' AND game.white_elo IS NOT NULL,
            CASE WHEN game.result <> '*' THEN ifnull(game.black_elo, 0) ELSE 0 END,
            game.result <> '*' AND game.black_elo IS NOT NULL
        FROM occurrence_level AS l
        CROSS JOIN occurrence AS o ON o.level = l.level AND o.key = p.key
        CROSS JOIN game_position AS x ON x.game_id = o.game_id AND x.ply = o.ply AND x.fen = p.fen
        CROSS JOIN game ON game.game_id = o.game_id
        WHERE NOT EXISTS (SELECT 1 FROM level_position AS c WHERE c.level = l.level AND c.key = p.key)
        GROUP BY o.game_id
    )
) END) AS total;

-- A move played from a visited position, counted over all levels. Columns as in `level_continuation`. Fast with a key, also in a join.
CREATE VIEW continuation AS
SELECT
    p.key,
    json_extract(move.value, '$[0]') AS move_code,
    json_extract(move.value, '$[1]') AS games,
    json_extract(move.value, '$[2]') AS white_wins,
    json_extract(move.value, '$[3]') AS draws,
    json_extract(move.value, '$[4]') AS black_wins,
    json_extract(move.value, '$[5]') AS white_elo_sum,
    json_extract(move.value, '$[6]') AS white_elo_games,
    json_extract(move.value, '$[7]') AS black_elo_sum,
    json_extract(move.value, '$[8]') AS black_elo_games,
    json_extract(move.value, '$[9]') AS first_year,
    json_extract(move.value, '$[10]') AS last_year
FROM counted_position AS p
CROSS JOIN json_each((
    SELECT json_group_array(json(counts))
    FROM (
        SELECT json_array(
            move_code, sum(games), sum(white_wins), sum(draws), sum(black_wins),
            sum(white_elo_sum), sum(white_elo_games), sum(black_elo_sum), sum(black_elo_games),
            min(first_year), max(last_year)) AS counts
        FROM (
            SELECT
                c.move_code, c.games, c.white_wins, c.draws, c.black_wins,
                c.white_elo_sum, c.white_elo_games, c.black_elo_sum, c.black_elo_games, c.first_year, c.last_year
            FROM occurrence_level AS l
            CROSS JOIN level_position AS q ON q.level = l.level AND q.key = p.key AND q.fen = p.fen
            CROSS JOIN level_continuation AS c ON c.level = q.level AND c.key = q.key
            UNION ALL
            SELECT
                last.move_code,
                1,
                game.result = '1-0',
                game.result = '1/2-1/2',
                game.result = '0-1',
                ifnull(game.white_elo, 0),
                game.white_elo IS NOT NULL,
                ifnull(game.black_elo, 0),
                game.black_elo IS NOT NULL,
                CASE WHEN game.date GLOB '[0-9][0-9][0-9][0-9]*' THEN nullif(CAST(substr(game.date, 1, 4) AS INTEGER), 0) END,
                CASE WHEN game.date GLOB '[0-9][0-9][0-9][0-9]*' THEN nullif(CAST(substr(game.date, 1, 4) AS INTEGER), 0) END
            FROM (
                -- The last move that each game played there: SQLite takes `move_code` from the row with the greatest ply.
                SELECT o.game_id, max(o.ply), x.move_code
                FROM occurrence_level AS l
                CROSS JOIN occurrence AS o ON o.level = l.level AND o.key = p.key
                CROSS JOIN game_position AS x
                    ON x.game_id = o.game_id AND x.ply = o.ply AND x.fen = p.fen AND x.move_code IS NOT NULL
                WHERE NOT EXISTS (SELECT 1 FROM level_position AS c WHERE c.level = l.level AND c.key = p.key)
                GROUP BY o.game_id
            ) AS last
            CROSS JOIN game ON game.game_id = last.game_id AND game.result <> '*'
        )
        GROUP BY move_code
    )
)) AS move;

-- One row per distinct position. Fast with a key: SELECT * FROM positions WHERE key = 5060803636482931868. Two positions with
-- the same key have one row each.
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
-- No earlier occurrence of the same key has the same position. The condition uses game and ply of `p`, so that SQLite compares a given FEN
-- first. With those of `o`, it would search for an earlier occurrence before that, for every occurrence.
WHERE NOT EXISTS (
    SELECT 1
    FROM position_game AS other
    JOIN game_position AS q ON q.game_id = other.game_id AND q.ply = other.ply
    WHERE other.key = o.key
        AND (other.game_id < p.game_id OR other.game_id = p.game_id AND other.ply < p.ply)
        AND q.fen = p.fen
);

-- One row per player, with all spellings of the name. A game in which both sides are the same player counts once.
CREATE VIEW players AS
SELECT
    ifnull(alias.name, player.name) AS name,
    count(DISTINCT player.player_id) AS spellings, -- number of spellings in games
    count(DISTINCT game_id) AS games,
    sum(is_white) AS as_white,                  -- games with White
    sum(NOT is_white) AS as_black,
    min(year) AS first_year,                    -- first year of games whose year is known
    max(year) AS last_year,
    max(alias.fide_id) AS fide_id
FROM (
    SELECT
        game_id,
        white_id AS player_id,
        1 AS is_white,
        CASE WHEN date GLOB '[0-9][0-9][0-9][0-9]*' THEN nullif(CAST(substr(date, 1, 4) AS INTEGER), 0) END AS year
    FROM game
    UNION ALL
    SELECT
        game_id,
        black_id,
        0,
        CASE WHEN date GLOB '[0-9][0-9][0-9][0-9]*' THEN nullif(CAST(substr(date, 1, 4) AS INTEGER), 0) END
    FROM game
)
JOIN player USING (player_id)
LEFT JOIN player_alias AS alias ON alias.alias = player.name
GROUP BY 1;

-- One row per move with a known evaluation before and after it. Values are winning chances from the view of the player who moved, from
-- -1 to 1, as Lichess computes them (https://lichess.org/page/accuracy): 2 / (1 + exp(-0.00368208 * centipawns)) - 1, with centipawns
-- from -1000 to 1000 and a mate as 1000. The start position counts as 15 centipawns.
CREATE VIEW judgements AS
SELECT
    game_id,
    ply,                                        -- as in moves: ply of the position before the move
    side,                                       -- 'w' or 'b': the player who moved
    chances_before,
    chances_after,
    loss,                                       -- loss of winning chances: 0 or more
    CASE
        WHEN loss >= 0.3 THEN 'blunder'
        WHEN loss >= 0.2 THEN 'mistake'
        WHEN loss >= 0.1 THEN 'inaccuracy'
    END AS judgement,                           -- 'blunder', 'mistake', 'inaccuracy': a loss of 0.3, 0.2, 0.1 or more; else NULL
    -- accuracy in percent: 103.1668 * exp(-0.04354 * loss of winning percentage) - 2.1669, from 0 to 100
    CASE
        WHEN loss <= 0.004473 THEN 100.0
        WHEN loss >= 1.7743 THEN 0.0
        ELSE 103.1668100711649 * exp(-2.1772076933769755 * loss) - 2.166924740191411
    END AS accuracy
FROM (
    SELECT
        game_id,
        ply,
        side,
        chances_before,
        chances_after,
        CASE WHEN chances_before > chances_after THEN chances_before - chances_after ELSE 0.0 END AS loss
    FROM (
        SELECT
            game_id,
            ply,
            CASE WHEN sign = 1 THEN 'w' ELSE 'b' END AS side,
            2 / (1 + exp(-0.00368208 * sign * value_before)) - 1 AS chances_before,
            2 / (1 + exp(-0.00368208 * sign * value_after)) - 1 AS chances_after
        FROM (
            SELECT
                after_move.game_id,
                after_move.ply - 1 AS ply,
                CASE WHEN (after_move.ply - 1
                    + CASE WHEN substr(g.start_fen, instr(g.start_fen, ' ') + 1, 1) = 'b' THEN 1 ELSE 0 END) % 2 = 0
                    THEN 1 ELSE -1 END AS sign,
                CASE
                    WHEN before_move.eval_mate > 0 OR before_move.eval_cp > 1000 THEN 1000
                    WHEN before_move.eval_mate < 0 OR before_move.eval_cp < -1000 THEN -1000
                    WHEN before_move.eval_cp IS NOT NULL THEN before_move.eval_cp
                    WHEN after_move.ply = 1 AND before_move.eval_mate IS NULL AND g.start_fen IS NULL THEN 15
                END AS value_before,
                CASE
                    WHEN after_move.eval_mate > 0 OR after_move.eval_cp > 1000 THEN 1000
                    WHEN after_move.eval_mate < 0 OR after_move.eval_cp < -1000 THEN -1000
                    ELSE after_move.eval_cp
                END AS value_after
            FROM move_eval AS after_move
            JOIN game AS g ON g.game_id = after_move.game_id
            LEFT JOIN move_eval AS before_move
                ON before_move.game_id = after_move.game_id AND before_move.ply = after_move.ply - 1
            WHERE after_move.ply > 0
        ) AS valued
        WHERE value_before IS NOT NULL AND value_after IS NOT NULL
    ) AS turned
) AS lost;

-- One row per game and side with moves in `judgements`.
CREATE VIEW accuracies AS
SELECT
    j.game_id,
    j.side,
    p.name AS player,
    CASE j.side WHEN 'w' THEN g.white_elo ELSE g.black_elo END AS elo,
    j.moves,                                    -- number of judged moves
    j.accuracy,                                 -- mean accuracy of these moves, in percent
    j.inaccuracies,
    j.mistakes,
    j.blunders
FROM (
    SELECT
        game_id,
        side,
        count(*) AS moves,
        avg(accuracy) AS accuracy,
        sum(CASE WHEN judgement = 'inaccuracy' THEN 1 ELSE 0 END) AS inaccuracies,
        sum(CASE WHEN judgement = 'mistake' THEN 1 ELSE 0 END) AS mistakes,
        sum(CASE WHEN judgement = 'blunder' THEN 1 ELSE 0 END) AS blunders
    FROM judgements
    GROUP BY game_id, side
) AS j
JOIN game AS g ON g.game_id = j.game_id
LEFT JOIN player AS p ON p.player_id = CASE j.side WHEN 'w' THEN g.white_id ELSE g.black_id END;
