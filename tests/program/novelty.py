"""Asks `pgndex game --novelty` for the new moves of all games, and compares the answers with reading all games with
python-chess.

Usage: novelty.py PGNDEX DATABASE PGN. Prints the number of games and of new moves.
"""

import collections
import json
import re
import subprocess
import sys

import chess

# Imported modules of this directory leave no `.pyc` files.
sys.dont_write_bytecode = True
from games import read_games


def before(date):
    """The latest day, month or year before a date, as the beginning of a date."""
    year, month, day = (int(part) if part.isdigit() else 0 for part in date.split("."))
    if not year:
        return None
    if not month:
        return "%04d" % (year - 1)
    if day > 1:
        return "%04d.%02d.%02d" % (year, month, day - 1)
    return "%04d.%02d" % (year, month - 1) if month > 1 else "%04d.12" % (year - 1)


def main():
    program, database, pgn = sys.argv[1:]
    games, reached = [], collections.defaultdict(list)
    for game in read_games(pgn):
        date = game.headers.get("Date", "")
        if not re.fullmatch(r"(\d{4}|\?{4})\.(0[1-9]|1[0-2]|\?\?)\.(0[1-9]|[12]\d|3[01]|\?\?)", date):
            date = "????.??.??"
        board, line = game.board(), []
        moves = list(game.mainline_moves())
        for move in moves + [None]:
            position = " ".join(board.fen(en_passant="legal").split()[:4])
            line.append((position, move and board.san(move), move and board.uci(move)))
            if move:
                board.push(move)
        games.append((date, line))
        if "?" not in date[:4]:
            for position in {position for position, *_ in line}:
                reached[position].append(date.replace("?", "0"))
    command = [program, "game", database, "1-%d" % len(games), "--novelty", "--format", "json", "--plain"]
    answers = subprocess.run(command, check=True, capture_output=True).stdout.decode().splitlines()
    assert len(answers) == len(games), (len(answers), len(games))
    new = 0
    for (date, line), answer in zip(games, answers):
        answer = json.loads(answer)
        found, what = answer["novelty"], (answer["game_id"], date)
        until = before(date)
        if until is None:
            assert found == {"kind": "no_date"}, (what, found)
            continue
        earlier = [sum(other < until + "~" for other in reached[position]) for position, *_ in line]
        if 0 not in earlier:
            assert found == {"kind": "nothing"}, (what, found)
            continue
        ply = earlier.index(0) - 1
        if ply < 0:
            assert found == {"kind": "start"}, (what, found)
            continue
        new += 1
        _, san, uci = line[ply]
        expected = {"kind": "move", "ply": ply, "san": san, "uci": uci, "games": earlier[ply]}
        assert {name: found[name] for name in expected} == expected, (what, found, expected)
    print(len(games), "games,", new, "new moves")


main()
