"""Runs the queries of docs/sql.md in DuckDB on Parquet files, through the views of docs/duckdb.sql, and compares the
rows with SQLite.

Usage: sql_in_duckdb.py PROGRAM DIRECTORY... Each directory DIR contains the files for the games of DIR.db. Prints
how many queries gave the same rows, and then those that DuckDB cannot run.
"""

import json
import math
import os
import re
import subprocess
import sys

import duckdb

DOCS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../docs")
# Functions that DuckDB lacks, as its error messages name them: functions that know the rules of chess.
LACKS = re.compile(
    r"Function with name (fen_after|fen_board|fen_has_material|fen_key|fen_legal_moves|fen_matches|fen_normal|fen_phase|game_pgn|"
    r"move_san) does not exist"
)
# Views whose rows are compared too, and the columns by which they are sorted.
VIEWS = {
    "game_position": "game_id, ply",
    "games": "game_id",
    "moves": "game_id, ply",
    "positions": "key, fen",
    "players": "name",
    "judgements": "game_id, ply",
    "accuracies": "game_id, side",
    "continuation": "key, move_code",
    "move_eval": "game_id, ply",
    "comment": "game_id, line, ply, number",
    "nag": "game_id, line, ply, nag",
    "command": "game_id, line, ply, number",
    "variation": "game_id, line",
    "variation_move": "game_id, line, ply",
    "tag": "game_id, name",
}


def views_of(directory):
    engine = duckdb.connect()
    engine.execute("SET VARIABLE pgndex = ?", [directory])
    with open(os.path.join(DOCS, "duckdb.sql"), encoding="utf-8") as script:
        engine.execute(script.read())
    return engine


def by_sqlite(program, database, query):
    printed = subprocess.run([program, "sql", "--format", "json", database, query], capture_output=True, text=True, check=True)
    rows = [json.loads(line) for line in printed.stdout.splitlines()]
    return [list(row.values()) for row in rows], list(rows[0]) if rows else None


def plain(value):
    """A value in a form common to both: SQLite has no booleans and no decimals, and the words of comments have no
    fixed order."""
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, str):
        return " ".join(sorted(value.split()))
    if value is None or isinstance(value, int):
        return value
    return round(float(value), 9)


def same(left, right):
    return len(left) == len(right) and all(
        math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-9) if isinstance(one, (int, float)) and isinstance(other, (int, float)) else one == other
        for one, other in zip(left, right)
    )


def compare(what, expected, found):
    expected, found = ([[plain(value) for value in row] for row in rows] for rows in (expected, found))
    if "ORDER BY" not in what:
        expected, found = sorted(expected, key=repr), sorted(found, key=repr)
    assert len(expected) == len(found), f"{what}\n{len(found)} rows instead of {len(expected)}"
    for one, other in zip(expected, found):
        assert same(one, other), f"{what}\n{other}\ninstead of\n{one}"


def queries():
    """The queries of the page, each with the name of its database."""
    with open(os.path.join(DOCS, "sql.md"), encoding="utf-8") as page:
        text = page.read()
    found = re.findall(r'^\$ (?:pgndex sql|sqlite3) (?:-box )?(?:--format csv )?(\w+)\.db "([^"]*)"', text, re.M)
    assert len(found) > 30, f"only {len(found)} queries"
    return found


def main():
    program, *directories = sys.argv[1:]
    engines = {os.path.basename(directory): (views_of(directory), f"{directory}.db") for directory in directories}
    agreed, lacking = 0, []
    for name, query in queries():
        if name not in engines:
            continue
        engine, database = engines[name]
        try:
            found = engine.execute(query).fetchall()
        except duckdb.Error as error:
            lack = LACKS.search(str(error))
            assert lack, f"{query}\n{error}"
            lacking.append(f"{lack.group(1)}: {' '.join(query.split())[:100]}")
            continue
        compare(query, by_sqlite(program, database, query)[0], found)
        agreed += 1
    rows = 0
    for engine, database in engines.values():
        for view, order in VIEWS.items():
            expected, columns = by_sqlite(program, database, f"SELECT * FROM {view} ORDER BY {order}")
            if columns:
                names = ", ".join(f'"{column}"' for column in columns)
                found = engine.execute(f"SELECT {names} FROM {view} ORDER BY {order}").fetchall()
                compare(f"{view} ORDER BY {order}", expected, found)
                rows += len(expected)
    print(f"{agreed} queries and {rows} rows of views")
    print("\n".join(lacking))


main()
