"""Tables straight from PGN, held against python-chess and against SQLite."""

from __future__ import annotations

import bz2
import gzip
import itertools
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import time
import zipfile
from pathlib import Path

import chess
import chess.pgn
import chess.polyglot
import polars
import pytest

import pgndex


def frame(rows: pgndex.Rows) -> polars.DataFrame:
    return polars.DataFrame(rows)


def test_positions_are_those_that_python_chess_finds(samples: list[Path]) -> None:
    ours = frame(pgndex.positions(samples[:2], columns=["game_id", "ply", "key", "full_fen", "uci", "san"]))
    rows = iter(ours.iter_rows())
    number = 0
    for path in samples[:2]:
        with path.open() as text:
            while game := chess.pgn.read_game(text):
                number += 1
                board = game.board()
                for ply, move in enumerate(itertools.chain(game.mainline_moves(), [None])):
                    game_id, at, key, fen, uci, san = next(rows)
                    assert (game_id, at, fen) == (number, ply, board.fen(en_passant="legal"))
                    assert key & (1 << 64) - 1 == chess.polyglot.zobrist_hash(board)
                    assert uci == (move and move.uci())
                    if move:
                        assert san == board.san(move)
                        board.push(move)
                    else:
                        assert san is None
    assert next(rows, None) is None
    assert number == 73


@pytest.mark.parametrize(
    ("table", "sql"),
    [
        ("game_position", "SELECT * FROM game_position ORDER BY game_id, ply"),
        ("move_eval", "SELECT * FROM move_eval ORDER BY game_id, ply"),
        ("tag", "SELECT * FROM tag ORDER BY game_id, name"),
        ("comment", "SELECT * FROM comment ORDER BY game_id, line, ply, number"),
        ("nag", "SELECT * FROM nag ORDER BY game_id, line, ply, nag"),
        ("command", "SELECT * FROM command ORDER BY game_id, line, ply, number"),
        ("variation", "SELECT * FROM variation ORDER BY game_id, line"),
        ("variation_move", "SELECT * FROM variation_move ORDER BY game_id, line, ply"),
    ],
)
def test_tables_are_those_of_a_database(table: str, sql: str, samples: list[Path], database: Path) -> None:
    ours = frame(pgndex.table(table, samples))
    connection = sqlite3.connect(database)
    cursor = connection.execute(sql)
    names = [column[0] for column in cursor.description]
    assert set(ours.columns) == set(names)
    theirs = cursor.fetchall()
    assert ours.select(names).rows() == theirs
    assert theirs, "the samples have such rows"


def test_games_are_those_of_a_database(samples: list[Path], database: Path) -> None:
    ours = frame(pgndex.games(samples))
    names = {"event": "event.name", "site": "site.name", "white": "white.name", "black": "black.name"}
    names |= {"opening": "opening.name", "opening_eco": "opening.eco"}
    columns = ", ".join(names.get(name, f"game.{name}") for name in ours.columns)
    rows = sqlite3.connect(database).execute(
        f"""SELECT {columns} FROM game LEFT JOIN event USING (event_id) LEFT JOIN site USING (site_id)
        LEFT JOIN player AS white ON white.player_id = white_id LEFT JOIN player AS black ON black.player_id = black_id
        LEFT JOIN opening USING (opening_id) ORDER BY game_id"""
    )
    assert ours.rows() == rows.fetchall()
    assert len(ours) > 1000


def test_moves_are_those_of_the_view(samples: list[Path], database: Path) -> None:
    columns = "game_id ply move_number side fen uci move_code piece captured promotion is_check is_mate key clock elapsed".split()
    columns += "eval_cp_before eval_mate_before eval_cp eval_mate".split()
    ours = frame(pgndex.moves(samples, columns=columns, variant="standard"))
    rows = sqlite3.connect(database).execute(
        f"""SELECT {", ".join(f"moves.{name}" for name in columns)} FROM moves JOIN game USING (game_id)
        WHERE game.variant IS NULL OR game.variant = 'Standard' COLLATE NOCASE ORDER BY game_id, ply"""
    )
    assert ours.rows() == rows.fetchall()


def test_columns_of_games_can_be_added_to_positions(samples: list[Path]) -> None:
    wide = ["white", "result", "white_elo", "eval_cp", "eval_mate", "speed", "opening"]
    positions = frame(pgndex.positions(samples, columns=["game_id", "ply", *wide]))
    games = frame(pgndex.games(samples, columns=["game_id", "white", "result", "white_elo", "speed", "opening"]))
    evals = frame(pgndex.table("move_eval", samples, columns=["game_id", "ply", "eval_cp", "eval_mate"]))
    joined = positions.select("game_id", "ply").join(games, on="game_id", how="left", maintain_order="left")
    joined = joined.join(evals, on=["game_id", "ply"], how="left", maintain_order="left")
    assert positions.equals(joined.select(positions.columns))


