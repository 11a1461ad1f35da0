"""Positions that notebooks show as boards."""

from __future__ import annotations

from pgndex import _pgndex


class Position:
    """A position, given by a FEN, by moves as in PGN (`moves="1. e4 e5"`) or in UCI notation (`play="e2e4,e7e5"`).

    The default is the start position. A notebook shows it as a board, from Black's side with `flip=True`.
    """

    __slots__ = ("_svg", "fen", "key")

    fen: str
    """The FEN, with all six fields."""
    key: int
    """The Polyglot key as a signed 64-bit integer, as in the column `key`."""

    def __init__(self, fen: str | None = None, *, moves: str | None = None, play: str | None = None, flip: bool = False) -> None:
        self.fen, self.key, self._svg = _pgndex.board(fen, moves, play, flip)

    def svg(self) -> str:
        """The board as an SVG picture."""
        return self._svg

    def _repr_svg_(self) -> str:
        return self._svg

    def __repr__(self) -> str:
        return f"pgndex.Position({self.fen!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Position) and self.fen == other.fen

    def __hash__(self) -> int:
        return hash(self.fen)
