"""Compares the annotation tables with what python-chess reads.

Arguments: the database, the PGN file from which it was made (plain text); `--games N`: only the first N games;
`--every K`: only each K-th game; `--jobs N`: processes (2).

The tables are move_eval, comment, nag, command, variation and variation_move, and the columns eval_count and
clock_count of game. Each game's text is cut out of the file by its byte offset and given to python-chess. If the two
readings differ, rules are tried: each rule is about one intended difference. It looks for the places where the
difference occurs, checks them, and rewrites them so that python-chess must read them as we do. The classes of a game
are the rules that were applied; the class `unexplained` is for differences that no rules explain.

The numbers are also compared with those that python-chess itself reads in the comments; these differences are listed
by reason.

Prints a line for each class, with its count and first examples, to standard error. The exit status is 1 if anything
is unexplained.
"""

import argparse
import collections
import itertools
import multiprocessing
import os
import re
import sqlite3
import sys
from decimal import ROUND_HALF_UP, Decimal

import chess.pgn

from annotation_reading import TABLES, decode, expected, read, squeeze
from annotation_rules import RULES

MOST_RULES = 4
MOST_READINGS = 60


def early_nesting(rows, reading):
    """A variation that begins before any move of its parent replaces the parent's first move. For python-chess it
    replaces the move before that one."""
    nested = reading.nested
    if not nested or any(row[0] in nested for row in rows["variation_move"]):
        return None
    moved = lambda found: [(row[0], row[1] + (row[0] in nested), *row[2:]) for row in found]
    variations = [(line, parent, ply + (line in nested)) for line, parent, ply in rows["variation"]]
    return {**rows, "variation": variations, **{table: moved(rows[table]) for table in ("comment", "nag", "command")}}


def compare_rows(rows, game):
    """The first difference between the expected rows and ours, or `None`."""
    for table in TABLES:
        wanted, found = rows[table], game["rows"][table]
        if wanted != found:
            for one, other in itertools.zip_longest(wanted, found):
                if one != other:
                    return f"{table}: python-chess {one!r}, pgndex {other!r}"
    evals = sum(row[3] is not None or row[4] is not None for row in rows["move_eval"])
    clocks = sum(row[1] is not None for row in rows["move_eval"])
    if (evals, clocks) != game["counts"]:
        return f"eval_count, clock_count: python-chess {evals, clocks}, pgndex {game['counts']}"
    return None


def differs(reading, game):
    """The difference between a reading and our rows, or `None`."""
    if reading is None:
        return "python-chess finds no game"
    plies = reading.frames[0].ply
    if plies != game["ply_count"]:
        return f"plies: python-chess {plies}, pgndex {game['ply_count']}"
    rows = expected(reading)
    difference = compare_rows(rows, game)
    if difference:
        other = early_nesting(rows, reading)
        if other and compare_rows(other, game) is None:
            reading.hits["early_nesting"] += 1
            return None
    return difference


def classify(text, game):
    """The names of the smallest set of rules that explains the difference between the readings, the reading, and the
    remaining difference."""
    if game["status"] == "skipped":
        rows = sum(map(len, game["rows"].values()))
        if rows == 0 and game["ply_count"] == 0 and game["counts"] in ((0, 0), (None, None)):
            return ["skipped: no rows"], None, None
        return None, None, f"skipped, with {rows} rows"
    reading = read(text)
    first = differs(reading, game)
    if first is None:
        return ["equal"], reading, None
    changing = [rule for rule in RULES if rule(text, game) != text]
    tried = {text}
    for count in range(1, min(MOST_RULES, len(changing)) + 1):
        for rules in itertools.combinations(changing, count):
            changed = text
            for rule in rules:
                changed = rule(changed, game)
            if changed in tried or len(tried) > MOST_READINGS:
                continue
            tried.add(changed)
            reading = read(changed)
            if differs(reading, game) is None:
                return [rule.__name__ for rule in rules], reading, None
    changed = text
    for rule in changing:
        changed = rule(changed, game)
    left = differs(read(changed), game)
    return None, None, f"{first}; with {[rule.__name__ for rule in changing]}: {left}"


# The numbers that python-chess itself reads.

