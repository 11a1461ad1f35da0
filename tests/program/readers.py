"""Reads all views of a database with pandas, polars, Datasette and DuckDB, and compares the rows with those of sqlite3.

Usage: readers.py DATABASE. Prints the number of rows that were compared.
"""

import asyncio
import math
import os
import re
import sqlite3
import sys

import duckdb
import pandas
import polars
from datasette.app import Datasette

GAMES = 20
# Views without game ids, and the columns by which they are sorted.
OTHERS = {"positions": "key", "players": "name", "counted_position": "key", "visited_position": "key", "continuation": "key, move_code"}
# Views that DuckDB cannot run: it does not know CROSS JOIN with ON, and arguments of json_each from another table.
NOT_IN_DUCKDB = {"counted_position", "visited_position", "continuation"}
# Views whose rows of a game are not in the order of the game.
UNORDERED = {"position_game": "ply"}


def question(view):
    """Some rows of a view, in an order on which all programs agree."""
    if view in OTHERS:
        return f"SELECT * FROM {view} ORDER BY {OTHERS[view]} LIMIT 100"
    order = {"games": "game_id", "accuracies": "game_id, side"}.get(view, "game_id, ply")
    return f"SELECT * FROM {view} WHERE game_id <= {GAMES} ORDER BY {order}"


def plain(value):
    """A value in a form common to all programs. Some join the comments of one place in any order."""
    if value is None or value is pandas.NA or isinstance(value, float) and math.isnan(value):
        return None
    if isinstance(value, str):
        return " ".join(sorted(value.split()))
    value = value.item() if hasattr(value, "item") else value
    return round(float(value), 6) if isinstance(value, float) else value


def compare(program, view, expected, found):
    expected = [[plain(value) for value in row] for row in expected]
    found = [[plain(value) for value in row] for row in found]
    if len(expected) != len(found):
        raise SystemExit(f"{program}: {view} has {len(found)} rows, not {len(expected)}")
    for number, (left, right) in enumerate(zip(expected, found)):
        if left != right:
            raise SystemExit(f"{program}: {view}, row {number}: {right}, not {left}")
    return len(found)


def by_datasette(datasette, path, view, columns):
    """The rows of the first game, or some rows of a view without games."""
    name = os.path.splitext(os.path.basename(path))[0]
    where = "_size=100" if view in OTHERS else "_size=max&game_id=1"
    if view in UNORDERED:
        where += f"&_sort={UNORDERED[view]}"
    answer = datasette(f"/{name}/{view}.json?_shape=array&_nocount=1&{where}")
    if answer.status_code != 200:
        raise SystemExit(f"datasette: {view}: {answer.text}")
    return [[row[column] for column in columns] for row in answer.json()]


def start_datasette(path):
    """Datasette in this process: a function that returns the response for an address."""
    loop = asyncio.new_event_loop()
    datasette = Datasette([path], settings={"sql_time_limit_ms": 60000})
    loop.run_until_complete(datasette.invoke_startup())
    return lambda url: loop.run_until_complete(datasette.client.get(url))


def in_duckdb(database):
    """DuckDB with the database: attached if its extension is available; otherwise with copies of the tables and the
    same views."""
    duck = duckdb.connect()
    path = database.execute("PRAGMA database_list").fetchone()[2]
    try:
        duck.execute("INSTALL sqlite; LOAD sqlite")
        duck.execute(f"ATTACH '{path}' AS games_db (TYPE sqlite); USE games_db")
        return duck
    except duckdb.Error:
        pass
    schema = "SELECT type, name, sql FROM sqlite_schema WHERE type IN ('table', 'view') ORDER BY type, rowid"
    types = {"INTEGER": "BIGINT", "REAL": "DOUBLE"}
    for kind, name, sql in database.execute(schema).fetchall():
        if name in NOT_IN_DUCKDB:
            continue
        if kind == "view":
            duck.execute(re.sub(r"--.*", "", sql))
            continue
        columns = database.execute(f"PRAGMA table_info({name})").fetchall()
        declared = ", ".join(f"{column[1]} {types.get(column[2], 'VARCHAR')}" for column in columns)
        duck.execute(f"CREATE TABLE {name} ({declared})")
        rows = database.execute(f"SELECT * FROM {name}").fetchall()
        if rows:
            frame = pandas.DataFrame(rows, columns=[column[1] for column in columns], dtype=object)
            duck.execute(f"INSERT INTO {name} SELECT * FROM frame")
    return duck


def main():
    path = sys.argv[1]
    database = sqlite3.connect(path)
    views = [row[0] for row in database.execute("SELECT name FROM sqlite_schema WHERE type = 'view' ORDER BY name")]
    duck, datasette = in_duckdb(database), start_datasette(path)
    tables = {row[0] for row in duck.execute("SHOW TABLES").fetchall()}
    if not set(views) - NOT_IN_DUCKDB <= tables:
        raise SystemExit(f"duckdb: SHOW TABLES has not {set(views) - tables}")
    compared = 0
    for view in views:
        sql = question(view)
        cursor = database.execute(sql)
        columns = [column[0] for column in cursor.description]
        expected = cursor.fetchall()
        # Some views have no rows for games without evaluations.
        if not expected:
            continue
        frame = pandas.read_sql(sql, database)
        rows = frame.astype(object).where(frame.notna(), None).values.tolist()
        compared += compare("pandas", view, expected, rows)
        frame = polars.read_database(sql, database, infer_schema_length=None)
        compared += compare("polars", view, expected, frame.rows())
        if view not in NOT_IN_DUCKDB:
            compared += compare("duckdb", view, expected, duck.execute(sql).fetchall())
        first = [row for row in expected if view in OTHERS or row[columns.index("game_id")] == 1]
        compared += compare("datasette", view, first, by_datasette(datasette, path, view, columns))
    print(f"{compared} rows")


main()
