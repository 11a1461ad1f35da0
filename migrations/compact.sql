DROP TABLE game_position;

-- Only in compact databases: the constants of the Polyglot Zobrist key. The view `game_position` makes a text from each
-- position. The key is the XOR of all values whose `letter` is at `place` in this text. The letter of a castling right is the
-- rank of its rook, '0' or '7'. The rows with the letter '' list the places; their value is not used.
CREATE TABLE position_key (
    letter TEXT NOT NULL,
    place  INTEGER NOT NULL,
    value  INTEGER NOT NULL,
    PRIMARY KEY (letter, place)
) WITHOUT ROWID, STRICT;

-- In the order of the Polyglot book format: pieces on the squares a1, b1 ... h8, castling rights, en-passant files, White to
-- move.
INSERT INTO position_key
SELECT
    CASE
        WHEN number < 768 THEN substr('pPnNbBrRqQkK', 1 + number / 64, 1)
        WHEN number < 772 THEN substr('0077', number - 767, 1)
        WHEN number < 780 THEN substr('abcdefgh', number - 771, 1)
        ELSE 'w'
    END,
    CASE
        WHEN number < 768 THEN 64 - 9 * (number % 64 / 8) + number % 8
        WHEN number < 772 THEN 73 + 3 * (number - 768)
        WHEN number < 780 THEN 85
        ELSE 72
    END,
    value
FROM (SELECT key AS number, value FROM json_each(:constants)); -- the 781 constants, a JSON array of signed integers

INSERT INTO position_key SELECT DISTINCT '', place, 0 FROM position_key;