def own_numbers(reading, rows):
    """Compares our numbers of the main line with those that python-chess reads in the comments. Yields the reason
    for each difference (or `agree`), and the text."""
    by_ply = {row[0]: row[1:] for row in rows["move_eval"]}
    node = chess.pgn.Game()
    for (line, ply), comments in reading.comments.items():
        if line:
            continue
        joined = "\n".join(comments)
        clock, elapsed, cp, mate, depth = by_ply.get(ply, (None,) * 5)
        if "[%" not in joined:
            if (clock, elapsed, cp, mate, depth) != (None,) * 5:
                yield ("engine's words: python-chess knows only commands", joined)
            continue
        node.comment = joined
        score = node.eval()
        theirs = node.clock(), node.emt(), score and score.white(), node.eval_depth()
        yield from own_clock("clock", "clk", theirs[0], clock, joined)
        yield from own_clock("elapsed", "emt", theirs[1], elapsed, joined)
        if theirs[2] is None:
            if cp is not None or mate is not None:
                yield (eval_reason(joined), joined)
            continue
        if (theirs[2].score(), theirs[2].mate(), theirs[3]) == (cp, mate, depth):
            yield ("agree: eval", joined)
        elif depth is not None and theirs[2].score() is not None and cp is not None and abs(theirs[2].score()) == 100 * abs(cp):
            found = re.search(r"\[%eval\s+[+-]?\d+,\d+", joined)
            turned = theirs[2].score() == -100 * cp and cp
            if not found:
                yield ("unexplained: eval", joined)
            else:
                view = " and the mover's view, for python-chess White's" if turned else ""
                yield (f"eval: a whole number with a depth is centipawns, for python-chess pawns{view}", joined)
        elif depth is not None and mate and theirs[2].mate() == -mate:
            yield ("eval: a mate with a depth is the mover's view, for python-chess White's", joined)
        elif mate == 0 and theirs[2].mate() == 0:
            yield ("agree: eval", joined)
        else:
            yield (eval_reason(joined), joined)


def own_clock(kind, name, theirs, ours, joined):
    ours_seconds = ours
    theirs = None if theirs is None else int(Decimal(repr(theirs)).__mul__(100).quantize(Decimal(1), ROUND_HALF_UP))
    if theirs == ours_seconds:
        if ours is not None:
            yield f"agree: {kind}", joined
        return
    values = re.findall(rf"\[%{name}\s+([^\]]*)\]", joined)
    if theirs is None:
        if kind == "elapsed" and any(re.fullmatch(r"\s*\d+(\.\d*)?\s*", value) for value in values):
            yield "elapsed: %emt in seconds, which python-chess does not read", joined
        elif kind == "elapsed" and "[%timestamp" in joined:
            yield "elapsed: %timestamp, which python-chess does not read", joined
        elif values and re.search(rf"\[%{name}(\s\s+|\s[^\]]*\s\])", joined):
            yield f"{kind}: more white space in the command than python-chess allows", joined
        elif not values:
            yield f"{kind}: from an engine's words beside a command", joined
        else:
            yield f"unexplained: {kind}", joined
    elif ours is None:
        yield f"unexplained: {kind}", joined
    elif len(values) > 1:
        yield f"{kind}: several commands at a place", joined
    else:
        yield f"unexplained: {kind}", joined


def eval_reason(joined):
    values = [squeeze(value) for value in re.findall(r"\[%eval([^\]]*)\]", joined)]
    if not values:
        return "eval: from an engine's words beside a command"
    if values[0].startswith("-#"):
        return "eval: -#, which python-chess does not read"
    if re.match(r"[+-]?\d*\.\d{3,}", values[0]):
        return "eval: three and more decimals, which python-chess does not read"
    if re.search(r"\[%eval(\s\s+|\s[^\]]*\s\])", joined):
        return "eval: more white space in the command than python-chess allows"
    if re.fullmatch(r"[+-]?\d*\.\d\d", values[0]) is None and len(values) > 1:
        return "eval: several commands at a place"
    return "unexplained: eval"


# Games.

FACTS = "game_id, byte_offset, byte_length, status, start_fen, variant, ply_count"


def rows_of(database, table, columns, lowest, highest):
    """The rows of some games, by game."""
    found = collections.defaultdict(list)
    query = f"SELECT game_id, {columns} FROM {table} WHERE game_id BETWEEN ? AND ? ORDER BY game_id, {columns}"
    for game, *row in database.execute(query, (lowest, highest)):
        found[game].append(tuple(row))
    return found


