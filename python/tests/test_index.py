"""Databases and Parquet files from Python."""

from __future__ import annotations

import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import polars
import pytest

import pgndex


def test_progress_is_reported(examples: Path, tmp_path: Path) -> None:
    told: list[pgndex.Progress] = []
    summary = pgndex.index([examples / "synthetic.pgn"], tmp_path / "a.db", progress=told.append)
    assert (summary["games"], summary["database"]) == (1000, str(tmp_path / "a.db"))
    assert told[-1].games == 1000 and told[-1].bytes == told[-1].total_bytes > 0
    assert told[-1].phase == "finishing"
    assert sqlite3.connect(tmp_path / "a.db").execute("SELECT count(*) FROM game").fetchone() == (1000,)
    again = pgndex.index(examples / "synthetic.pgn", tmp_path / "a.db")
    assert (again["games"], again["known_sources"]) == (0, 1)


def test_the_program_makes_the_same(examples: Path, tmp_path: Path, run) -> None:
    pgndex.index(examples, tmp_path / "a.db")
    run("index", "--quiet", tmp_path / "b.db", examples)
    sums = "SELECT count(*), sum(key >> 20), max(fen) FROM game_position"
    one, other = (sqlite3.connect(tmp_path / name).execute(sums).fetchall() for name in ("a.db", "b.db"))
    assert one == other


def test_parquet_files(examples: Path, tmp_path: Path) -> None:
    summary = pgndex.index(examples / "famous-games.pgn", tmp_path / "parquet", parquet=True)
    assert summary["parquet_files"] > 0
    files = polars.read_parquet(tmp_path / "parquet" / "game_position" / "**" / "*.parquet", hive_partitioning=False)
    ours = polars.DataFrame(pgndex.positions(examples / "famous-games.pgn"))
    assert files.sort("game_id", "ply").select(ours.columns).equals(ours)


def test_an_exception_in_progress_stops_the_work(examples: Path, tmp_path: Path) -> None:
    many = tmp_path / "many.pgn"
    many.write_bytes(((examples / "synthetic.pgn").read_bytes() + b"\n") * 60)

    def report(progress: pgndex.Progress) -> None:
        raise LookupError("enough")

    with pytest.raises(LookupError, match="enough"):
        pgndex.index(many, tmp_path / "a.db", progress=report)
    assert not (tmp_path / "a.db").exists()


def test_control_c_stops_the_work(examples: Path, tmp_path: Path) -> None:
    script = f"import pgndex; print('begun', flush=True); pgndex.index('-', {str(tmp_path / 'a.db')!r})"
    process = subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout and process.stdout.readline() == b"begun\n"
    time.sleep(1)
    process.send_signal(signal.SIGINT)
    # Its standard input is closed only then: that would end the work as well.
    process.wait(timeout=20)
    _, errors = process.communicate()
    assert process.returncode != 0 and b"KeyboardInterrupt" in errors
    assert list(tmp_path.iterdir()) == []


def test_errors(examples: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken.pgn"
    broken.write_text('[White "A"]\n\n1. e4 e5 2. Ke3 *\n')
    with pytest.raises(pgndex.PgnError) as caught:
        pgndex.index(broken, tmp_path / "a.db", on_problem="stop")
    assert (caught.value.path, caught.value.line, caught.value.game) == (str(broken), 3, 1)
    with pytest.raises(ValueError, match="keep, skip, moves"):
        pgndex.index(broken, tmp_path / "a.db", duplicates="none")
    with pytest.raises(pgndex.DatabaseError):
        pgndex.index(broken, tmp_path / "none" / "a.db")
    assert not (tmp_path / "a.db").exists()
