-- Version 2: what a game's tags say, in columns of its own, and views that other programs can read too.

-- Told from tags; NULL: the PGN does not say. The tags themselves stay in `tag`.
ALTER TABLE game ADD COLUMN lichess_id TEXT;            -- 'q7ZvsdUF': the game is at https://lichess.org/q7ZvsdUF
ALTER TABLE game ADD COLUMN started_at TEXT;            -- UTC, YYYY-MM-DDTHH:MM:SSZ, of the tags UTCDate and UTCTime
ALTER TABLE game ADD COLUMN time_initial INTEGER;       -- seconds on each clock at the start, of the tag TimeControl; of
                                                        -- several periods, those of the first
ALTER TABLE game ADD COLUMN time_increment INTEGER;     -- seconds added for each move
ALTER TABLE game ADD COLUMN speed TEXT;                 -- 'ultraBullet', 'bullet', 'blitz', 'rapid', 'classical': by
                                                        -- initial + 40 * increment below 30, 180, 480, 1500 seconds or
                                                        -- more; 'correspondence': an hour or more for each move
ALTER TABLE game ADD COLUMN termination TEXT;           -- how it ended: 'Normal', 'Time forfeit' ...
ALTER TABLE game ADD COLUMN white_rating_diff INTEGER;  -- what the game changed of White's rating
ALTER TABLE game ADD COLUMN black_rating_diff INTEGER;
ALTER TABLE game ADD COLUMN white_fide_id INTEGER;
ALTER TABLE game ADD COLUMN black_fide_id INTEGER;

-- One row per game, with names.
DROP VIEW games;
CREATE VIEW games AS
SELECT
    game.game_id,
    white.name AS white,
    black.name AS black,
    game.white_elo,
    game.black_elo,
    game.result,
    game.date,
    CASE WHEN instr(game.date, '?') = 0 THEN replace(game.date, '.', '-') END AS iso_date, -- YYYY-MM-DD; NULL: not all is known
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
DROP VIEW moves;
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
        p.move_code >> 29 & 1 AS is_mate
    FROM game_position AS p
    LEFT JOIN game AS g ON g.game_id = p.game_id
    WHERE p.move_code IS NOT NULL
);

-- One row per distinct position, in the order of their keys; quick when asked by key:
-- SELECT * FROM positions WHERE key = 5060803636482931868. Two positions that share a key have a row each.
DROP VIEW positions;
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
