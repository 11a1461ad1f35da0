"""Turns conditions of a query into filters of games. Spark applies the conditions again, so a filter may pass more games, never fewer."""

from __future__ import annotations

from typing import Any

# The greatest rating that the reader accepts.
MOST_ELO = 65535


def games_of(filters: list[Any]) -> dict[str, Any]:
    """The filters of a condition list: every game that matches the conditions passes them."""
    bounds = [_bound(condition) for condition in filters]
    bounds = [bound for bound in bounds if bound is not None]
    games: dict[str, Any] = {}
    _set_elos(games, bounds)
    _set_dates(games, bounds)
    for column in ("speed", "result"):
        allowed = [set(value) for name, kind, value in bounds if name == column and kind == "in"]
        if allowed:
            values = sorted(set.intersection(*allowed))
            if column == "speed" and values and all(value in SPEEDS for value in values):
                games["speed"] = values
            elif column == "result" and len(values) == 1 and values[0] in RESULTS:
                games["result"] = values[0]
    return games


SPEEDS = {"ultraBullet", "bullet", "blitz", "rapid", "classical", "correspondence"}
RESULTS = {"1-0", "0-1", "1/2-1/2", "*"}


def _bound(condition: Any) -> tuple[str, str, Any] | None:
    """The column, the kind (``least``, ``most`` or ``in``) and the value; None for other conditions."""
    kind = type(condition).__name__
    path = getattr(condition, "attribute", ())
    if len(path) != 1:
        return None
    column = path[0]
    value = getattr(condition, "value", None)
    if kind in ("EqualTo", "EqualNullSafe") and value is not None:
        return (column, "in", [value])
    if kind == "In":
        return (column, "in", [one for one in value if one is not None])
    if kind in ("GreaterThan", "GreaterThanOrEqual") and value is not None:
        return (column, "least", value)
    if kind in ("LessThan", "LessThanOrEqual") and value is not None:
        return (column, "most", value)
    return None


def _range(bounds: list[tuple[str, str, Any]], column: str) -> tuple[Any, Any]:
    of_column = [(kind, value) for name, kind, value in bounds if name == column]
    least = [value for kind, value in of_column if kind == "least"]
    most = [value for kind, value in of_column if kind == "most"]
    for kind, value in of_column:
        if kind == "in" and value:
            least.append(min(value))
            most.append(max(value))
    return (max(least, default=None), min(most, default=None))


def _set_elos(games: dict[str, Any], bounds: list[tuple[str, str, Any]]) -> None:
    """A rating filter applies to both players, so it can only replace conditions on both ratings."""
    sides = [_range(bounds, column) for column in ("white_elo", "black_elo")]
    least, most = zip(*sides)
    if None not in least:
        games["elo_min"] = max(0, min(MOST_ELO, *least))
    if None not in most:
        games["elo_max"] = max(0, min(MOST_ELO, max(most)))


def _set_dates(games: dict[str, Any], bounds: list[tuple[str, str, Any]]) -> None:
    """Dates are strings such as 2026.10.??; as text, ????.10.05 comes after all others, so a lower bound alone cannot be used."""
    least, most = _range(bounds, "date")
    if most is not None and most[:1] <= "9":
        if (until := _date(most)) is not None:
            games["until"] = until
        if least is not None and (since := _date(least)) is not None:
            games["since"] = since


def _date(text: str) -> str | None:
    """The known parts of a date: 2026, 2026.10 or 2026.10.05."""
    parts = text.split(".")
    known = []
    for part, length in zip(parts, (4, 2, 2)):
        if len(part) != length or not part.isdigit():
            break
        known.append(part)
    return ".".join(known) or None