def packed(directory: Path, text: bytes) -> list[Path]:
    (directory / "plain.pgn").write_bytes(text)
    (directory / "a.pgn.gz").write_bytes(gzip.compress(text))
    (directory / "b.pgn.bz2").write_bytes(bz2.compress(text))
    with zipfile.ZipFile(directory / "c.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("inside/games.pgn", text)
    paths = [directory / name for name in ("plain.pgn", "a.pgn.gz", "b.pgn.bz2", "c.zip")]
    if shutil.which("zstd"):
        subprocess.run(["zstd", "-q", directory / "plain.pgn", "-o", directory / "d.pgn.zst"], check=True)
        paths.append(directory / "d.pgn.zst")
    return paths


def test_any_packing_gives_the_same_rows(examples: Path, tmp_path: Path) -> None:
    text = (examples / "famous-games.pgn").read_bytes()
    paths = packed(tmp_path, text)
    plain = frame(pgndex.positions(paths[0]))
    for path in paths[1:]:
        assert frame(pgndex.positions(path)).equals(plain), path
    together = frame(pgndex.positions(paths))
    assert len(together) == len(paths) * len(plain)
    # A directory stands for the files in it; packed ones beside an unpacked one with the same text count once, and here names differ.
    assert frame(pgndex.games(tmp_path)).height == 53 * len(paths)


def test_rows_and_batches_do_not_depend_on_threads(samples: list[Path]) -> None:
    def batches(threads: int) -> list[polars.DataFrame]:
        rows = pgndex.positions(samples, threads=threads, columns=["game_id", "ply", "fen", "eval_cp"])
        return [polars.DataFrame(batch) for batch in rows]

    one, *others = [batches(threads) for threads in (1, 2, 7)]
    for other in others:
        assert len(one) == len(other)
        assert all(left.equals(right) for left, right in zip(one, other))


FILTERS = [
    {"player": "kasparov"},
    {"white": "kasparov", "black": "topalov"},
    {"player": "kasparov", "opponent": "karpov"},
    {"elo_min": 2000},
    {"elo_max": 1500},
    {"since": 1950, "until": "1972-12"},
    {"result": "1/2-1/2"},
    {"result": "draw"},
    {"event": "world"},
    {"site": "lichess"},
    {"eco": "B00-B99"},
    {"opening_eco": "C"},
    {"opening": "sicilian"},
    {"opening": "najdorf sicilian"},
    {"opening": "kings gambit"},
    {"speed": ["blitz", "rapid"]},
    {"time_control": "180+2"},
    {"termination": "time forfeit"},
    {"plies_min": 100},
    {"plies_max": 30},
    {"with_evals": True},
    {"variant": "standard"},
    {"variant": "chess960"},
    {"since": 2000, "result": "1-0", "plies_max": 60},
]


@pytest.mark.parametrize("which", FILTERS, ids=str)
def test_filters_mean_what_they_mean_in_a_database(which: dict, samples: list[Path], database: Path) -> None:
    ours = frame(pgndex.games(samples, columns=["game_id"], **which))
    with pgndex.Database(database) as opened:
        theirs = frame(opened.games(**which))
    assert ours["game_id"].to_list() == theirs["game_id"].to_list()
    positions = frame(pgndex.positions(samples, columns=["game_id"], **which))
    assert positions["game_id"].unique(maintain_order=True).to_list() == ours["game_id"].to_list()


def test_most_filters_choose_some_games(samples: list[Path]) -> None:
    some = sum(0 < frame(pgndex.games(samples, columns=["game_id"], **which)).height < 1000 for which in FILTERS)
    assert some > len(FILTERS) / 2


BROKEN = b'[White "A"]\n\n1. e4 e5 1-0\n\n[White "B"]\n\n1. e4 e5 2. Ke3 *\n\n[White "C"]\n\n1. d4 1-0\n'


def test_errors_have_their_location(tmp_path: Path) -> None:
    path = tmp_path / "broken.pgn"
    path.write_bytes(BROKEN)
    assert frame(pgndex.games(path))["status"].to_list() == ["ok", "truncated", "ok"]
    assert frame(pgndex.games(path, skip_errors=True))["white"].to_list() == ["A", "C"]
    problem = frame(pgndex.table("problem", path)).row(0, named=True)
    assert (problem["kind"], problem["line"], problem["game_number"], problem["game_id"]) == ("illegal-move", 7, 2, 2)
    assert frame(pgndex.table("problem", path, white="C")).is_empty()
    with pytest.raises(pgndex.PgnError) as caught:
        list(pgndex.games(path, strict=True))
    error = caught.value
    assert (error.path, error.line, error.game, error.ply) == (str(path), 7, 2, 2)
    assert BROKEN[error.byte :].startswith(b"Ke3")
    with pytest.raises(pgndex.PgnError, match="no such file"):
        pgndex.games(tmp_path / "none.pgn")


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"columns": ["fun"]}, pgndex.QuestionError, 'no column "fun"; the columns are game_id'),
        ({"columns": []}, pgndex.QuestionError, "leave out the argument"),
        ({"elo_min": 2, "elo_max": 1}, pgndex.QuestionError, "swap the two"),
        ({"since": "soon"}, ValueError, "not a date"),
        ({"speed": "slow"}, ValueError, "write one of"),
        ({"fun": 1}, TypeError, "games are chosen by white"),
        ({"sample": 10**12}, pgndex.QuestionError, "at most"),
    ],
)
def test_wrong_arguments_say_what_is_right(options: dict, error: type, text: str, examples: Path) -> None:
    with pytest.raises(error, match=text):
        pgndex.positions(examples / "famous-games.pgn", **options)


