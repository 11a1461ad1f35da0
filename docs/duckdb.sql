-- The Parquet files of pgndex as tables and views of the names that they have in SQLite, so that the SQL of docs/sql.md runs in DuckDB.
--
--     SET VARIABLE pgndex = 'tables';          -- the directory
--     .read docs/duckdb.sql
--
-- In a database file the views stay; set the variable again in each session. docs/parquet.md explains the tables and columns.

-- As in SQLite, 7 / 2 is 3.
SET integer_division = true;

-- The directory of a key, and a look-up by it that reads no other directory.
CREATE OR REPLACE MACRO key_prefix(key) AS (key::BIGINT >> 56) & 255;

-- The functions of docs/sql.md that can be said in SQL. A move code or FEN is not checked.

CREATE OR REPLACE MACRO key_hex(key) AS lpad(lower(hex(key)), 16, '0');
CREATE OR REPLACE MACRO move_from(code) AS
    CASE WHEN code <> 0 THEN chr(97 + ((code >> 16) & 7)) || (1 + ((code >> 20) & 7)) END;
CREATE OR REPLACE MACRO move_to(code) AS
    CASE WHEN code <> 0 THEN chr(97 + ((code >> 8) & 7)) || (1 + ((code >> 12) & 7)) END;
CREATE OR REPLACE MACRO move_piece(code) AS nullif(substr('  PpNnKkBbRrQq', ((code >> 4) & 15) + 1, 1), ' ');
CREATE OR REPLACE MACRO move_captured(code) AS nullif(substr('  PpNnKkBbRrQq', (code & 15) + 1, 1), ' ');
CREATE OR REPLACE MACRO move_promotion(code) AS nullif(substr('    nn  bbrrqq  ', ((code >> 24) & 15) + 1, 1), ' ');
CREATE OR REPLACE MACRO move_special(code) AS (code >> 24) & 15;
CREATE OR REPLACE MACRO move_uci(code) AS
    CASE WHEN code = 0 THEN '0000' ELSE move_from(code) || move_to(code) || coalesce(move_promotion(code), '') END;
CREATE OR REPLACE MACRO chances(cp) AS 2 / (1 + exp(-0.00368208 * greatest(-1000, least(1000, cp)))) - 1;
CREATE OR REPLACE MACRO winning_chances
    (cp) AS CASE WHEN cp IS NOT NULL THEN chances(cp) END,
    (cp, mate) AS CASE WHEN mate > 0 THEN chances(1000) WHEN mate < 0 THEN chances(-1000)
        WHEN mate IS NULL AND cp IS NOT NULL THEN chances(cp) END;

-- A board in 64 signs, a8 first, '.' for an empty square; and the character of one square.
CREATE OR REPLACE MACRO fen_squares(fen) AS replace(replace(replace(replace(replace(replace(replace(replace(replace(
    split_part(fen, ' ', 1), '/', ''), '1', '.'), '2', '..'), '3', '...'), '4', '....'), '5', '.....'), '6', '......'),
    '7', '.......'), '8', '........');
CREATE OR REPLACE MACRO fen_piece(fen, square) AS
    nullif(substr(fen_squares(fen), (8 - square[2]::INTEGER) * 8 + ascii(square) - 96, 1), '.');
CREATE OR REPLACE MACRO fen_count(fen, piece) AS length(split_part(fen, ' ', 1)) - length(replace(split_part(fen, ' ', 1), piece, ''));
CREATE OR REPLACE MACRO fen_material(fen) AS
    repeat('K', fen_count(fen, 'K')) || repeat('Q', fen_count(fen, 'Q')) || repeat('R', fen_count(fen, 'R'))
    || repeat('B', fen_count(fen, 'B')) || repeat('N', fen_count(fen, 'N')) || repeat('P', fen_count(fen, 'P')) || 'v'
    || repeat('K', fen_count(fen, 'k')) || repeat('Q', fen_count(fen, 'q')) || repeat('R', fen_count(fen, 'r'))
    || repeat('B', fen_count(fen, 'b')) || repeat('N', fen_count(fen, 'n')) || repeat('P', fen_count(fen, 'p'));
