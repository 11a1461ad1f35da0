"""A file cut into byte ranges: each game comes once, whoever reads it."""

from __future__ import annotations

import gzip
import json
import random
import shutil
import struct
import subprocess
from pathlib import Path

import polars
import pytest

import pgndex
from pgndex.part import write_part

COLUMNS = ["white", "black", "date", "ply_count", "moves_hash"]


def games(path: Path, ranges: list[tuple[int, int]]) -> polars.DataFrame:
    parts = [
        polars.DataFrame(pgndex.read_range(path, *span, "game", columns=["game_id", *COLUMNS], shard=shard))
        for shard, span in enumerate(ranges)
    ]
    for shard, part in enumerate(parts):
        assert part["game_id"].to_list() == [(shard << 32) + number for number in range(1, len(part) + 1)]
    return polars.concat(parts).select(COLUMNS)


def cut(path: Path, pieces: int) -> list[tuple[int, int]]:
    size = path.stat().st_size
    ends = [size * piece // pieces for piece in range(pieces + 1)]
    return list(zip(ends, ends[1:]))


def frames(text: bytes, sizes: list[int], skippable: bool) -> bytes:
    """A zstd archive whose frames have so many bytes of text each, over and over."""
    packed, at, number = b"", 0, 0
    while at < len(text):
        piece = text[at : at + sizes[number % len(sizes)]]
        frame = subprocess.run(["zstd", "-q", "-c", "-"], input=piece, capture_output=True, check=True).stdout
        if skippable:
            # As pzstd does: the size of the frame that follows.
            packed += bytes.fromhex("502a4d18") + struct.pack("<II", 4, len(frame))
        packed += frame
        at, number = at + len(piece), number + 1
    return packed


def stored(text: bytes, size: int) -> bytes:
    """The same with the text as it is: each frame is one raw block (RFC 8878, 3.1.1)."""
    packed = b""
    for at in range(0, len(text), size):
        piece = text[at : at + size]
        block = struct.pack("<I", len(piece) << 3 | 1)[:3] + piece
        packed += bytes.fromhex("28b52ffd") + b"\xa0" + struct.pack("<I", len(piece)) + block
    return packed


@pytest.fixture(scope="module")
def text(examples: Path) -> bytes:
    return (examples / "synthetic.pgn").read_bytes()[:600_000] + b"\n\n" + (examples / "famous-games.pgn").read_bytes()


@pytest.fixture(
    scope="module",
    params=["plain", "one frame", "frames", "pzstd", "short frames", "a game in three frames", "gzip"],
)
def archive(request: pytest.FixtureRequest, text: bytes, tmp_path_factory: pytest.TempPathFactory) -> Path:
    if request.param not in ("plain", "gzip") and not shutil.which("zstd"):
        pytest.fail("zstd is needed to make archives")
    path = tmp_path_factory.mktemp("ranges") / "games.pgn"
    match request.param:
        case "plain":
            path.write_bytes(text)
        case "gzip":
            path.write_bytes(gzip.compress(text))
        case "one frame":
            path.write_bytes(frames(text, [len(text)], False))
        case "frames":
            path.write_bytes(frames(text, [100_000, 33_333, 7], False))
        case "pzstd":
            path.write_bytes(frames(text, [64 << 10], True))
        case "short frames":
            path.write_bytes(frames(text[:60_000], [500, 1_500], True))
        case "a game in three frames":
            path.write_bytes(frames(text[:60_000], [150], False))
    return path


@pytest.mark.parametrize("pieces", [1, 2, 7, 64])
def test_ranges_give_each_game_once(archive: Path, pieces: int) -> None:
    whole = polars.DataFrame(pgndex.games(archive, columns=COLUMNS))
    assert len(whole) > 50
    assert games(archive, cut(archive, pieces)).equals(whole)


def test_ranges_cut_anywhere_give_each_game_once(archive: Path) -> None:
    whole = polars.DataFrame(pgndex.games(archive, columns=COLUMNS))
    size, draw = archive.stat().st_size, random.Random(1)
    for _ in range(5):
        ends = sorted({0, size, *(draw.randrange(size) for _ in range(4))})
        assert games(archive, list(zip(ends, ends[1:]))).equals(whole), ends


def test_each_range_owns_the_games_that_begin_in_it(text: bytes, tmp_path: Path) -> None:
    path = tmp_path / "games.pgn"
    path.write_bytes(text)
    begins = polars.DataFrame(pgndex.games(path, columns=["byte_offset"]))["byte_offset"].to_list()
    for start, end in cut(path, 9):
        ours = polars.DataFrame(pgndex.read_range(path, start, end, "game", columns=["byte_offset"]))
        assert ours["byte_offset"].to_list() == [begin for begin in begins if start <= begin < end]
    at = begins[10]
    for start, end, count in [(at, at + 1, 1), (at - 1, at, 0), (at + 1, begins[11], 0), (at, begins[13], 3)]:
        assert polars.DataFrame(pgndex.read_range(path, start, end, "game")).height == count


def test_what_looks_like_a_frame_is_none(text: bytes, tmp_path: Path) -> None:
    """The mark of a frame within frames that are stored as they are."""
    magic = bytes.fromhex("28b52ffd")
    noise = random.Random(2).randbytes(4096).replace(b"\n", b" ").replace(b"}", b" ")
    comment = b"{" + magic.join([noise[at : at + 64] for at in range(0, 4096, 64)]) + b"}"
    games_text = text[:40_000].rsplit(b"\n[Event", 1)[0]
    strange = games_text + b'\n[Event "x"]\n[White "strange"]\n\n1. e4 ' + comment + b" e5 *\n\n" + games_text
    path = tmp_path / "games.pgn.zst"
    path.write_bytes(stored(strange, 3_000))
    assert path.read_bytes().count(magic) > len(strange) // 3_000 + 50
    whole = polars.DataFrame(pgndex.games(path, columns=COLUMNS))
    assert "strange" in whole["white"]
    for pieces in (2, 7, 64):
        assert games(path, cut(path, pieces)).equals(whole)


def test_splits_are_one_where_a_file_cannot_be_cut(archive: Path) -> None:
    ranges = pgndex.splits(archive, 10_000)
    assert ranges[0][0] == 0 and ranges[-1][1] == archive.stat().st_size
    assert all(one[1] == other[0] for one, other in zip(ranges, ranges[1:]))
    is_one = archive.read_bytes()[:2] == b"\x1f\x8b" or archive.read_bytes().count(bytes.fromhex("28b52ffd")) == 1
    assert (len(ranges) == 1) == is_one


def test_rows_of_positions_and_problems_come_from_ranges_too(text: bytes, tmp_path: Path) -> None:
    path = tmp_path / "games.pgn"
    path.write_bytes(text.replace(b" 2. ", b" 2. Zz9 ", 5))
    for table in ("game_position", "problem", "moves"):
        whole = polars.DataFrame(pgndex.table(table, path)).drop("game_id", "line", "game_number", strict=False)
        parts = [polars.DataFrame(pgndex.read_range(path, *span, table)) for span in cut(path, 5)]
        together = polars.concat(parts).drop("game_id", "line", "game_number", strict=False)
        assert len(whole) > 0 and together.equals(whole)


def test_a_part_has_its_positions_by_key_in_one_file(text: bytes, tmp_path: Path) -> None:
    path, out = tmp_path / "games.pgn", tmp_path / "part"
    path.write_bytes(text)
    write_part(path, 0, len(text), out, shard=3, partition_by="none", continuation_threshold=64, threads=2, memory=1 << 28)
    [file] = (out / "position_game").rglob("*.parquet")
    by_key = polars.read_parquet(file)
    columns = ["key", "game_id", "ply", "move_code"]
    positions = polars.read_parquet(out / "game_position" / "*.parquet").select(columns)
    assert by_key.select(columns).equals(positions.sort("key", "game_id", "ply"))
    manifest = json.loads((out / "_manifest-00003.json").read_text())
    assert (manifest["by_key"], manifest["continuation_threshold"]) == ("job", 64)
