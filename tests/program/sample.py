"""Draws positions with `pgndex export`, and checks that they equal those of reading every game with python-chess,
and that they are evenly distributed.

Usage: sample.py PGNDEX DATABASE PGN SEEDS. Prints the number of checked positions.
"""

import collections
import contextlib
import csv
import io
import math
import os
import sqlite3
import subprocess
import sys

import chess
import chess.pgn

# Plies before this one are left out in the tests that draw positions.
FIRST = 2
COLUMNS = "fen game_id ply uci san result white_elo black_elo eval_cp eval_mate".split()


def elo(game, tag):
    value = game.headers.get(tag, "")
    return value if value.isdigit() and value != "0" else ""


def value(node):
    """Centipawns and moves to mate, from White's view."""
    score = node.eval()
    if score is None:
        return "", ""
    score = score.white()
    return ("", str(score.mate())) if score.is_mate() else (str(score.score()), "")


def stored_values(database):
    """The evaluations in the database, by game and ply."""
    sql = "SELECT game_id, ply, ifnull(eval_cp, ''), ifnull(eval_mate, '') FROM move_eval"
    with contextlib.closing(sqlite3.connect(database)) as connection:
        return {(game, ply): (str(cp), str(mate)) for game, ply, cp, mate in connection.execute(sql)}


def read_games(path, stored):
    """The rows of each game, by id. python-chess reads only evaluations in the form of Lichess; others are taken
    from the database."""
    games = {}
    with open(path, encoding="utf-8", errors="replace") as text:
        while game := chess.pgn.read_game(text):
            assert not game.errors, game.errors
            number, rows, board = len(games) + 1, [], game.board()
            is_read = any(node.eval() for node in game.mainline())
            players = [game.headers["Result"], elo(game, "WhiteElo"), elo(game, "BlackElo")]
            for ply, node in enumerate([game, *game.mainline()]):
                following = node.next()
                move = [board.uci(following.move), board.san(following.move)] if following else ["", ""]
                values = value(node) if is_read else stored.get((number, ply), ("", ""))
                row = [board.fen(en_passant="legal"), str(number), str(ply), *move, *players, *values]
                rows.append(dict(zip(COLUMNS, row)))
                if following:
                    board.push(following.move)
            games[number] = rows
    return games


class Program:
    def __init__(self, path, database):
        self.command = [path, "export", database, "--format", "csv-positions"]

    def rows(self, *options, threads=None):
        environment = {**os.environ, **({"RAYON_NUM_THREADS": str(threads)} if threads else {})}
        options = [str(option) for option in options]
        answer = subprocess.run([*self.command, *options], capture_output=True, text=True, env=environment, check=True)
        reader = csv.DictReader(io.StringIO(answer.stdout))
        assert reader.fieldnames == COLUMNS, reader.fieldnames
        return list(reader)


def place(row):
    return int(row["game_id"]), int(row["ply"])


def hold(rows, games):
    """Each row equals the position of its game, and no position occurs twice."""
    for row in rows:
        game, ply = place(row)
        assert row == games[game][ply], (row, games[game][ply])
    assert len(set(map(place, rows))) == len(rows)


def hold_even(counts, expected, spread, what):
    """The counts are plausible: `spread` is the variance of each count."""
    deviation = sum((count - expected) ** 2 for count in counts) / spread
    free = len(counts) - 1
    assert abs(deviation - free) < 5 * math.sqrt(2 * free), (what, deviation, free, counts)


def hold_draws(program, games, seeds):
    """Over many seeds, games are drawn equally often, and so are the positions of each game."""
    seen, tenths, size = collections.Counter(), collections.Counter(), len(games) // 3
    for seed in range(seeds):
        rows = program.rows("--sample", size, "--seed", seed, "--ply", f"{FIRST}-")
        hold(rows, games)
        assert len({row["game_id"] for row in rows}) == len(rows) == size
        for row in rows:
            game, ply = place(row)
            assert ply >= FIRST
            seen[game] += 1
            tenths[(ply - FIRST) * 10 // (len(games[game]) - FIRST)] += 1
    able = [number for number, rows in games.items() if len(rows) > FIRST]
    assert set(seen) <= set(able)
    chance = size / len(able)
    # If some games are drawn more often, others are drawn less often, so the variance is a little less than that of
    # independent draws.
    spread = seeds * chance * (1 - chance) * len(able) / (len(able) - 1)
    hold_even([seen[game] for game in able], seeds * chance, spread, "games")
    # The number of positions of a game is not always divisible by ten.
    shares = collections.Counter()
    for game in able:
        wanted = len(games[game]) - FIRST
        for at in range(wanted):
            shares[at * 10 // wanted] += 1 / wanted / len(able)
    drawn = sum(tenths.values())
    deviation = sum((tenths[tenth] - drawn * share) ** 2 / (drawn * share) for tenth, share in shares.items())
    assert deviation < 9 + 5 * math.sqrt(18), (tenths, deviation)
    return drawn


def main():
    path, database, pgn, seeds = sys.argv[1:]
    games, program = read_games(pgn, stored_values(database)), Program(path, database)
    every = [place(row) for rows in games.values() for row in rows]

    # Without a sample: all positions, in order.
    rows = program.rows()
    hold(rows, games)
    assert [place(row) for row in rows] == every
    looked_at = len(rows)
    # Positions with an evaluation.
    evaluated = {place(row) for rows in games.values() for row in rows if row["eval_cp"] or row["eval_mate"]}
    rows = program.rows("--evaluated", "--ply=-30")
    assert [place(row) for row in rows] == sorted(spot for spot in evaluated if spot[1] <= 30)
    if evaluated:
        rows = program.rows("--evaluated", "--sample", len(games))
        assert len(rows) == len({game for game, _ in evaluated}) and set(map(place, rows)) <= evaluated

    # The same seed gives the same draws, and a smaller sample is its beginning.
    few, more = program.rows("--sample", 10, "--seed", 5), program.rows("--sample", 30, "--seed", 5)
    assert more[:10] == few and program.rows("--sample", 10, "--seed", 6) != few
    # Several positions per game, and all existing ones.
    for most in (3, 100):
        rows = program.rows("--sample", len(every) + 1, "--per-game", most, "--ply", "2-40")
        hold(rows, games)
        counts = collections.Counter(game for game, _ in map(place, rows))
        for number, positions in games.items():
            assert counts[number] == min(most, len(positions[2:41])), (number, counts[number])
    # For a description, the position that matches.
    for played in ("?", "+"):
        course = [f"--move={played}", "--ply=2-", "--then", f"--move={played}"]
        found = program.rows(*course)
        drawn = [program.rows(*course, "--sample", len(games), threads=threads) for threads in (1, 2, 7)]
        assert drawn[0] == drawn[1] == drawn[2]
        hold(drawn[0], games)
        assert sorted(map(place, drawn[0])) == sorted(map(place, found)) and (found or played == "+")
    print(looked_at + hold_draws(program, games, int(seeds)), "positions")


main()
