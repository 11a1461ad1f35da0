"""The commands and examples of python/README.md."""

from __future__ import annotations

import re
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "python" / "README.md").read_text()


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", README, re.M | re.S)


def test_two_commands_give_a_frame_of_positions() -> None:
    first, second = blocks("sh")[0].strip().splitlines()
    assert first.startswith("pip install ./python")
    # The first one made what is tested here.
    done = subprocess.run(["bash", "-euc", second.replace("python ", f"{sys.executable} ", 1)], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "shape: (3_288, 6)" in done.stdout


@pytest.mark.parametrize("code", blocks("python"))
def test_examples_run(code: str, tmp_path: Path, database: Path) -> None:
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    (tmp_path / "games.pgn").symlink_to(ROOT / "examples" / "annotated.pgn")
    (tmp_path / "games.db").symlink_to(database)
    if not hasattr(sqlite3.Connection, "enable_load_extension"):
        code = code.replace("import sqlite3\n", "import pysqlite3 as sqlite3\n")
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    # A comment after a line that prints is what it prints.
    expected = re.findall(r"^ *print\(.*?\)  # (.*)$", code, re.M)
    assert [line for line in done.stdout.splitlines() if line in expected] == expected
