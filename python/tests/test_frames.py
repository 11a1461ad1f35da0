"""What takes Arrow streams takes ours."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pandas
import polars
import pyarrow
import pytest

import pgndex


@pytest.fixture
def path(examples: Path) -> Path:
    return examples / "famous-games.pgn"


def test_polars(path: Path) -> None:
    frame = polars.DataFrame(pgndex.positions(path))
    assert frame.shape == (3288, 6)
    assert frame.schema["fen"] == polars.String and frame.schema["key"] == polars.Int64
    assert polars.DataFrame(pgndex.positions(path), schema=frame.schema).equals(frame)


def test_pyarrow_has_the_very_buffers(path: Path) -> None:
    table = pyarrow.table(pgndex.positions(path))
    assert table.num_rows == 3288
    batch = next(iter(pgndex.positions(path)))
    one, other = pyarrow.record_batch(batch), pyarrow.record_batch(batch)
    for column in range(one.num_columns):
        ours, theirs = (batch.column(column).buffers()[-1].address for batch in (one, other))
        assert ours == theirs, "both see the same memory"
    assert len(batch) == batch.num_rows == one.num_rows
    reader = pyarrow.RecordBatchReader.from_stream(pgndex.positions(path))
    assert reader.schema.names == ["game_id", "ply", "key", "halfmove_clock", "move_code", "fen"]
    assert not reader.schema.field("fen").nullable and reader.schema.field("move_code").nullable
    assert reader.read_all().equals(table)


def test_pandas(path: Path) -> None:
    frame = pandas.DataFrame.from_arrow(pgndex.games(path))
    assert len(frame) == 53 and frame["white"][0] == "Légal, Kermur de"


def test_other_objects_than_arrow_readers_are_refused(path: Path) -> None:
    import numpy

    batch = next(iter(pgndex.games(path)))
    for take in (
        lambda: pandas.DataFrame(pgndex.games(path)),
        lambda: pandas.DataFrame(list(pgndex.games(path))),
        lambda: pandas.DataFrame(batch),
        lambda: pandas.read_json(pgndex.games(path)),
        lambda: pandas.read_csv(pgndex.games(path)),
        lambda: numpy.array(pgndex.games(path)),
        lambda: list(batch),
        lambda: batch["white"],
        lambda: dict(batch),
    ):
        with pytest.raises(TypeError, match="pandas.DataFrame.from_arrow"):
            take()
    assert len(pandas.DataFrame.from_arrow(batch)) == len(polars.DataFrame(batch)) == 53
    assert pyarrow.table(pgndex.games(path)).to_pylist()[0]["white"] == "Légal, Kermur de"


def test_duckdb(path: Path) -> None:
    rows = pgndex.positions(path)  # noqa: F841  DuckDB looks it up by its name
    assert duckdb.sql("SELECT count(*), count(DISTINCT key) FROM rows").fetchall() == [(3288, 3053)]
    connection = duckdb.connect()
    connection.register("games", pgndex.games(path))
    connection.register("positions", pgndex.positions(path))
    joined = connection.sql("SELECT count(*) FROM games JOIN positions USING (game_id) WHERE ply = ply_count")
    assert joined.fetchall() == [(53,)]


def test_no_library_of_frames_is_needed(path: Path) -> None:
    import subprocess
    import sys

    script = f"""
import pgndex, sys
assert sum(len(batch) for batch in pgndex.positions({str(path)!r})) == 3288
for name in ("pyarrow", "polars", "pandas", "numpy", "duckdb"):
    assert name not in sys.modules
"""
    subprocess.run([sys.executable, "-c", script], check=True)


def test_stubs_name_what_there_is() -> None:
    import ast

    from pgndex import _pgndex

    stubs = ast.parse(Path(pgndex.__file__).with_name("_pgndex.pyi").read_text())
    names = {node.name for node in stubs.body if isinstance(node, (ast.ClassDef, ast.FunctionDef))}
    there = {name for name in dir(_pgndex) if not name.startswith("_")}
    assert names == there
    for node in stubs.body:
        if isinstance(node, ast.ClassDef):
            methods = {method.name for method in node.body if isinstance(method, ast.FunctionDef)} - {"__init__"}
            assert all(hasattr(getattr(_pgndex, node.name), method) for method in methods), node.name
    assert Path(pgndex.__file__).with_name("py.typed").exists()


def test_all_that_is_public_says_what_it_is() -> None:
    for name in pgndex.__all__:
        if name != "__version__":
            assert getattr(pgndex, name).__doc__, name
