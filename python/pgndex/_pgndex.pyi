from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

__version__: str

class Error(Exception):
    """Base class of all errors. The message says what to do next.

    If the place of the error is known, the attributes contain it. `line`, `column` and `game` begin at 1, `byte` and `ply` at 0.
    """

    path: str | None
    line: int | None
    column: int | None
    byte: int | None
    game: int | None
    ply: int | None

class PgnError(Error):
    """PGN files that cannot be read, or games with an error."""

class DatabaseError(Error):
    """A database that cannot be used, or has an error."""

class QuestionError(Error):
    """An invalid query."""

class Rows:
    """Rows of a table as an Arrow stream, built while they are read."""

    @property
    def columns(self) -> list[str]: ...
    def close(self) -> None: ...
    def __arrow_c_schema__(self) -> object: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...
    def __iter__(self) -> Iterator[Batch]: ...
    def __next__(self) -> Batch: ...
    def __enter__(self) -> Rows: ...
    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None, /) -> None: ...

class Batch:
    """A batch of rows: an Arrow array with a field for each column."""

    @property
    def num_rows(self) -> int: ...
    def __len__(self) -> int: ...
    def __arrow_c_schema__(self) -> object: ...
    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]: ...

class OpenDatabase:
    def __init__(self, path: str) -> None: ...
    def close(self) -> None: ...
    def explore(
        self,
        told: tuple[str | None, str | None, str | None],
        games: Mapping[str, Any],
        *,
        side: str | None,
        limit: int | None,
        top: int,
        recent: int,
        variations: bool,
        history: bool,
        depth: int | None,
        least_share: int,
    ) -> str: ...
    def player(self, name: str, games: Mapping[str, Any], *, limit: int | None, depth: int, least_share: int) -> str: ...
    def find(
        self,
        told: tuple[str | None, str | None, str | None],
        games: Mapping[str, Any],
        *,
        sort: str,
        limit: int | None,
        offset: int,
        variations: bool,
    ) -> Rows: ...
    def games(self, games: Mapping[str, Any], *, sort: str, limit: int | None) -> Rows: ...
    def positions(
        self,
        games: Mapping[str, Any],
        columns: list[str] | None,
        *,
        plies: tuple[int, int] | None,
        evaluated: bool,
        sample: int | None,
        seed: int,
        per_game: int | None,
    ) -> Rows: ...
    def sql(self, sql: str, parameters: Sequence[Any] | dict[str, Any] | None) -> Rows: ...

def read(
    paths: list[str],
    table: str,
    columns: list[str] | None = None,
    games: Mapping[str, Any] | None = None,
    *,
    threads: int | None = None,
    memory: int | None = None,
    strict: bool = False,
    skip_errors: bool = False,
    range: tuple[int, int] | None = None,
    shard: int = 0,
    plies: tuple[int, int] | None = None,
    evaluated: bool = False,
    sample: int | None = None,
    seed: int = 0,
    per_game: int | None = None,
) -> Rows: ...
def parts(path: str, size: int) -> tuple[list[tuple[int, int]], str | None]: ...
def files(paths: list[str]) -> list[Path]: ...
def columns(table: str, columns: list[str] | None = None) -> list[tuple[str, str, bool]]: ...
def write_part(
    path: str,
    start: int,
    end: int,
    directory: str,
    *,
    shard: int,
    partition_by: str,
    continuation_threshold: int,
    threads: int,
    memory: int,
) -> dict[str, int]: ...
def index(
    paths: list[str],
    target: str,
    is_parquet: bool,
    options: object,
    progress: Callable[[str, int, int, int, int], object] | None,
) -> str: ...
def board(fen: str | None = None, moves: str | None = None, play: str | None = None, flip: bool = False) -> tuple[str, int, str]: ...
