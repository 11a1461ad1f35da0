"""Databases from PGN."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, NamedTuple

from pgndex import _pgndex
from pgndex._read import Path, Paths, _paths


class Progress(NamedTuple):
    """Progress of a run."""

    phase: str
    """`looking for sources`, `reading`, `sorting` or `finishing`."""
    bytes: int
    """Bytes read so far."""
    total_bytes: int
    """Bytes of all files; 0 if not known yet, or if one of them is a stream."""
    games: int
    """Games read so far."""
    plies: int
    """Half-moves replayed so far."""


def index(
    paths: Paths,
    target: Path,
    *,
    progress: Callable[[Progress], object] | None = None,
    parquet: bool = False,
    overwrite: bool = False,
    threads: int | None = None,
    memory: int | None = None,
    temp_dir: Path | None = None,
    strict: bool = False,
    on_problem: str = "keep",
    duplicates: str | None = None,
    annotations: str | None = None,
    continuation_threshold: int | None = None,
    layout: str | None = None,
) -> dict[str, Any]:
    """Indexes PGN files into a database, or with `parquet=True` into a directory of Parquet files.

    If the database exists, new games are added to it, unless `overwrite=True`. The options are those of `pgndex index`; the defaults of
    `duplicates`, `annotations` and `layout` are those of the database, or `skip`, `all` and `open`. `progress` is called with a
    `Progress` ten times a second. If it raises an exception, or on Ctrl-C, the work stops, and the database is unchanged. Returns the
    summary that `pgndex index --json` prints.
    """
    options = SimpleNamespace(
        threads=threads,
        memory=memory,
        temp_dir=temp_dir,
        overwrite=overwrite,
        strict=strict,
        on_problem=on_problem,
        duplicates=duplicates,
        annotations=annotations,
        continuation_threshold=continuation_threshold,
        layout=layout,
    )

    def report(*numbers: Any) -> None:
        if progress is not None:
            progress(Progress(*numbers))

    callback = None if progress is None else report
    summary: dict[str, Any] = json.loads(_pgndex.index(_paths(paths), os.fspath(target), parquet, options, callback))
    return summary