CREATE OR REPLACE MACRO fen_balance(fen) AS
    9 * (fen_count(fen, 'Q') - fen_count(fen, 'q')) + 5 * (fen_count(fen, 'R') - fen_count(fen, 'r'))
    + 3 * (fen_count(fen, 'B') - fen_count(fen, 'b')) + 3 * (fen_count(fen, 'N') - fen_count(fen, 'n'))
    + fen_count(fen, 'P') - fen_count(fen, 'p');

-- Tables. DuckDB adds the directories as columns: year and month, or key_prefix.

CREATE OR REPLACE VIEW game AS
SELECT
    *,
    -- SQLite has numbers of names. Here a name is its own number.
    event AS event_id,
    site AS site_id,
    white AS white_id,
    black AS black_id,
    opening_eco || ' ' || opening AS opening_id
FROM read_parquet(getvariable('pgndex') || '/game/**/*.parquet');

CREATE OR REPLACE VIEW tag AS FROM read_parquet(getvariable('pgndex') || '/tag/**/*.parquet');
CREATE OR REPLACE VIEW game_position AS FROM read_parquet(getvariable('pgndex') || '/game_position/**/*.parquet');
CREATE OR REPLACE VIEW move_eval AS FROM read_parquet(getvariable('pgndex') || '/move_eval/**/*.parquet');
CREATE OR REPLACE VIEW comment AS FROM read_parquet(getvariable('pgndex') || '/comment/**/*.parquet');
CREATE OR REPLACE VIEW nag AS FROM read_parquet(getvariable('pgndex') || '/nag/**/*.parquet');
CREATE OR REPLACE VIEW command AS FROM read_parquet(getvariable('pgndex') || '/command/**/*.parquet');
CREATE OR REPLACE VIEW variation AS FROM read_parquet(getvariable('pgndex') || '/variation/**/*.parquet');
CREATE OR REPLACE VIEW variation_move AS FROM read_parquet(getvariable('pgndex') || '/variation_move/**/*.parquet');
CREATE OR REPLACE VIEW source AS FROM read_parquet(getvariable('pgndex') || '/source/*.parquet');
CREATE OR REPLACE VIEW problem AS FROM read_parquet(getvariable('pgndex') || '/problem/*.parquet');

CREATE OR REPLACE VIEW position_game AS
FROM read_parquet(getvariable('pgndex') || '/position_game/*/*.parquet', hive_partitioning = true);

-- Of several shards each has counted its own games.
CREATE OR REPLACE VIEW continuation AS
SELECT
    key,
    move_code,
    sum(games)::BIGINT AS games,
    sum(white_wins)::BIGINT AS white_wins,
    sum(draws)::BIGINT AS draws,
    sum(black_wins)::BIGINT AS black_wins,
    sum(white_elo_sum)::BIGINT AS white_elo_sum,
    sum(white_elo_games)::BIGINT AS white_elo_games,
    sum(black_elo_sum)::BIGINT AS black_elo_sum,
    sum(black_elo_games)::BIGINT AS black_elo_games,
    min(first_year) AS first_year,
    max(last_year) AS last_year
FROM read_parquet(getvariable('pgndex') || '/continuation/*/*.parquet', hive_partitioning = true)
GROUP BY key_prefix, key, move_code;

-- Names, each of them its own number.

CREATE OR REPLACE VIEW player AS
SELECT DISTINCT name AS player_id, name FROM (SELECT unnest([white, black]) AS name FROM game) WHERE name IS NOT NULL;
CREATE OR REPLACE VIEW event AS SELECT DISTINCT event AS event_id, event AS name FROM game WHERE event IS NOT NULL;
CREATE OR REPLACE VIEW site AS SELECT DISTINCT site AS site_id, site AS name FROM game WHERE site IS NOT NULL;
-- Those that games have.
CREATE OR REPLACE VIEW opening AS
SELECT DISTINCT opening_id, opening_eco AS eco, opening AS name FROM game WHERE opening_id IS NOT NULL;

