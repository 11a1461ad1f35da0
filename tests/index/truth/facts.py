"""Compares the columns of `game` that come from tags with the tags as python-chess reads them.

Arguments: the database, the PGN file. Prints each difference, then the number of compared values.
"""

import datetime
import io
import re
import sqlite3
import sys

import chess.pgn

COLUMNS = (
    "lichess_id",
    "started_at",
    "time_initial",
    "time_increment",
    "speed",
    "termination",
    "white_rating_diff",
    "black_rating_diff",
    "white_fide_id",
    "black_fide_id",
)
SMALL = {f"{initial}{rest}" for initial in range(181) for rest in ("", *(f"+{second}" for second in range(61)))}
CLASSES = ((30, "ultraBullet"), (180, "bullet"), (480, "blitz"), (1500, "rapid"), (float("inf"), "classical"))


def lichess_id(tags):
    pages = ("training", "analysis", "practice")
    address = r"(?:https?://)?lichess\.org/([A-Za-z0-9]{8})(?:[A-Za-z0-9]{4})?(?:/|/white|/black)?(?:[#?].*)?$"
    for name in ("Site", "GameId", "Link"):
        pattern = r"([A-Za-z0-9]{8})$" if name == "GameId" else address
        found = re.match(pattern, tags.get(name, "").strip())
        if found and found[1] not in pages:
            return found[1]
    return None


def started_at(tags):
    date, time = tags.get("UTCDate", "").strip(), tags.get("UTCTime", "").strip()
    try:
        moment = datetime.datetime.strptime(re.sub("[-/]", ".", date) + " " + time, "%Y.%m.%d %H:%M:%S")
    except ValueError:
        return None
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def time_control(tags):
    """Initial seconds, seconds per move, and the speed."""
    value = tags.get("TimeControl", "").strip()
    if value == "-":
        return None, None, "correspondence"
    found = re.match(r"(?:\*|(\d+)/)?(\d+(?:\.\d+)?)(?:\+(\d+(?:\.\d+)?))?(?::|$)", value)
    if not found:
        return None, None, None
    initial, increment = float(found[2]), float(found[3] or 0)
    if found[1] and initial / int(found[1]) >= 3600:
        return None, None, "correspondence"
    speed = next(word for limit, word in CLASSES if initial + 40 * increment < limit)
    return int(initial + 0.5), int(increment + 0.5), speed


def whole(tags, name, least):
    found = re.fullmatch(r"\s*([+-]?\d+)\s*", tags.get(name, ""))
    return int(found[1]) if found and int(found[1]) >= least else None


def expected(tags):
    termination = tags.get("Termination", "").strip()
    return (
        lichess_id(tags),
        started_at(tags),
        *time_control(tags),
        termination if termination not in ("", "?") else None,
        whole(tags, "WhiteRatingDiff", float("-inf")),
        whole(tags, "BlackRatingDiff", float("-inf")),
        whole(tags, "WhiteFideId", 1),
        whole(tags, "BlackFideId", 1),
    )


def main(database, pgn):
    text = open(pgn, "rb").read()
    rows = sqlite3.connect(database).execute(
        f"SELECT game_id, byte_offset, byte_length, {', '.join(COLUMNS)} FROM game ORDER BY game_id"
    )
    compared = 0
    for game, offset, length, *found in rows:
        own = text[offset : offset + length].decode("utf-8", "replace")
        tags = chess.pgn.read_headers(io.StringIO(own))
        for column, wanted, value in zip(COLUMNS, expected(tags or {}), found):
            # A small number can be in minutes, which the clock shows, unless the game is from a site that writes
            # seconds.
            site, control = (tags or {}).get("Site", "").lower(), (tags or {}).get("TimeControl", "")
            are_seconds = re.search("lichess.org|freechess.org|fics", site) and not re.match(r"(\d|1[0-4])(\+|$)", control)
            if column in ("time_initial", "time_increment", "speed") and control in SMALL and not are_seconds:
                continue
            compared += wanted is not None
            if wanted != value:
                print(f"game {game}: {column} is {value!r}, not {wanted!r}")
    print(f"{compared} values")


main(*sys.argv[1:])