-- The positions of all games, computed from their moves: the columns and rows of the table `game_position` in the open layout.
-- Give a game_id: without one, SQLite replays all games. It also does so if the view is on the right of a LEFT JOIN.
--
-- The subquery in json_each replays one game and returns its positions as a JSON array of texts. The columns are computed from
-- these texts, and only if a statement uses them. Each text has the same places, numbered from 1:
--
--      1-71  the board as in a FEN, with a dot for each empty square: a8 is 1, h8 is 8, a7 is 10, h1 is 71
--        72  the side to move, 'w' or 'b'
--     73-84  the squares of the rooks for K, Q, k and q, '07 00 77 70 ' at the start of standard chess; '--' if the right is lost
--        85  the file of the en-passant square, or '-'
--     86-93  the move in hexadecimal, or '--------' in the last position
--       94-  the half-move clock
--
-- Squares are two digits, rank and file from 0, as in a move code in hexadecimal. So square 'rf' is at place 64 - 9 * r + f.
CREATE VIEW game_position AS
SELECT
    game_moves.game_id,
    step.key AS ply,
    -- XOR of the constants. SQLite has no such operator and no such aggregate function, but a bit of the XOR is the parity of a
    -- sum of bits. Each sum adds every eighth bit: eight counts of at most 70, in one byte each, so that no carry reaches the
    -- next count.
    (
        SELECT
            sum(term.value & 0x0101010101010101) & 0x0101010101010101
            | ((sum(term.value >> 1 & 0x0101010101010101) & 0x0101010101010101) << 1)
            | ((sum(term.value >> 2 & 0x0101010101010101) & 0x0101010101010101) << 2)
            | ((sum(term.value >> 3 & 0x0101010101010101) & 0x0101010101010101) << 3)
            | ((sum(term.value >> 4 & 0x0101010101010101) & 0x0101010101010101) << 4)
            | ((sum(term.value >> 5 & 0x0101010101010101) & 0x0101010101010101) << 5)
            | ((sum(term.value >> 6 & 0x0101010101010101) & 0x0101010101010101) << 6)
            | ((sum(term.value >> 7 & 0x0101010101010101) & 0x0101010101010101) << 7)
        FROM position_key AS slot
        -- CROSS JOIN: SQLite must not begin with `term`, which has more rows.
        CROSS JOIN position_key AS term ON term.letter = substr(step.value, slot.place, 1) AND term.place = slot.place
        WHERE slot.letter = ''
    ) AS key,
    CAST(substr(step.value, 94) AS INTEGER) AS halfmove_clock,
    CASE WHEN substr(step.value, 86, 1) <> '-' THEN
        -- The highest bit of the first digit is not part of the move code.
        (instr('123456789ABCDEF', substr(step.value, 86, 1)) & 7) << 28
        | (instr('123456789ABCDEF', substr(step.value, 87, 1)) << 24)
        | (instr('123456789ABCDEF', substr(step.value, 88, 1)) << 20)
        | (instr('123456789ABCDEF', substr(step.value, 89, 1)) << 16)
        | (instr('123456789ABCDEF', substr(step.value, 90, 1)) << 12)
        | (instr('123456789ABCDEF', substr(step.value, 91, 1)) << 8)
        | (instr('123456789ABCDEF', substr(step.value, 92, 1)) << 4)
        | instr('123456789ABCDEF', substr(step.value, 93, 1))
    END AS move_code,
    -- Placement: longer runs of dots first.
    replace(replace(replace(replace(replace(replace(replace(replace(
        substr(step.value, 1, 71),
        '........', '8'), '.......', '7'), '......', '6'), '.....', '5'), '....', '4'), '...', '3'), '..', '2'), '.', '1')
    || ' ' || substr(step.value, 72, 1) || ' '
    -- Castling in X-FEN: 'K' if the rook is the outermost one on that side, otherwise the letter of its file; Q, k and q
    -- likewise.
    || CASE WHEN substr(step.value, 73, 12) = '-- -- -- -- ' THEN '-' ELSE
        CASE
            WHEN substr(step.value, 73, 1) = '-' THEN ''
            WHEN instr(substr(step.value, 65 + substr(step.value, 74, 1), 7 - substr(step.value, 74, 1)), 'R') = 0 THEN 'K'
            ELSE substr('ABCDEFGH', 1 + substr(step.value, 74, 1), 1)
        END
        || CASE
            WHEN substr(step.value, 76, 1) = '-' THEN ''
            WHEN instr(substr(step.value, 64, substr(step.value, 77, 1)), 'R') = 0 THEN 'Q'
            ELSE substr('ABCDEFGH', 1 + substr(step.value, 77, 1), 1)
        END
        || CASE
            WHEN substr(step.value, 79, 1) = '-' THEN ''
            WHEN instr(substr(step.value, 2 + substr(step.value, 80, 1), 7 - substr(step.value, 80, 1)), 'r') = 0 THEN 'k'
            ELSE substr('abcdefgh', 1 + substr(step.value, 80, 1), 1)
        END
        || CASE
            WHEN substr(step.value, 82, 1) = '-' THEN ''
            WHEN instr(substr(step.value, 1, substr(step.value, 83, 1)), 'r') = 0 THEN 'q'
            ELSE substr('abcdefgh', 1 + substr(step.value, 83, 1), 1)
        END
    END
    || ' ' || substr(step.value, 85, 1)
    || CASE WHEN substr(step.value, 85, 1) = '-' THEN '' WHEN substr(step.value, 72, 1) = 'w' THEN '6' ELSE '3' END AS fen
