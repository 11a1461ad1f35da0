-- Version 2: what a game's tags say, in columns of its own; what is said about its moves; and views that other programs can read too.

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

-- What the PGN says about moves. NULL: annotations were not read.
ALTER TABLE game ADD COLUMN eval_count INTEGER;         -- how many rows of move_eval have a value
ALTER TABLE game ADD COLUMN clock_count INTEGER;        -- how many have a clock

-- In all tables that follow, a ply is that of a position, as in game_position: what stands after n half-moves has ply n. Line 0 is
-- the main line; 1, 2, 3 ... are the variations of a game in the order of their text.

-- What is said of time and value at a position of the main line, of the move that led to it. A row only where something is known.
CREATE TABLE move_eval (
    game_id   INTEGER NOT NULL REFERENCES game,
    ply       INTEGER NOT NULL,
    clock     INTEGER,                          -- centiseconds left on the clock of the player who has just moved
    elapsed   INTEGER,                          -- centiseconds used for the move
    eval_cp   INTEGER,                          -- centipawns, White's view
    eval_mate INTEGER,                          -- moves to mate, negative if Black gives it; then eval_cp is NULL
    depth     INTEGER,                          -- how deep the value was looked for, in plies
    PRIMARY KEY (game_id, ply)
) WITHOUT ROWID;

-- A comment, without its commands.
CREATE TABLE comment (
    game_id INTEGER NOT NULL REFERENCES game,
    line    INTEGER NOT NULL,
    ply     INTEGER NOT NULL,
    number  INTEGER NOT NULL,                   -- 1, 2, 3 ... at one place
    text    TEXT NOT NULL,
    PRIMARY KEY (game_id, line, ply, number)
) WITHOUT ROWID;

-- A glyph: 1 is '!', 2 '?', 3 '!!', 4 '??', 5 '!?', 6 '?!', others as the PGN standard numbers them.
CREATE TABLE nag (
    game_id INTEGER NOT NULL REFERENCES game,
    line    INTEGER NOT NULL,
    ply     INTEGER NOT NULL,
    nag     INTEGER NOT NULL,
    PRIMARY KEY (game_id, line, ply, nag)
) WITHOUT ROWID;

-- A command of a comment, '[%name value]', that is no number of move_eval: arrows ('cal'), coloured squares ('csl') and others.
CREATE TABLE command (
    game_id INTEGER NOT NULL REFERENCES game,
    line    INTEGER NOT NULL,
    ply     INTEGER NOT NULL,
    number  INTEGER NOT NULL,                   -- 1, 2, 3 ... at one place
    name    TEXT NOT NULL,
    value   TEXT NOT NULL,
    PRIMARY KEY (game_id, line, ply, number)
) WITHOUT ROWID;

-- A variation: its first move replaces the one played from the position of that ply on the line that it leaves.
CREATE TABLE variation (
    game_id     INTEGER NOT NULL REFERENCES game,
    line        INTEGER NOT NULL,               -- 1, 2, 3 ...
    parent_line INTEGER NOT NULL,
    ply         INTEGER NOT NULL,
    PRIMARY KEY (game_id, line)
) WITHOUT ROWID;

-- A move of a variation, and the position that it leads to.
CREATE TABLE variation_move (
    game_id        INTEGER NOT NULL REFERENCES game,
    line           INTEGER NOT NULL,
    ply            INTEGER NOT NULL,
    key            INTEGER NOT NULL,            -- of the position, as in game_position
    halfmove_clock INTEGER NOT NULL,
    move_code      INTEGER NOT NULL,            -- the move that led to it
    fen            TEXT NOT NULL,
    PRIMARY KEY (game_id, line, ply)
) WITHOUT ROWID;

CREATE INDEX variation_move_key ON variation_move (key);

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
    key,                                        -- of the position before the move
    clock,                                      -- centiseconds left on the player's clock after the move
    CASE WHEN elapsed >= 0 THEN elapsed END AS elapsed, -- centiseconds used: as the PGN says, or told from clocks and increment
    eval_cp_before,                             -- of the position before the move: centipawns, White's view
    eval_mate_before,                           -- moves to mate, negative if Black gives it
    eval_cp,                                    -- the same after the move
    eval_mate,
    (
        SELECT group_concat(CAST(n.nag AS TEXT), ' ')
        FROM nag AS n WHERE n.game_id = m.game_id AND n.line = 0 AND n.ply = m.ply + 1
    ) AS nags,                                  -- numbers of glyphs: '1 14'
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
        COALESCE(after_move.elapsed, earlier.clock - after_move.clock + 100 * g.time_increment) AS elapsed,
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

-- One row per move whose value before and after it is known. Values are winning chances from the view of the player who moved, from
-- -1 to 1, as Lichess counts them (https://lichess.org/page/accuracy): 2 / (1 + exp(-0.00368208 * centipawns)) - 1, with centipawns
-- from -1000 to 1000 and a mate as 1000. The start position counts as 15 centipawns.
CREATE VIEW judgements AS
SELECT
    game_id,
    ply,                                        -- as in moves: of the position before the move
    side,                                       -- 'w' or 'b': who moved
    chances_before,
    chances_after,
    loss,                                       -- of winning chances: 0 or more
    CASE
        WHEN loss >= 0.3 THEN 'blunder'
        WHEN loss >= 0.2 THEN 'mistake'
        WHEN loss >= 0.1 THEN 'inaccuracy'
    END AS judgement,                           -- NULL: none of these
    -- Of the move, in per cent: 103.1668 * exp(-0.04354 * loss of winning percentage) - 2.1669, from 0 to 100.
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

-- One row per game and side that has such moves.
CREATE VIEW accuracies AS
SELECT
    j.game_id,
    j.side,
    p.name AS player,
    CASE j.side WHEN 'w' THEN g.white_elo ELSE g.black_elo END AS elo,
    j.moves,                                    -- how many are judged
    j.accuracy,                                 -- the mean of its moves', in per cent
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
