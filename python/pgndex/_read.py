"""Tables directly from PGN."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypedDict

from pgndex import _pgndex
from pgndex._pgndex import Rows

if TYPE_CHECKING:
    from typing_extensions import Unpack

Path = str | os.PathLike[str]
Paths = Path | Iterable[Path]


class Which(TypedDict, total=False):
    """Filters of games. All conditions must hold."""

    white: str | None
    black: str | None
    player: str | None
    opponent: str | None
    elo_min: int | None
    elo_max: int | None
    since: str | int | None
    until: str | int | None
    result: str | None
    event: str | None
    site: str | None
    opening: str | None
    eco: str | None
    opening_eco: str | None
    speed: str | Sequence[str] | None
    time_control: str | None
    termination: str | None
    plies_min: int | None
    plies_max: int | None
    with_evals: bool | None
    variant: str | None


class Reading(Which, total=False):
    """How files are read, and filters of games."""

    columns: Iterable[str] | None
    threads: int | None
    memory: int | None
    strict: bool
    skip_errors: bool
    shard: int


class Choosing(Reading, total=False):
    """How files are read, filters of games, and filters of positions."""

    plies: tuple[int, int] | None
    evaluated: bool
    sample: int | None
    seed: int
    one_per_game: bool
    per_game: int | None


def _paths(paths: Paths) -> list[str]:
    if isinstance(paths, (str, os.PathLike)):
        return [os.fspath(paths)]
    return [os.fspath(path) for path in paths]


def _columns(columns: Iterable[str] | None) -> list[str] | None:
    """The names of columns; a single name may be a string."""
    if columns is None:
        return None
    return [columns] if isinstance(columns, str) else list(columns)


_READING = ("threads", "memory", "strict", "skip_errors", "shard")
_CHOOSING = ("plies", "evaluated", "sample", "seed", "per_game")


def _read(name: str, paths: Paths, byte_range: tuple[int, int] | None, options: dict[str, Any]) -> Rows:
    columns = _columns(options.pop("columns", None))
    how = {key: options.pop(key) for key in (*_READING, *_CHOOSING) if key in options}
    if options.pop("one_per_game", False):
        how["per_game"] = 1
    return _pgndex.read(_paths(paths), name, columns, options, range=byte_range, **how)


def table(name: str, paths: Paths, **options: Unpack[Choosing]) -> Rows:
    """Rows of a table, built from the games in PGN files.

    `name` is one of `game`, `game_position`, `moves`, `move_eval`, `tag`, `comment`, `nag`, `command`, `variation`, `variation_move`,
    `problem`. Paths are files, compressed or not (`.zst`, `.gz`, `.bz2`, `.zip`), directories, patterns, `@` and the path of a list, or `-`
    for standard input.

    `columns` selects columns. `threads` and `memory` (in bytes) limit the resources. With `strict=True` the first error in a game raises a
    `PgnError` with its place. With `skip_errors=True` games with errors are skipped. By default, rows cover the readable part of such
    games, and the table `problem` lists the errors. Other keywords filter games.

    Games are numbered from 1 in the order of the input. Duplicates are included.
    """
    return _read(name, paths, None, dict(options))


def games(paths: Paths, **options: Unpack[Reading]) -> Rows:
    """The games in PGN files: players, ratings, dates, results, openings, clocks, length. Options are those of `table`."""
    return table("game", paths, **options)


def positions(paths: Paths, **options: Unpack[Choosing]) -> Rows:
    """All positions of the games in PGN files, or some of them.

    Default columns: `game_id`, `ply`, `key` (the Polyglot key), `halfmove_clock`, `move_code` (the move played there) and `fen` (four
    fields). Also available: `full_fen`, `move_number`, `side`, `uci`, `san`, `clock`, `elapsed`, `eval_cp`, `eval_mate`,
    `depth`, and all columns of `games`.

    `plies=(first, last)` selects positions at these plies, `evaluated=True` those with an evaluation. `sample=N` draws N positions at
    random, at most 100 from each game; `one_per_game=True` or `per_game=K` lowers this limit. The same `seed` draws the same positions,
    with any number of threads. Drawing reads all games twice.
    """
    return table("game_position", paths, **options)


def moves(paths: Paths, **options: Unpack[Choosing]) -> Rows:
    """All moves of the games in PGN files, or some of them.

    Default columns: `game_id`, `ply` (of the position before the move), `move_number`, `side`, `uci`, `san`,
    `clock` and `elapsed` (centiseconds), `eval_cp_before`, `eval_mate_before`, `eval_cp`, `eval_mate`. Also available: `depth`,
    `move_code`, `piece`, `captured`, `promotion`, `is_check`, `is_mate`, `key`, `fen` (six fields), and all columns of `games`.
    """
    return table("moves", paths, **options)


def read_range(path: Path, start: int, end: int, table: str, **options: Unpack[Choosing]) -> Rows:
    """Rows of a table, built from the games of a file that begin at byte `start` or later, and before byte `end`.

    Consecutive ranges give each game once. A plain file can be cut anywhere. A zstd archive of many frames (such as those of pzstd and
    Lichess) can be cut between two frames: a game belongs to the frame in which it begins. For any other file, the range with the first
    byte gives all games, and other ranges give none. `splits` returns suitable ranges.

    `shard` is the upper half of each `game_id`, so that the numbers of several ranges do not collide.
    """
    return _read(table, path, (start, end), dict(options))


def splits(path: Path, size: int = 64 << 20) -> list[tuple[int, int]]:
    """Byte ranges of about `size` bytes for `read_range`; a single range if the file can only be read from its start."""
    if size < 1:
        raise ValueError("size: at least 1")
    ranges, _ = _pgndex.parts(os.fspath(path), size)
    return ranges
