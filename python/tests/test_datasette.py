"""A running Datasette with the plugin."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture(scope="module")
def address(database: Path) -> Iterator[str]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [
        sys.executable,
        "-m",
        "datasette",
        "serve",
        str(database),
        "--host",
        "127.0.0.1",
        "--port",
        str(port),
        "--setting",
        "sql_time_limit_ms",
        "20000",
    ]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    address = f"http://127.0.0.1:{port}"
    try:
        for _ in range(300):
            try:
                urllib.request.urlopen(f"{address}/-/plugins.json").close()
                break
            except (urllib.error.URLError, ConnectionError):
                assert server.poll() is None, server.stderr and server.stderr.read()
                time.sleep(0.1)
        yield address
    finally:
        server.terminate()
        server.wait()


def get(address: str, path: str, **query: str) -> str:
    with urllib.request.urlopen(f"{address}{path}?{urllib.parse.urlencode(query)}") as answer:
        return answer.read().decode()


def test_the_plugin_is_found(address: str) -> None:
    plugins = json.loads(get(address, "/-/plugins.json"))
    plugins = plugins if isinstance(plugins, list) else plugins["plugins"]
    assert "pgndex" in {plugin["name"].removesuffix(".datasette") for plugin in plugins}


def test_functions_can_be_used(address: str) -> None:
    answer = json.loads(
        get(address, "/samples.json", sql="SELECT move_san(fen, move_code) AS san FROM game_position LIMIT 1", _shape="array")
    )
    assert answer == [{"san": "e4"}]


def test_fens_are_drawn(address: str) -> None:
    page = get(address, "/samples", sql="SELECT fen, 'x' AS other FROM game_position LIMIT 3")
    assert page.count("<svg") == 3 and "rnbqkbnr/pppppppp" in page
    page = get(address, "/samples", sql="SELECT fen AS start_fen FROM game_position LIMIT 2")
    assert page.count("<svg") == 2
    page = get(address, "/samples", sql="SELECT '<script>alert(1)</script>' AS fen, fen AS text FROM game_position LIMIT 1")
    assert "<svg" not in page and "<script>alert(1)" not in page
    assert "<svg" in get(address, "/samples/game_position")
