"""The SQL functions of pgndex, for any program that uses SQLite."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

_NAME = "pgndex_sqlite"


def loadable_path() -> str:
    """The path of the SQLite extension, without its suffix, for `load_extension`."""
    return str(Path(__file__).with_name(_NAME))


def load(connection: Any) -> None:
    """Registers the SQL functions of pgndex on a connection of `sqlite3`, `apsw` or `pysqlite3`.

    Some builds of Python do not support extensions (`enable_load_extension` is missing); `apsw` and `pysqlite3` do.
    """
    if not hasattr(connection, "enable_load_extension") and not hasattr(connection, "enableloadextension"):
        version = ".".join(map(str, sys.version_info[:3]))
        raise RuntimeError(
            f"the sqlite3 module of this Python {version} cannot load extensions; install apsw or pysqlite3 and use one of its connections"
        )
    if hasattr(connection, "enableloadextension"):  # apsw
        connection.enableloadextension(True)
        try:
            connection.loadextension(loadable_path())
        finally:
            connection.enableloadextension(False)
        return
    connection.enable_load_extension(True)
    try:
        connection.load_extension(loadable_path())
    finally:
        connection.enable_load_extension(False)
