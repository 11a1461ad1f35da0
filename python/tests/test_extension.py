"""The SQLite extension, and the program."""

from __future__ import annotations

import sqlite3
import subprocess
from pathlib import Path
from typing import Any

import apsw
import pytest

import pgndex

START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -"


def connections(database: Path) -> list[Any]:
    """One of each module that can load extensions: not every Python's own can."""
    found = [apsw.Connection(str(database))]
    if hasattr(sqlite3.Connection, "enable_load_extension"):
        found.append(sqlite3.connect(database))
    return found


def test_functions_are_there_after_loading(database: Path) -> None:
    for connection in connections(database):
        with pytest.raises(Exception, match="no such function"):
            connection.execute("SELECT fen_key('4k3/8/8/8/8/8/8/4K3 w - -')")
        pgndex.load(connection)
        assert connection.execute("SELECT fen_key(?)", [START]).fetchone() == (pgndex.Position().key,)
        assert connection.execute("SELECT move_uci(move_code) FROM game_position LIMIT 1").fetchone() == ("e2e4",)
        with pytest.raises(Exception, match="not authorized"):
            connection.execute("SELECT load_extension('x')").fetchall()


def test_the_path_is_that_of_a_file() -> None:
    path = Path(pgndex.loadable_path())
    assert list(path.parent.glob(path.name + ".*"))


def test_a_connection_without_extensions_says_what_to_do() -> None:
    with pytest.raises(RuntimeError, match="apsw"):
        pgndex.load(object())


def test_the_program_comes_with_it(program: str) -> None:
    version = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout
    assert pgndex.__version__ in version


def test_positions_draw_themselves() -> None:
    position = pgndex.Position(moves="1. e4 e5 2. Nf3")
    svg = position._repr_svg_()
    assert svg.startswith("<svg") and "2. Nf3" not in position.fen
    assert position.fen == "rnbqkbnr/pppp1ppp/8/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R b KQkq - 1 2"
    assert pgndex.Position(position.fen) == position
    assert pgndex.Position(moves="1. e4", flip=True).svg() != pgndex.Position(moves="1. e4").svg()
    with pytest.raises(pgndex.QuestionError, match="cannot|not|illegal"):
        pgndex.Position(moves="1. e5")
