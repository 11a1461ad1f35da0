"""Loads the extension into Python's sqlite3, and checks each case of a table.

python3 extension.py EXTENSION DATABASE TABLE
"""

import sqlite3
import sys


def answer(connection, expression):
    try:
        (value,) = connection.execute(f"SELECT quote({expression})").fetchone()
        return value.replace("\n", "\\n")
    except sqlite3.Error as error:
        return f"error: {error}"


def main(extension, database, table):
    connection = sqlite3.connect(f"file:{database}?mode=ro", uri=True)
    connection.enable_load_extension(True)
    connection.load_extension(extension)
    cases = failures = 0
    with open(table, encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            if line.startswith("#") or line == "\n":
                continue
            expression, expected = line.rstrip("\n").split("\t")
            found = answer(connection, expression)
            cases += 1
            if found != expected:
                failures += 1
                print(f"line {number}: {expression}\n  expected {expected}\n  found    {found}", file=sys.stderr)
    print(f"{cases} cases")
    return failures > 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
