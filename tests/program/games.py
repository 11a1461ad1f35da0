"""Games as python-chess reads them, for the other scripts in this directory."""

import io
import re

import chess.pgn


def read_games(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        # After two empty lines, python-chess does not recognise moves.
        text = io.StringIO(re.sub("\n{3,}", "\n\n", file.read()))
    while game := chess.pgn.read_game(text):
        yield game