def load(database, games, source):
    """Our reading of some games."""
    lowest, highest = games[0][0], games[-1][0]
    problems = collections.defaultdict(list)
    tables = {table: rows_of(database, table, columns, lowest, highest) for table, columns in TABLES.items()}
    query = "SELECT game_id, eval_count, clock_count FROM game WHERE game_id BETWEEN ? AND ?"
    counts = {game: (evals, clocks) for game, evals, clocks in database.execute(query, (lowest, highest))}
    query = "SELECT game_id, byte_offset, token, severity, kind FROM problem WHERE game_id BETWEEN ? AND ? AND source_id = ?"
    for game, *problem in database.execute(query, (lowest, highest, source)):
        problems[game].append(problem)
    for game, offset, length, status, start_fen, variant, ply_count in games:
        yield {
            "id": game,
            "offset": offset,
            "length": length,
            "status": status,
            "start_fen": start_fen,
            "variant": variant,
            "ply_count": ply_count,
            "rows": {table: sorted(found[game]) for table, found in tables.items()},
            "counts": counts.get(game),
            "errors": [(at - offset, token) for at, token, severity, _ in problems[game] if severity == "error"],
            "warnings": [
                (at - offset, token)
                for at, token, severity, kind in problems[game]
                if severity != "error" and token and "move" in kind
            ],
        }


class Report:
    """Counts by class, each with its first examples."""

    def __init__(self):
        self.counts = collections.Counter()
        self.examples = collections.defaultdict(list)

    def add(self, name, example, count=1):
        self.counts[name] += count
        if len(self.examples[name]) < self.most(name):
            self.examples[name].append(example)

    @staticmethod
    def most(name):
        return 20 if name.startswith("unexplained") else 3

    def merge(self, other):
        self.counts.update(other.counts)
        for name, found in other.examples.items():
            self.examples[name] = (self.examples[name] + found)[: self.most(name)]

    def print(self, file):
        for name in sorted(self.counts):
            quiet = name.startswith(("game: equal", "number: agree", "rows: "))
            print(f"{self.counts[name]:9}  {name}", file=file)
            for example in () if quiet else self.examples[name]:
                print(f"{'':11}{example}", file=file)


def plain(text):
    """A game's text for python-chess: it takes `\\n` for the end of a line."""
    text = text.removeprefix("\xef\xbb\xbf")
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def check(job):
    """The report on some games."""
    path, pgn, source, games = job
    database = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    report = Report()
    with open(pgn, "rb") as file:
        for game in load(database, games, source):
            file.seek(game["offset"])
            raw = file.read(game["length"]).decode("latin-1")
            # Offsets of problems count bytes. After the line ends `\r\n` have been replaced, they must count the
            # remaining bytes.
            for key in ("errors", "warnings"):
                game[key] = [(at - raw.count("\r\n", 0, max(at, 0)), token) for at, token in game[key]]
            if raw.startswith("\xef\xbb\xbf"):
                for key in ("errors", "warnings"):
                    game[key] = [(at - 3, token) for at, token in game[key]]
            check_game(plain(raw), game, report)
    return report


def check_game(text, game, report):
    place = f"game {game['id']} (byte {game['offset']})"
    names, reading, difference = classify(text, game)
    if names is None:
        report.add("unexplained", f"{place}: {difference}")
        return
    report.add("game: " + " + ".join(names), place)
    if reading is None:
        return
    if game["status"] != "ok":
        report.add(f"game: {game['status']}, compared up to there", place)
    for name, count in reading.hits.items():
        report.add(f"occurs: {name}", place, count)
    for table, rows in game["rows"].items():
        report.add(f"rows: {table}", place, len(rows))
    for reason, comment in own_numbers(reading, game["rows"]):
        name = reason if reason.startswith("unexplained") else f"number: {reason}"
        report.add(name, f"{place}: {decode(comment)[:200]!r}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("database")
    parser.add_argument("pgn")
    parser.add_argument("--games", type=int)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    given = parser.parse_args()
    database = sqlite3.connect(f"file:{given.database}?mode=ro", uri=True)
    name = os.path.basename(given.pgn)
    sources = database.execute("SELECT source_id, path FROM source").fetchall()
    source = next((number for number, path in sources if os.path.basename(path) == name), sources[0][0])
    games = database.execute(f"SELECT {FACTS} FROM game WHERE source_id = ? ORDER BY game_id", (source,)).fetchall()
    games = games[: given.games][:: given.every]
    jobs = [(given.database, given.pgn, source, games[at : at + 200]) for at in range(0, len(games), 200)]
    report = Report()
    if given.jobs > 1:
        with multiprocessing.Pool(given.jobs) as pool:
            for found in pool.imap(check, jobs):
                report.merge(found)
    else:
        for job in jobs:
            report.merge(check(job))
    report.print(sys.stderr)
    unexplained = sum(count for name, count in report.counts.items() if name.startswith("unexplained"))
    print(f"{len(games)} games, {unexplained} unexplained")
    sys.exit(1 if unexplained else 0)


if __name__ == "__main__":
    main()
