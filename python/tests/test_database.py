"""Questions to a database: the same answers as the program gives."""

from __future__ import annotations

import json
import sqlite3
import threading
from pathlib import Path

import polars
import pytest

import pgndex


@pytest.fixture
def opened(database: Path):
    with pgndex.Database(database) as opened:
        yield opened


@pytest.mark.parametrize(
    ("arguments", "options"),
    [
        ({"moves": "1. e4 c5"}, ["--moves", "1. e4 c5"]),
        ({}, []),
        ({"play": "d2d4", "elo_min": 1500}, ["--play", "d2d4", "--elo-min", "1500"]),
        ({"fen": "4k3/8/8/8/8/8/8/4K3 w - -"}, ["--fen", "4k3/8/8/8/8/8/8/4K3 w - -"]),
        ({"side": "white", "history": True, "player": "kasparov"}, ["--side", "white", "--history", "--player", "kasparov"]),
        ({"depth": 3, "least_share": 10}, ["--depth", "3", "--least-share", "10"]),
    ],
    ids=str,
)
def test_explore(arguments: dict, options: list[str], opened: pgndex.Database, database: Path, run) -> None:
    if "depth" not in arguments:
        options = [*options, "--limit", "0"]
    theirs = json.loads(run("explore", database, "--format", "json", *options))
    if "depth" not in arguments:
        arguments = {"top": 15, "recent": 15, **arguments}
        theirs_lists = (len(theirs["topGames"]), len(theirs["recentGames"]))
        arguments |= {"top": theirs_lists[0], "recent": theirs_lists[1]} if all(theirs_lists) else {}
    assert opened.explore(**arguments) == theirs


def test_player(opened: pgndex.Database, database: Path, run) -> None:
    theirs = json.loads(run("player", database, "kasparov", "--format", "json", "--limit", 0))
    assert opened.player("kasparov") == theirs
    assert opened.player("kasparov", since=1996)["all"]["games"] < theirs["all"]["games"]


@pytest.mark.parametrize(
    ("arguments", "options"),
    [
        ({"moves": "1. e4 c5"}, ["--moves", "1. e4 c5"]),
        (
            {"moves": "1. e4 e5", "sort": "date", "limit": 5, "offset": 2},
            ["--moves", "1. e4 e5", "--sort", "date", "--limit", "5", "--offset", "2"],
        ),
        ({"moves": "1. e4 e5", "variations": True}, ["--moves", "1. e4 e5", "--variations"]),
        ({"player": "kasparov"}, ["--player", "kasparov"]),
    ],
    ids=str,
)
def test_find(arguments: dict, options: list[str], opened: pgndex.Database, database: Path, run) -> None:
    if "--limit" not in options:
        options = [*options, "--limit", "0"]
    lines = run("find", database, "--format", "json", *options).splitlines()
    theirs = [json.loads(line) for line in lines]
    ours = polars.DataFrame(opened.find(**arguments)).to_dicts()
    assert ours == theirs and ours


def test_sql(opened: pgndex.Database, database: Path) -> None:
    query = "SELECT game_id, white, white_elo, 1.5 * ply_count AS half FROM games WHERE ply_count > ? ORDER BY game_id"
    ours = polars.DataFrame(opened.sql(query, [50]))
    assert ours.rows() == sqlite3.connect(database).execute(query, [50]).fetchall()
    assert ours.schema["half"] == polars.Float64 and ours.schema["white"] == polars.String
    named = polars.DataFrame(opened.sql(query.replace("?", ":plies"), {"plies": 50}))
    assert named.equals(ours)
    values = polars.DataFrame(opened.sql("SELECT ? AS a, ? AS b, ? AS c, ? AS d", [None, 2, "x", b"\0\1"]))
    assert values.rows() == [(None, 2, "x", b"\0\1")]
    assert polars.DataFrame(opened.sql("SELECT fen, key FROM game_position WHERE false")).columns == ["fen", "key"]
    long = polars.DataFrame(opened.sql("SELECT key, fen FROM game_position"))
    assert len(long) > 40_000
    shifted = sqlite3.connect(database).execute("SELECT sum(key >> 20), count(DISTINCT fen) FROM game_position").fetchone()
    assert ((long["key"] // 2**20).sum(), long["fen"].n_unique()) == shifted
    assert polars.DataFrame(opened.sql("SELECT move_san(fen, move_code) AS san FROM game_position LIMIT 1"))["san"][0] == "e4"


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("SELECT wrong FROM game", "no such column: wrong"),
        ("DELETE FROM game", "would change"),
        ("SELECT 1; SELECT 2", "more than one"),
        ("", "empty|no statement|nothing"),
        ("SELECT ?", "needs 1 value"),
    ],
)
def test_sql_that_cannot_be_run(query: str, text: str, opened: pgndex.Database) -> None:
    with pytest.raises(pgndex.QuestionError, match=text):
        polars.DataFrame(opened.sql(query))


def test_a_column_of_two_types_says_so(opened: pgndex.Database) -> None:
    query = """WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)
        SELECT CASE WHEN i < 4500 THEN i ELSE 'text' END AS mixed FROM n"""
    with pytest.raises(pgndex.QuestionError, match='row 4500, column "mixed": is a string'):
        list(opened.sql(query))
    ours = polars.DataFrame(opened.sql("SELECT 1 AS x UNION ALL SELECT 'a' UNION ALL SELECT 1.5"))
    assert ours.schema["x"] == polars.String and len(ours) == 3


def test_errors_have_the_path(tmp_path: Path) -> None:
    with pytest.raises(pgndex.DatabaseError, match="no such database") as caught:
        pgndex.Database(tmp_path / "none.db")
    assert caught.value.path == str(tmp_path / "none.db")
    (tmp_path / "text.db").write_text("not a database " * 100)
    with pytest.raises(pgndex.DatabaseError, match="not an SQLite database"):
        pgndex.Database(tmp_path / "text.db")


def test_wrong_questions(opened: pgndex.Database) -> None:
    with pytest.raises(pgndex.QuestionError, match="one way"):
        opened.explore("8/8/8/4k3/8/4K3/4P3/8 w - -", moves="1. e4")
    with pytest.raises(pgndex.QuestionError, match="not a FEN"):
        opened.explore("nonsense")
    with pytest.raises(pgndex.QuestionError, match="sort"):
        opened.games(sort="name")
    with pytest.raises(TypeError, match="games are chosen by"):
        opened.games(colour="white")


def test_it_can_be_closed_and_used_by_threads(database: Path) -> None:
    opened = pgndex.Database(database)
    answers: list[int] = []

    def ask() -> None:
        for _ in range(5):
            answers.append(opened.explore(moves="1. e4")["white"])

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(answers) == 20 and len(set(answers)) == 1
    rows = opened.games()
    opened.close()
    assert polars.DataFrame(rows).height > 1000
    with pytest.raises(pgndex.QuestionError, match="closed"):
        opened.explore()