-- A subquery in FROM cannot use columns of another table, but the argument of json_each can. So `WHERE game_id = 7` replays one
-- game.
FROM game_moves
JOIN json_each((
    WITH RECURSIVE
    -- The start FEN; no row if the game starts from the standard position. MATERIALIZED: without it, SQLite would compute an
    -- expression again wherever its name is used.
    start_text AS MATERIALIZED (
        SELECT
            substr(start_fen, 1, instr(start_fen, ' ') - 1) AS placement,
            substr(start_fen, instr(start_fen, ' ') + 1) AS fields -- 'w KQkq - 0 1'
        FROM game
        WHERE game.game_id = game_moves.game_id AND start_fen IS NOT NULL
    ),
    start_board AS MATERIALIZED (
        SELECT
            replace(replace(replace(replace(replace(replace(replace(replace(
                placement,
                '8', '........'), '7', '.......'), '6', '......'), '5', '.....'), '4', '....'), '3', '...'), '2', '..'),
                '1', '.') AS board,
            substr(fields, 1, 1) AS side,
            substr(fields, 3, instr(substr(fields, 3), ' ') - 1) AS castling,
            substr(fields, instr(substr(fields, 3), ' ') + 3) AS fields -- '- 0 1'
        FROM start_text
    ),
    start_rights AS MATERIALIZED (
        SELECT
            board, side,
            -- White's letters come first.
            rtrim(castling, '-kqabcdefgh') AS white,
            ltrim(castling, '-KQABCDEFGH') AS black,
            substr(fields, 1, 1) AS en_passant,
            CAST(substr(fields, instr(fields, ' ') + 1) AS INTEGER) AS clock
        FROM start_board
    ),
    -- Files, counted from 1, of the kings, and of the rooks of the first and the last letter of each side's rights. If the
    -- first rook is to the right of the king, it is for castling short; if the last one is to the left, it is for castling
    -- long. A side with one right has one letter, which is both. 0 or less: no letter of a file.
    start_files AS MATERIALIZED (
        SELECT
            board, side, en_passant, clock,
            instr(substr(board, 64, 8), 'K') AS white_king,
            CASE substr(white, 1, 1)
                WHEN 'K' THEN length(rtrim(substr(board, 64, 8), '.PNBQKpnbrqk'))
                ELSE instr('.ABCDEFGH', substr(white, 1, 1)) - 1
            END AS white_first,
            CASE substr(white, -1, 1)
                WHEN 'Q' THEN instr(substr(board, 64, 8), 'R')
                ELSE instr('.ABCDEFGH', substr(white, -1, 1)) - 1
            END AS white_last,
            instr(substr(board, 1, 8), 'k') AS black_king,
            CASE substr(black, 1, 1)
                WHEN 'k' THEN length(rtrim(substr(board, 1, 8), '.pnbqkPNBRQK'))
                ELSE instr('.abcdefgh', substr(black, 1, 1)) - 1
            END AS black_first,
            CASE substr(black, -1, 1)
                WHEN 'q' THEN instr(substr(board, 1, 8), 'r')
                ELSE instr('.abcdefgh', substr(black, -1, 1)) - 1
            END AS black_last
        FROM start_rights
    ),
    -- Castling: `slot` is the place of the rook's square in `rooks`. Afterwards `pieces` are at `place` and to the right of it.
    castling (side, kind, slot, king, place, pieces) AS (
        VALUES
            ('w', '1', 1, 'K', 69, 'RK'), ('w', '2', 4, 'K', 66, 'KR'),
            ('b', '1', 7, 'k', 6, 'rk'), ('b', '2', 10, 'k', 3, 'kr')
    ),
    position (ply, move, board, side, rooks, en_passant, clock) AS (
        SELECT
            0, hex(substr(game_moves.moves, 1, 4)),
            'rnbqkbnr/pppppppp/......../......../......../......../PPPPPPPP/RNBQKBNR', 'w', '07 00 77 70 ', '-', 0
        WHERE NOT EXISTS (SELECT 1 FROM start_text)
        UNION ALL
        SELECT
            0, hex(substr(game_moves.moves, 1, 4)), board, side,
            CASE WHEN white_first > white_king THEN '0' || (white_first - 1) ELSE '--' END || ' '
                || CASE WHEN white_last BETWEEN 1 AND white_king THEN '0' || (white_last - 1) ELSE '--' END || ' '
                || CASE WHEN black_first > black_king THEN '7' || (black_first - 1) ELSE '--' END || ' '
                || CASE WHEN black_last BETWEEN 1 AND black_king THEN '7' || (black_last - 1) ELSE '--' END || ' ',
            en_passant, clock
        FROM start_files
        UNION ALL
        SELECT
            ply + 1,
            hex(substr(game_moves.moves, 4 * ply + 5, 4)),
            -- The digits of a move: 1 en passant, mate and check, 2 SPECIAL, 3 4 FROM, 5 6 TO, 7 PIECE, 8 CAPTURED.
            CASE
                WHEN substr(move, 2, 1) = '0' THEN board
                WHEN substr(move, 2, 1) IN ('1', '2') THEN (
                    -- Remove both pieces, then put both: in Chess960 one can go to the square of the other, or stay.
                    SELECT substr(lifted, 1, place - 1) || pieces || substr(lifted, place + 2)
                    FROM (
                        SELECT
                            place,
                            pieces,
                            replace(substr(board, 1, rook - 1) || '.' || substr(board, rook + 1), king, '.') AS lifted
                        FROM (
                            SELECT place, pieces, king, 64 - 9 * substr(rooks, slot, 1) + substr(rooks, slot + 1, 1) AS rook
                            FROM castling
                            WHERE castling.side = position.side AND kind = substr(move, 2, 1)
                        )
                    )
                )
                WHEN substr(move, 2, 1) = 'F' THEN (
                    -- The pawns are side by side; `pair` is the place of the left one.
                    SELECT substr(lifted, 1, target - 1) || substr(board, origin, 1) || substr(lifted, target + 1)
                    FROM (
                        SELECT origin, target, substr(board, 1, pair - 1) || '..' || substr(board, pair + 2) AS lifted
                        FROM (
                            SELECT
                                64 - 9 * substr(move, 3, 1) + substr(move, 4, 1) AS origin,
                                64 - 9 * substr(move, 5, 1) + substr(move, 6, 1) AS target,
                                64 - 9 * substr(move, 3, 1) + min(substr(move, 4, 1), substr(move, 6, 1)) AS pair
                        )
                    )
                )
                ELSE (
                    SELECT
                        CASE WHEN origin < target
                            THEN substr(board, 1, origin - 1) || '.' || substr(board, origin + 1, target - origin - 1) || piece
                                || substr(board, target + 1)
                            ELSE substr(board, 1, target - 1) || piece || substr(board, target + 1, origin - target - 1) || '.'
                                || substr(board, origin + 1)
                        END
                    FROM (
                        SELECT
                            64 - 9 * substr(move, 3, 1) + substr(move, 4, 1) AS origin,
                            64 - 9 * substr(move, 5, 1) + substr(move, 6, 1) AS target,
                            CASE substr(move, 2, 1)
                                WHEN '4' THEN 'N' WHEN '5' THEN 'n' WHEN '8' THEN 'B' WHEN '9' THEN 'b'
                                WHEN 'A' THEN 'R' WHEN 'B' THEN 'r' WHEN 'C' THEN 'Q' WHEN 'D' THEN 'q'
                                ELSE substr(board, 64 - 9 * substr(move, 3, 1) + substr(move, 4, 1), 1)
                            END AS piece
                    )
                )
            END,
            CASE side WHEN 'w' THEN 'b' ELSE 'w' END,
            -- A king's move ends both rights of its side. A right also ends if its rook moves or is captured.
            CASE
                WHEN rooks = '-- -- -- -- ' OR substr(move, 2, 1) = '0' THEN rooks
                ELSE replace(
                    CASE substr(move, 7, 1)
                        WHEN '6' THEN '-- -- ' || substr(rooks, 7)
                        WHEN '7' THEN substr(rooks, 1, 6) || '-- -- '
                        ELSE replace(rooks, substr(move, 3, 2) || ' ', '-- ')
                    END,
                    substr(move, 5, 2) || ' ', '-- ')
            END,
            CASE WHEN move >= '8' THEN substr('abcdefgh', 1 + substr(move, 6, 1), 1) ELSE '-' END,
            -- Null moves, castling and reversible moves count. The clock stops at the greatest 32-bit number.
            CASE WHEN substr(move, 2, 1) <= '3' THEN min(clock + 1, 4294967295) ELSE 0 END
        FROM position
        WHERE move <> ''
    )
    SELECT
        '["' || group_concat(
            board || side || rooks || en_passant || CASE move WHEN '' THEN '--------' ELSE move END || clock,
            '","') || '"]'
    FROM position
)) AS step;
