"""A plugin of Datasette: the SQL functions of pgndex, and boards in place of FENs.

Installing the package beside Datasette is enough. A cell is drawn if its column is called `fen` or ends in `_fen` and its text is a legal
position; the FEN stands below the board.
"""

from __future__ import annotations

import warnings
from typing import Any

import markupsafe
from datasette import hookimpl

import pgndex

_SIDE = 180


@hookimpl
def prepare_connection(conn: Any) -> None:
    """Makes the SQL functions known, if this Python's SQLite can load extensions: Datasette takes `pysqlite3` where it is installed."""
    if hasattr(conn, "enable_load_extension"):
        pgndex.load(conn)
    else:
        warnings.warn("pgndex: no SQL functions, as this Python's SQLite loads no extensions; install pysqlite3-binary", stacklevel=1)


@hookimpl
def render_cell(value: Any, column: str) -> markupsafe.Markup | None:
    """Draws a position."""
    if not isinstance(value, str) or not (column == "fen" or column.endswith("_fen")):
        return None
    try:
        svg = pgndex.Position(value).svg()
    except pgndex.QuestionError:
        return None
    # The picture names its own size; here it is to be smaller.
    svg = svg.replace('width="450" height="450"', f'width="{_SIDE}" height="{_SIDE}"', 1)
    return markupsafe.Markup(f"{svg}<div><code>{markupsafe.escape(value)}</code></div>")
