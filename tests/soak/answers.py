"""Compares the answers of two databases with the same games that were added in different ways: they must be the
same."""

import hashlib
import json
import sqlite3

from program import Failed

# Game ids differ, and so do lists of games that are equal in what they are sorted by.
NUMBERS = {"id", "game", "game_id", "topGames", "recentGames", "bestWins", "best_wins"}

ROWS = {
    "games": """SELECT g.white, g.black, g.white_elo, g.black_elo, g.result, g.date, g.event, g.site, g.round, g.eco, g.opening, g.ply_count,
        g.status, g.speed, g.eval_count, g.clock_count, moves_hash, prefix_hash FROM games AS g JOIN game USING (game_id)""",
    "positions": "SELECT key, halfmove_clock, move_code, fen, ply FROM game_position",
    "occurrences": "SELECT key, ply FROM position_game",
    "tags": "SELECT name, value FROM tag",
    "values": "SELECT ply, clock, elapsed, eval_cp, eval_mate, depth FROM move_eval",
    "comments": "SELECT line, ply, number, text FROM comment",
    "glyphs": "SELECT line, ply, nag FROM nag",
    "variations": "SELECT line, ply, key, move_code FROM variation_move",
    "names": "SELECT name FROM player UNION ALL SELECT name FROM event UNION ALL SELECT name FROM site",
    "openings": "SELECT eco, name, fen FROM opening",
}
# The views for `explore`. Their rows begin with the key.
COUNTED = {
    "visited": "SELECT key, fen, games, white_wins, draws, black_wins, unfinished, white_elo_sum, white_elo_games, black_elo_sum, black_elo_games FROM visited_position",
    "continuations": """SELECT key, move_code, games, white_wins, draws, black_wins, white_elo_sum, white_elo_games, black_elo_sum, black_elo_games, first_year, last_year
        FROM continuation""",
}


def read_only(path):
    return sqlite3.connect(f"file:{path}?mode=ro", uri=True)


def integrity(path):
    with read_only(path) as database:
        found = [row[0] for row in database.execute("PRAGMA integrity_check")]
        found += [str(row) for row in database.execute("PRAGMA foreign_key_check")]
    database.close()
    if found != ["ok"]:
        raise Failed(f"{path}: integrity_check: {found[:5]}")


def sums(path, queries):
    """A checksum over the rows of each query that does not depend on their order."""
    answer = {}
    with read_only(path) as database:
        for name, query in queries.items():
            count = total = 0
            for row in database.execute(query):
                count += 1
                total += int.from_bytes(hashlib.blake2b(repr(row).encode(), digest_size=8).digest(), "little")
            answer[name] = (count, total % 2**64)
    database.close()
    return answer


def compare_counts(one, other):
    """Compares rows of the views for `explore` in a database with several levels. A position has a row there if many games
    of one level reached it, so only positions that both databases have are compared."""
    with read_only(other) as database:
        most = "SELECT key FROM visited_position ORDER BY games DESC, key LIMIT 300"
        keys = [key for key, in database.execute(most)]
    database.close()
    for name, query in COUNTED.items():
        rows = [{}, {}]
        for path, of_key in zip((one, other), rows):
            with read_only(path) as database:
                for row in database.execute(f"{query} WHERE key IN (SELECT value FROM json_each(?))", [json.dumps(keys)]):
                    of_key.setdefault(row[0], []).append(row)
            database.close()
        left, right = rows
        shared = left.keys() & right.keys()
        if keys and not shared:
            raise Failed(f"{name}: no position is in both databases")
        for key in shared:
            if sorted(left[key], key=repr) != sorted(right[key], key=repr):
                raise Failed(f"{name}, key {key}: {left[key]} in {one}, {right[key]} in {other}")


def plain(value):
    """An answer without game ids, with its lists sorted."""
    if isinstance(value, dict):
        return {name: plain(part) for name, part in value.items() if name not in NUMBERS}
    if isinstance(value, list):
        return sorted((plain(part) for part in value), key=json.dumps)
    return value


def listed(explored):
    """The values by which lists are sorted, for the games in them."""
    ratings = [(game["white"]["rating"] or 0) + (game["black"]["rating"] or 0) for game in explored["topGames"]]
    return ratings, [game["year"] for game in explored["recentGames"]]


def questions(lines, players, draw):
    commands = [["explore", "--format", "json", "--limit", "0"]]
    filters = [[], ["--elo-min", "2300"], ["--since", "2005"], ["--result", "1-0"], ["--player", f"={draw.choice(players)}"]]
    for line in draw.sample(lines, min(8, len(lines))):
        commands.append(["explore", "--format", "json", "--limit", "0", "--play", line, *draw.choice(filters)])
    for player in draw.sample(players, min(3, len(players))):
        commands.append(["player", f"={player}", "--format", "json", "--limit", "0"])
    commands.append(["players", "--format", "csv", "--limit", "0"])
    for kind in ["--ending", "rook"], ["--material", "KRP*vKRP*"], ["--move", "#"], ["--play", draw.choice(lines)]:
        commands.append(["find", *kind, "--limit", "0", "--format", "csv"])
    return commands


def answer(program, database, question):
    command, *options = question
    text = program.run(command, database, *options)
    if command == "find":
        # Without the game id, which comes first.
        return sorted(line.split(",", 1)[1] for line in text.splitlines())
    if command == "players":
        return sorted(text.splitlines())
    found = json.loads(text)
    return (plain(found), listed(found)) if command == "explore" else plain(found)


def compare(program, one, other, lines, players, draw, is_optimized):
    queries = ROWS | (COUNTED if is_optimized else {})
    if not is_optimized:
        compare_counts(program.directory / one, program.directory / other)
    left, right = sums(program.directory / one, queries), sums(program.directory / other, queries)
    for name in queries:
        if left[name] != right[name]:
            raise Failed(f"{name}: {left[name]} in {one}, {right[name]} in {other} (rows, sum)")
    for question in questions(lines, players, draw):
        if answer(program, one, question) != answer(program, other, question):
            raise Failed(f"{' '.join(question)}: different answers in {one} and {other}")