-- Views.

CREATE OR REPLACE VIEW games AS
SELECT
    game_id, white, black, white_elo, black_elo, result, date,
    CASE WHEN instr(date, '?') = 0 THEN replace(date, '.', '-') END AS iso_date,
    event, site, round, eco, opening_eco, opening, ply_count, white_title, black_title,
    time_control, time_initial, time_increment, speed, termination, started_at, lichess_id,
    white_rating_diff, black_rating_diff, white_fide_id, black_fide_id, eval_count, clock_count,
    variant, start_fen, status, path AS source, byte_offset, byte_length
FROM game
-- Each shard counts its sources from 1.
LEFT JOIN (SELECT source_id, path, parse_filename(filename)[6:10]::BIGINT AS shard FROM read_parquet(
    getvariable('pgndex') || '/source/*.parquet', filename = true)) AS s
    ON s.source_id = game.source_id AND s.shard = game.game_id >> 32;

CREATE OR REPLACE VIEW moves AS
SELECT
    game_id,
    ply,
    move_number,
    side,
    fen || ' ' || halfmove_clock || ' ' || move_number AS fen,
    CASE WHEN move_code = 0 THEN '0000' ELSE from_square || to_square || coalesce(promotion, '') END AS uci,
    move_code,
    special,
    from_square,
    to_square,
    piece,
    captured,
    promotion,
    is_check,
    is_mate,
    key,
    clock,
    CASE WHEN elapsed >= 0 THEN elapsed END AS elapsed,
    eval_cp_before,
    eval_mate_before,
    eval_cp,
    eval_mate,
    (
        SELECT string_agg(n.nag, ' ' ORDER BY n.nag)
        FROM nag AS n WHERE n.game_id = m.game_id AND n.line = 0 AND n.ply = m.ply + 1
    ) AS nags,
    (
        SELECT string_agg(c.text, ' ' ORDER BY c.number)
        FROM comment AS c WHERE c.game_id = m.game_id AND c.line = 0 AND c.ply = m.ply + 1
    ) AS comment
