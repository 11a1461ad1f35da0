#!/usr/bin/env python3
"""openings.py LIST GAMES.pgn: the opening of each game, by python-chess.

LIST is a TSV file with the columns eco, name and pgn, or a directory of such files. The output has one line per
game: the ECO code and the name of its last position that has a name, or an empty line.
tests/data/famous_openings.tsv was made by

    python3 tests/data/openings.py src/opening/eco.tsv examples/famous-games.pgn > tests/data/famous_openings.tsv
"""

import csv
import functools
import io
import pathlib
import re
import sys

import chess
import chess.pgn


def read_list(path):
    files = sorted(path.glob("*.tsv")) if path.is_dir() else [path]
    openings = {}
    for file in files:
        with open(file, encoding="utf-8", newline="") as lines:
            table = (line for line in lines if not line.startswith("#"))
            for row in csv.DictReader(table, delimiter="\t", quoting=csv.QUOTE_NONE):
                moves = tuple(word for word in row["pgn"].split() if not word[0].isdigit())
                openings[board_after(moves).epd()] = f"{row['eco']}\t{row['name']}"
    return openings


@functools.cache
def board_after(moves):
    """The board after some moves; results are cached, because most lines begin like another one."""
    if not moves:
        return chess.Board()
    board = board_after(moves[:-1]).copy(stack=False)
    board.push_san(moves[-1])
    return board


def main():
    sys.stdout.reconfigure(encoding="utf-8", newline="\n")
    openings = read_list(pathlib.Path(sys.argv[1]))
    with open(sys.argv[2], encoding="utf-8", errors="replace") as file:
        # A second blank line is insignificant, but python-chess would end the game there.
        games = io.StringIO(re.sub(r"\n\n+", "\n\n", file.read()))
    while (game := chess.pgn.read_game(games)) is not None:
        board = game.board()
        found = openings.get(board.epd(), "")
        for move in game.mainline_moves():
            board.push(move)
            found = openings.get(board.epd(), found)
        print(found)


main()
