"""Tables of chess games straight from PGN."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

from pgndex._pgndex import Batch, DatabaseError, Error, PgnError, QuestionError, Rows, __version__, read

Paths = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]


def _paths(paths: Paths) -> list[str]:
    if isinstance(paths, (str, os.PathLike)):
        return [os.fspath(paths)]
    return [os.fspath(path) for path in paths]


def table(name: str, paths: Paths, *, columns: Iterable[str] | None = None, threads: int | None = None, memory: int | None = None,
          strict: bool = False, skip_errors: bool = False, range: tuple[int, int] | None = None, shard: int = 0,
          **which: Any) -> Rows:
    columns = None if columns is None else list(columns)
    return read(_paths(paths), name, columns, which, threads=threads, memory=memory, strict=strict, skip_errors=skip_errors,
                range=range, shard=shard)


def read_range(path: str | os.PathLike[str], start: int, end: int, table: str, **options: Any) -> Rows:
    """Rows of a table of the games whose first byte stands in the bytes from `start` up to before `end` of a file."""
    return globals()["table"](table, path, range=(start, end), **options)


def games(paths: Paths, **options: Any) -> Rows:
    return table("game", paths, **options)


def positions(paths: Paths, **options: Any) -> Rows:
    return table("game_position", paths, **options)


def moves(paths: Paths, **options: Any) -> Rows:
    return table("moves", paths, **options)