FROM (
    SELECT
        p.game_id,
        p.ply,
        p.key,
        p.fen,
        p.halfmove_clock,
        p.move_code,
        split_part(p.fen, ' ', 2) AS side,
        CASE
            WHEN g.start_fen IS NULL THEN 1 + (p.ply >> 1)
            ELSE split_part(g.start_fen, ' ', 6)::BIGINT
                + ((p.ply + CASE WHEN split_part(g.start_fen, ' ', 2) = 'b' THEN 1 ELSE 0 END) >> 1)
        END AS move_number,
        (p.move_code >> 24) & 15 AS special,
        move_from(p.move_code) AS from_square,
        move_to(p.move_code) AS to_square,
        move_piece(p.move_code) AS piece,
        move_captured(p.move_code) AS captured,
        move_promotion(p.move_code) AS promotion,
        (p.move_code >> 28) & 1 AS is_check,
        (p.move_code >> 29) & 1 AS is_mate,
        after_move.clock,
        coalesce(after_move.elapsed, earlier.clock - after_move.clock + g.time_increment_cs) AS elapsed,
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

-- What a move lost of winning chances, as in SQLite.
CREATE OR REPLACE VIEW judgements AS
SELECT
    game_id,
    ply,
    side,
    chances_before,
    chances_after,
    loss,
    CASE WHEN loss >= 0.3 THEN 'blunder' WHEN loss >= 0.2 THEN 'mistake' WHEN loss >= 0.1 THEN 'inaccuracy' END AS judgement,
    CASE
        WHEN loss <= 0.004473 THEN 100.0
        WHEN loss >= 1.7743 THEN 0.0
        ELSE 103.1668100711649::DOUBLE * exp(-2.1772076933769755 * loss) - 2.166924740191411::DOUBLE
    END AS accuracy
FROM (
    SELECT *, greatest(chances_before - chances_after, 0.0) AS loss
    FROM (
        SELECT
            game_id,
            ply,
            CASE WHEN sign = 1 THEN 'w' ELSE 'b' END AS side,
            sign * winning_chances(cp_before, mate_before) AS chances_before,
            sign * winning_chances(eval_cp, eval_mate) AS chances_after
        FROM (
            SELECT
                after_move.game_id,
                after_move.ply - 1 AS ply,
                CASE WHEN (after_move.ply - 1
                    + CASE WHEN split_part(g.start_fen, ' ', 2) = 'b' THEN 1 ELSE 0 END) % 2 = 0 THEN 1 ELSE -1 END AS sign,
                CASE
                    WHEN before_move.eval_cp IS NOT NULL THEN before_move.eval_cp
                    WHEN after_move.ply = 1 AND before_move.eval_mate IS NULL AND g.start_fen IS NULL THEN 15
                END AS cp_before,
                before_move.eval_mate AS mate_before,
                after_move.eval_cp,
                after_move.eval_mate
            FROM move_eval AS after_move
            JOIN game AS g ON g.game_id = after_move.game_id
            LEFT JOIN move_eval AS before_move
                ON before_move.game_id = after_move.game_id AND before_move.ply = after_move.ply - 1
            WHERE after_move.ply > 0
        )
    )
    WHERE chances_before IS NOT NULL AND chances_after IS NOT NULL
);

CREATE OR REPLACE VIEW accuracies AS
SELECT
    j.game_id,
    j.side,
    CASE j.side WHEN 'w' THEN g.white ELSE g.black END AS player,
    CASE j.side WHEN 'w' THEN g.white_elo ELSE g.black_elo END AS elo,
    j.moves,
    j.accuracy,
    j.inaccuracies,
    j.mistakes,
    j.blunders
FROM (
    SELECT
        game_id,
        side,
        count(*) AS moves,
        avg(accuracy) AS accuracy,
        count(*) FILTER (WHERE judgement = 'inaccuracy') AS inaccuracies,
        count(*) FILTER (WHERE judgement = 'mistake') AS mistakes,
        count(*) FILTER (WHERE judgement = 'blunder') AS blunders
    FROM judgements
    GROUP BY game_id, side
) AS j
JOIN game AS g ON g.game_id = j.game_id;

-- All spellings are players of their own here.
CREATE OR REPLACE VIEW players AS
SELECT
    name,
    1 AS spellings,
    count(DISTINCT game_id) AS games,
    sum(is_white)::BIGINT AS as_white,
    sum(1 - is_white)::BIGINT AS as_black,
    min(year) AS first_year,
    max(year) AS last_year,
    NULL::BIGINT AS fide_id
FROM (
    SELECT game_id, white AS name, 1 AS is_white, try_cast(date[1:4] AS BIGINT) AS year FROM game
    UNION ALL
    SELECT game_id, black, 0, try_cast(date[1:4] AS BIGINT) FROM game
)
WHERE name IS NOT NULL
GROUP BY name;

-- One row for each distinct position. Asked by key it reads the keys of all games; position_at is the quicker way.
CREATE OR REPLACE VIEW positions AS
SELECT
    key,
    fen,
    count(*) AS occurrences,
    arg_min(game_id, (game_id, ply)) AS first_game_id,
    arg_min(ply, (game_id, ply)) AS first_ply
FROM game_position
GROUP BY key, fen;

-- The games that reached a position, by its key: SELECT * FROM position_at(595762792459712928).
CREATE OR REPLACE MACRO position_at(position) AS TABLE
SELECT * EXCLUDE (key_prefix) FROM position_game WHERE key_prefix = key_prefix(position) AND key = position;
