"""Compares the Parquet files of pgndex with the tables of a database; DuckDB reads them.

Usage: files.py DIRECTORY DATABASE. Prints the number of rows of each table. The database contains all games of the
files.
"""

import itertools
import json
import sqlite3
import sys

import duckdb

# The columns that identify the rows of a table, and the same columns in SQLite.
NAMES = """
    (SELECT name FROM event WHERE event.event_id = game.event_id) AS event,
    (SELECT name FROM site WHERE site.site_id = game.site_id) AS site,
    (SELECT name FROM player WHERE player_id = white_id) AS white,
    (SELECT name FROM player WHERE player_id = black_id) AS black,
    (SELECT eco FROM opening WHERE opening.opening_id = game.opening_id) AS opening_eco,
    (SELECT name FROM opening WHERE opening.opening_id = game.opening_id) AS opening"""
TABLES = {
    "game": ("game_id", f"(SELECT *, {NAMES} FROM game)"),
    # The column `name` of the database is ordered without regard to case; an expression is not.
    "tag": ("game_id, name", "(SELECT game_id, name || '' AS name, value FROM tag)"),
    "game_position": ("game_id, ply", "game_position"),
    "move_eval": ("game_id, ply", "move_eval"),
    "comment": ("game_id, line, ply, number", "comment"),
    "nag": ("game_id, line, ply, nag", "nag"),
    "command": ("game_id, line, ply, number", "command"),
    "variation": ("game_id, line", "variation"),
    "variation_move": ("game_id, line, ply", "variation_move"),
    "position_game": (
        "key, game_id, ply",
        """(SELECT p.key, p.game_id, p.ply, p.move_code, g.result, g.white_elo, g.black_elo
            FROM game_position AS p JOIN game AS g USING (game_id))""",
    ),
    "continuation": ("key, move_code", "continuation"),
    "source": ("source_id", "source"),
    "problem": ("source_id, byte_offset, line, column_number, kind, message", "problem"),
}


def main():
    directory, database = sys.argv[1:]
    engine, shell = duckdb.connect(), sqlite3.connect(database)
    manifest = json.load(open(f"{directory}/_manifest-00000.json"))
    totals = {table["table"]: table["rows"] for table in manifest["tables"]}
    assert set(totals) == set(TABLES), set(totals) ^ set(TABLES)
    for table, (key, of_sqlite) in TABLES.items():
        files = f"read_parquet('{directory}/{table}/**/*.parquet', hive_partitioning = false)"
        columns = [row[0] for row in engine.execute(f"DESCRIBE SELECT * FROM {files}").fetchall()]
        names = ", ".join(columns)
        # Texts are compared byte by byte, as in SQLite.
        ours = engine.execute(f"SELECT {names} FROM {files} ORDER BY {key}")
        truth = shell.execute(f"SELECT {names} FROM {of_sqlite} ORDER BY {key}")
        count = 0
        for many in iter(lambda: ours.fetchmany(10000), []):
            for row in many:
                expected = truth.fetchone()
                assert row == expected, f"{table}: {row} instead of {expected}"
                count += 1
        assert truth.fetchone() is None, f"{table}: more than {count} rows"
        assert totals[table] == count, f"{table}: {totals[table]} in the manifest, {count} rows"
        print(table, count)
    hold_layout(engine, directory, manifest)


def hold_layout(engine, directory, manifest):
    """Each file is sorted, has row groups of at most 122,880 rows, and is in the directory for its rows."""
    files = {f"{directory}/{file['path']}": file for file in manifest["files"]}
    parts = {path: dict(part.split("=") for part in file["path"].split("/") if "=" in part) for path, file in files.items()}

    def rows_of(paths, columns, distinct=""):
        """The rows of some files, each with the path of its file, in the order in which they are stored."""
        sql = f"""SELECT {distinct} filename, {columns}
            FROM read_parquet(?, hive_partitioning = false, filename = true, file_row_number = true)
            ORDER BY filename{"" if distinct else ", file_row_number"}"""
        paths = [path for path in paths if files[path]["rows"]]
        return engine.execute(sql, [paths]).fetchall() if paths else []

    counts = dict.fromkeys(files, 0)
    for path, _, rows in engine.execute(
        "SELECT DISTINCT file_name, row_group_id, row_group_num_rows FROM parquet_metadata(?)", [list(files)]
    ).fetchall():
        assert rows <= 122880, path
        counts[path] += rows
    for path, file in files.items():
        assert counts[path] == file["rows"], path
    for path, prefix in rows_of((path for path in files if "key_prefix" in parts[path]), "key >> 56 & 255", "DISTINCT"):
        assert prefix == int(parts[path]["key_prefix"]), (path, prefix)
    games = (path for path in files if "year" in parts[path] and files[path]["table"] == "game")
    for path, date in rows_of(games, "date", "DISTINCT"):
        year, month = date_parts(date)
        assert int(parts[path]["year"]) == year, (path, date)
        assert int(parts[path].get("month", month)) == month, (path, date)
    for table, key in {"game_position": "game_id, ply", "position_game": "key, game_id, ply"}.items():
        # Sorted by file; within a file, each row is greater than the previous one.
        rows = rows_of((path for path in files if files[path]["table"] == table), key)
        assert rows, table
        assert all(one < other for one, other in itertools.pairwise(rows)), table


def date_parts(date):
    """Year and month; unknown parts are 0."""
    parts = [int(part) if part.isdigit() else 0 for part in (date or "").split(".")[:2]]
    year, month = (parts + [0, 0])[:2]
    return (year, min(month, 12)) if year else (0, 0)


main()
