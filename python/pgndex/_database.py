"""Queries of a database."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any

from pgndex import _pgndex
from pgndex._pgndex import Rows
from pgndex._read import Path, Which, _columns

if TYPE_CHECKING:
    from typing_extensions import Unpack


class Database:
    """A database that `pgndex index` made, open for reading.

    A position is given by `fen=…`, by `moves="1. e4 c5"` or by `play="e2e4,c7c5"`; the default is the start position. Other keywords
    filter games, as in `pgndex.games`; names match all spellings of a player. The object
    can be used in a `with` block, and by several threads.
    """

    def __init__(self, path: Path) -> None:
        self.path = os.fspath(path)
        self._open = _pgndex.OpenDatabase(self.path)

    def __enter__(self) -> Database:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Closes the database. Rows that are still being read stay available."""
        self._open.close()

    def __repr__(self) -> str:
        return f"pgndex.Database({self.path!r})"

    def find(
        self,
        fen: str | None = None,
        *,
        moves: str | None = None,
        play: str | None = None,
        sort: str = "game",
        limit: int | None = None,
        offset: int = 0,
        variations: bool = False,
        **which: Unpack[Which],
    ) -> Rows:
        """The games that reached a position: a row for each time, with the move played there. Without a position, a row for each game that
        passes the filters.

        `sort` is `game`, `rating` or `date`. The columns are the fields that `pgndex find --json` prints.
        """
        return self._open.find((fen, moves, play), dict(which), sort=sort, limit=limit, offset=offset, variations=variations)

    def explore(
        self,
        fen: str | None = None,
        *,
        moves: str | None = None,
        play: str | None = None,
        side: str | None = None,
        limit: int | None = None,
        top: int = 4,
        recent: int = 4,
        variations: bool = False,
        history: bool = False,
        depth: int | None = None,
        least_share: int = 5,
        **which: Unpack[Which],
    ) -> dict[str, Any]:
        """The moves played from a position and their results: the object that `pgndex explore --json` prints.

        With `depth`, returns a tree of moves, this many half-moves deep: the moves played in at least `least_share` percent of the games
        with the first position.
        """
        answer: dict[str, Any] = json.loads(
            self._open.explore(
                (fen, moves, play),
                dict(which),
                side=side,
                limit=limit,
                top=top,
                recent=recent,
                variations=variations,
                history=history,
                depth=depth,
                least_share=least_share,
            )
        )
        return answer

    def games(self, *, sort: str = "game", limit: int | None = None, **which: Unpack[Which]) -> Rows:
        """Rows of the view `games` for the games that pass the filters, sorted by `game`, `rating` or `date`."""
        return self._open.games(dict(which), sort=sort, limit=limit)

    def positions(
        self,
        *,
        columns: Iterable[str] | None = None,
        plies: tuple[int, int] | None = None,
        evaluated: bool = False,
        sample: int | None = None,
        seed: int = 0,
        one_per_game: bool = False,
        per_game: int | None = None,
        **which: Unpack[Which],
    ) -> Rows:
        """Positions of the games that pass the filters, in the order of the games: all, or those selected as in `pgndex.positions`."""
        return self._open.positions(
            dict(which),
            _columns(columns),
            plies=plies,
            evaluated=evaluated,
            sample=sample,
            seed=seed,
            per_game=1 if one_per_game else per_game,
        )

    def player(
        self, name: str, *, limit: int | None = None, depth: int = 8, least_share: int = 5, **which: Unpack[Which]
    ) -> dict[str, Any]:
        """A player's record: the object that `pgndex player --json` prints."""
        record: dict[str, Any] = json.loads(self._open.player(name, dict(which), limit=limit, depth=depth, least_share=least_share))
        return record

    def sql(self, query: str, parameters: Sequence[Any] | Mapping[str, Any] | None = None) -> Rows:
        """The rows of a read-only SQL query. Parameters are `?` in order, or `:name` by name.

        The values in the first 4,096 rows determine the type of a column.
        """
        if isinstance(parameters, Mapping):
            parameters = dict(parameters)
        return self._open.sql(query, parameters)
