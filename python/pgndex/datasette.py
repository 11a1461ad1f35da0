"""A plugin for Datasette: adds the SQL functions of pgndex, and shows FENs as boards.

It is active when both packages are installed. A cell is shown as a board if the name of its column is `fen` or ends in `_fen`, and its
text is a legal position. The FEN is below the board.
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
    """Registers the SQL functions, if this Python's SQLite can load extensions. Datasette uses `pysqlite3` if it is installed."""
    if hasattr(conn, "enable_load_extension"):
        pgndex.load(conn)
    else:
        warnings.warn("pgndex: no SQL functions, as this Python's SQLite cannot load extensions; install pysqlite3-binary", stacklevel=1)


@hookimpl
def render_cell(value: Any, column: str) -> markupsafe.Markup | None:
    """Shows a cell with a position as a board."""
    if not isinstance(value, str) or not (column == "fen" or column.endswith("_fen")):
        return None
    try:
        svg = pgndex.Position(value).svg()
    except pgndex.QuestionError:
        return None
    # Shrink the picture.
    svg = svg.replace('width="450" height="450"', f'width="{_SIDE}" height="{_SIDE}"', 1)
    return markupsafe.Markup(f"{svg}<div><code>{markupsafe.escape(value)}</code></div>")