def test_rows_are_taken_once(examples: Path) -> None:
    rows = pgndex.games(examples / "famous-games.pgn")
    assert frame(rows).height == 53
    with pytest.raises(pgndex.QuestionError, match="already been read or closed"):
        rows.__arrow_c_stream__()


def threads() -> int:
    return len(list(Path("/proc/self/task").iterdir())) if Path("/proc/self/task").exists() else 0


@pytest.fixture(scope="module")
def large(examples: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("large") / "large.pgn"
    text = (examples / "synthetic.pgn").read_bytes()
    with path.open("wb") as out:
        for _ in range(100):
            out.write(text + b"\n")
    return path


def test_the_end_of_a_stream_ends_the_workers(large: Path) -> None:
    before = threads()
    rows = pgndex.positions(large)
    next(rows)
    rows.close()
    assert next(rows, None) is None
    with pgndex.positions(large) as rows:
        next(rows)
    capsule = pgndex.positions(large).__arrow_c_stream__()
    del capsule
    deadline = time.monotonic() + 5
    while threads() > before and time.monotonic() < deadline:
        time.sleep(0.01)
    assert threads() <= before


def test_other_threads_of_python_run_on(large: Path) -> None:
    count, stop = itertools.count(), threading.Event()

    def work() -> None:
        while not stop.is_set():
            next(count)
            time.sleep(0.001)

    thread = threading.Thread(target=work)
    thread.start()
    for _ in pgndex.positions(large):
        pass
    stop.set()
    thread.join()
    assert next(count) > 10


# Polars tells what ended the stream by an error of its own.
@pytest.mark.parametrize(("how", "error"), [("polars.DataFrame(rows)", b"ComputeError"), ("list(rows)", b"\nKeyboardInterrupt")])
def test_control_c_ends_the_work(how: str, error: bytes, large: Path) -> None:
    script = f"""
import pgndex, polars, sys
rows = pgndex.positions([{str(large)!r}] + ["-"])
print("begun", flush=True)
{how}
"""
    # Standard input never ends, so neither does the work.
    process = subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout and process.stdout.readline() == b"begun\n"
    time.sleep(1)
    process.send_signal(signal.SIGINT)
    # Its standard input is closed only then: that would end the work as well.
    process.wait(timeout=20)
    _, errors = process.communicate()
    assert process.returncode != 0
    assert error in errors and b"KeyboardInterrupt" in errors, errors


def test_memory_is_bounded(large: Path) -> None:
    script = f"""
import pgndex
for batch in pgndex.positions([{str(large)!r}], columns=["fen", "white", "event", "uci"]):
    pass
print(*[line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM:")])
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    # All rows together take more than a gigabyte. `getrusage` would count the memory of the process that runs the tests too.
    assert int(done.stdout) < 200_000, "kilobytes"


def test_one_column_is_given_as_its_name(tmp_path: Path) -> None:
    path = tmp_path / "a.pgn"
    path.write_text("1. e4 *\n")
    assert frame(pgndex.positions(path, columns="fen")).columns == ["fen"]


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(pgndex.PgnError) as caught:
        pgndex.games(tmp_path / "none.pgn")
    assert str(caught.value) == f"{tmp_path}/none.pgn: no such file or directory; check the path"
