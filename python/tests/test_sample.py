"""Positions drawn at random."""

from __future__ import annotations

from pathlib import Path

import polars
import pytest

import pgndex

WIDE = ["game_id", "ply", "fen", "result", "eval_cp", "eval_mate"]


def frame(rows: pgndex.Rows) -> polars.DataFrame:
    return polars.DataFrame(rows)


CHOICES = [
    {"sample": 500, "seed": 3},
    {"sample": 200, "seed": 3, "one_per_game": True},
    {"one_per_game": True, "seed": 4},
    {"per_game": 3},
    {"sample": 10**7},
    {"sample": 0},
    {"sample": 300, "plies": (10, 40), "seed": 8},
    {"sample": 300, "evaluated": True},
    {"evaluated": True, "one_per_game": True, "plies": (5, 30)},
    {"evaluated": True},
    {"plies": (5, 7)},
    {"plies": (100_000, 100_001)},
]


@pytest.mark.parametrize("choice", CHOICES, ids=str)
def test_a_file_and_a_database_give_the_same_positions(choice: dict, samples: list[Path], database: Path) -> None:
    ours = frame(pgndex.positions(samples, columns=WIDE, **choice))
    with pgndex.Database(database) as opened:
        theirs = frame(opened.positions(columns=WIDE, **choice))
    assert ours.rows() == theirs.rows()
    for threads in (1, 5):
        assert frame(pgndex.positions(samples, columns=WIDE, threads=threads, **choice)).equals(ours)
    everything = frame(pgndex.positions(samples, columns=WIDE))
    assert ours.join(everything, on=WIDE, how="anti", nulls_equal=True).is_empty()
    assert ours.select("game_id", "ply").is_duplicated().sum() == 0
    sample = choice.get("sample")
    if sample is not None and sample < 1000:
        assert len(ours) == sample
    if choice.get("one_per_game"):
        assert ours["game_id"].is_duplicated().sum() == 0
    if choice.get("evaluated"):
        assert ours.filter(polars.col("eval_cp").is_null() & polars.col("eval_mate").is_null()).is_empty()
    if plies := choice.get("plies"):
        assert ours["ply"].is_between(*plies).all()


def test_the_program_draws_the_same(samples: list[Path], database: Path, run) -> None:
    text = run("export", database, "--format", "csv-positions", "--sample", 400, "--per-game", 5, "--seed", 11)
    drawn = {tuple(map(int, line.split(",")[1:3])) for line in text.splitlines()[1:]}
    ours = frame(pgndex.positions(samples, columns=["game_id", "ply"], sample=400, per_game=5, seed=11))
    assert len(drawn) == 400 and set(ours.rows()) == drawn


def test_other_seeds_draw_others_and_games_are_drawn_evenly(samples: list[Path]) -> None:
    def draw(seed: int) -> polars.DataFrame:
        return frame(pgndex.positions(samples[2], columns=["game_id", "ply"], sample=100, seed=seed, one_per_game=True))

    drawn = [draw(seed) for seed in range(100)]
    assert len({tuple(one.rows()) for one in drawn}) == 100
    counts = polars.concat(drawn)["game_id"].value_counts()["count"]
    # Of 1,000 games each is drawn ten times on average, by a binomial distribution: variance 9.
    assert 900 < len(counts) <= 1000
    assert 7 < counts.var() < 11


def test_to_draw_from_a_stream_is_refused() -> None:
    with pytest.raises(pgndex.PgnError, match="read only once"):
        list(pgndex.positions("-", sample=5))
