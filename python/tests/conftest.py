"""What tests share: the sample games, and a database of them."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import pgndex

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def examples() -> Path:
    return ROOT / "examples"


@pytest.fixture(scope="session")
def samples(examples: Path) -> list[Path]:
    """Games with evaluations and clocks, with comments and variations, from set-ups, and with something wrong."""
    data = ROOT / "tests" / "data"
    return [
        examples / "famous-games.pgn",
        examples / "annotated.pgn",
        examples / "synthetic.pgn",
        data / "annotated.pgn",
        data / "variations.pgn",
    ]


@pytest.fixture(scope="session")
def database(samples: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("database") / "samples.db"
    pgndex.index(samples, path, duplicates="keep")
    return path


@pytest.fixture(scope="session")
def program() -> str:
    """The program that the wheel brings."""
    beside = Path(sys.executable).with_name("pgndex")
    found = str(beside) if beside.exists() else shutil.which("pgndex")
    assert found, "the wheel installs the program"
    return found


@pytest.fixture(scope="session")
def run(program: str):
    def run(*arguments: object) -> str:
        done = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True)
        assert done.returncode in (0, 3), done.stderr
        return done.stdout

    return run
