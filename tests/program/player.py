"""Asks `pgndex player` for the records of the most frequent players and of some others, and compares the answers
with reading all games with python-chess.

Usage: player.py PGNDEX DATABASE PGN SEED COUNT. Prints the number of records and of games in them.
"""

import collections
import json
import random
import re
import subprocess
import sys

import chess

# Imported modules of this directory leave no `.pyc` files.
sys.dont_write_bytecode = True
import page
from games import read_games
from rating import hold_performance, mean, rating

DEPTH = 6


OFFICERS = [chess.QUEEN, chess.ROOK, chess.BISHOP, chess.KNIGHT]


def endings(board):
    """The kinds of endings to which a position belongs."""
    if board.queens and board.bishops | board.knights:
        return set()
    both = [tuple(len(board.pieces(kind, color)) for kind in OFFICERS) for color in chess.COLORS]
    # The pieces of both sides, and whether each side has exactly one.
    kinds = sorted("".join(letter for letter, count in zip("QRBN", side) if count) for side in both)
    one = [sum(side) == 1 for side in both]
    if kinds == ["", ""]:
        return {"pawn"} if board.pawns else set()
    of_one_kind = {"N N": "knight", "B B": "bishop", "R R": "rook", "Q Q": "queen", "B N": "bishop-knight"}
    found = {of_one_kind.get(" ".join(kinds))}
    if all(kind in ("B", "N", "BN") for kind in kinds):
        found.add("minor")
    if kinds == ["B", "B"] and all(one):
        dark = chess.SquareSet(board.bishops & chess.BB_DARK_SQUARES)
        found.add("opposite-bishops" if len(dark) == 1 else "same-bishops")
    if kinds in (["B", "R"], ["N", "R"]) and all(one):
        found.add("rook-minor")
    if kinds == ["Q", "R"] and board.queens.bit_count() == 1 and board.rooks.bit_count() <= 2:
        found.add("queen-rook")
    return found - {None}


class Game:
    """The data of one game."""

    def __init__(self, game):
        headers = game.headers
        self.names = headers.get("White", "?"), headers.get("Black", "?")
        self.ratings = rating(headers.get("WhiteElo", "")), rating(headers.get("BlackElo", ""))
        self.result = headers.get("Result", "*")
        # Any other date, for example with a thirteenth month, is unknown.
        date = re.fullmatch(r"(\d{4}|\?{4})\.(0[1-9]|1[0-2]|\?\?)\.(0[1-9]|[12]\d|3[01]|\?\?)", headers.get("Date", ""))
        self.date = date.group() if date and date.group().strip("?.") else ""
        year = self.date[:4]
        self.year = int(year) if year.isdigit() and int(year) else None
        self.moves = None
        board = game.board()
        self.endings = endings(board)
        for move in game.mainline_moves():
            board.push(move)
            self.endings |= endings(board)
        board = game.board()
        if board.epd() == chess.STARTING_FEN[:-4]:
            self.moves = []
            for move in list(game.mainline_moves())[:DEPTH]:
                self.moves.append(board.san(move).rstrip("+#"))
                board.push(move)

    def of(self, name):
        """The game from the view of a player, for each side that the player had: side, own and opponent's rating,
        half points, opponent's name."""
        for side in (side for side in (0, 1) if self.names[side] == name):
            points = {"1-0": 2, "0-1": 0, "1/2-1/2": 1}.get(self.result)
            if points is not None and side == 1:
                points = 2 - points
            yield side, self.ratings[side], self.ratings[1 - side], points, self.names[1 - side]


def record(seen):
    """The same fields as in the answer, except for the performance."""
    points = [points for _, (_, _, _, points, _) in seen]
    own = [rating for _, (_, rating, _, _, _) in seen if rating]
    others = [(rating, points) for _, (_, _, rating, points, _) in seen if rating and points is not None]
    return {
        "games": len({id(game) for game, _ in seen}),
        "wins": points.count(2),
        "draws": points.count(1),
        "losses": points.count(0),
        "unfinished": points.count(None),
        "rating": mean(own),
        "opponent_rating": mean([rating for rating, _ in others]),
        "performance_games": len(others),
    }, others


def hold(found, seen, what):
    """Compares a record with that of some games."""
    expected, others = record(seen)
    for field, value in expected.items():
        assert found[field] == value, (what, field, found[field], value)
    hold_performance(found["performance"], others, what)


def hold_groups(found, key, seen, of, what):
    """Compares the records of groups with those of the games that belong to them."""
    groups = collections.defaultdict(list)
    for game in seen:
        groups[of(game)].append(game)
    assert sorted(map(str, (group[key] for group in found))) == sorted(map(str, groups)), (what, key)
    for group in found:
        hold(group, groups[group[key]], (what, key, group[key]))


def flat(nodes, before=()):
    for node in nodes:
        line = before + (node["san"].rstrip("+#"),)
        assert node["ply"] == len(line)
        yield line, node
        yield from flat(node["next"], line)


def hold_lines(found, seen, what):
    fewest = max(2, -(-5 * len(seen) // 100))
    lines = collections.defaultdict(list)
    for game in seen:
        moves = game[0].moves or []
        for length in range(1, len(moves) + 1):
            lines[tuple(moves[:length])].append(game)
    expected = {line: games for line, games in lines.items() if len(games) >= fewest}
    found = dict(flat(found))
    assert found.keys() == expected.keys(), (what, found.keys() ^ expected.keys())
    positions = {}
    for line, node in found.items():
        hold(node, expected[line], (what, line))
        board = chess.Board()
        text = []
        for move in line:
            text.append((f"{board.fullmove_number}. " if board.turn else "") + move)
            board.push_san(move)
        positions.setdefault(board.epd(en_passant="legal"), []).append((" ".join(text), node))
    for same in positions.values():
        most, _ = max(same, key=lambda one: one[1]["games"])
        for line, node in same:
            transposed = node["transposes_to"] and re.sub("[+#]", "", node["transposes_to"])
            assert transposed == (None if line == most else most), (what, line, transposed, most)


def main():
    program, database, pgn, seed, count = sys.argv[1:]
    games = [Game(game) for game in read_games(pgn)]
    often = collections.Counter(name for game in games for name in set(game.names) if name.strip("?"))
    chance = random.Random(int(seed))
    names = [name for name, _ in often.most_common(int(count))]
    names += chance.sample(sorted(often), int(count))
    record_count = total = 0
    for name in names:
        years = sorted({game.year for game in games if game.year and name in game.names})
        for since in [None] + years[len(years) // 2 : len(years) // 2 + 1]:
            filters = ["--since", str(since)] if since else []
            command = [program, "player", database, "=" + name, "--limit", "0", *filters, "--format"]
            run = lambda command: subprocess.run(command, check=True, capture_output=True).stdout.decode()
            answer = json.loads(run([*command, "json"]))
            page.held(run([*command, "html"]), answer)
            chosen = [game for game in games if not since or game.year and game.year >= since]
            seen = [(game, view) for game in chosen for view in game.of(name)]
            what = (name, since)
            hold(answer["all"], seen, what)
            for side, color in enumerate(["white", "black"]):
                of_side = [game for game in seen if game[1][0] == side]
                found = answer[color]
                hold(found, of_side, (what, color))
                assert sum(opening["games"] for opening in found["openings"]) == len(of_side), (what, color)
                hold_lines(found["lines"], of_side, (what, color))
            hold_groups(answer["years"], "year", seen, lambda game: game[0].year, what)
            for ending in answer["endings"]:
                reached = [game for game in seen if ending["kind"] in game[0].endings]
                hold(ending, reached, (what, ending["kind"]))
            kinds = set().union(*(game[0].endings for game in seen))
            assert sorted(ending["kind"] for ending in answer["endings"]) == sorted(kinds), (what, kinds)
            order = [ending["games"] for ending in answer["endings"]]
            assert order == sorted(order, reverse=True), what
            rated = lambda game: game[1][2] and game[1][2] // 100 * 100
            hold_groups(answer["opponent_ratings"], "from", seen, rated, what)
            hold_groups(answer["opponents"], "name", seen, lambda game: game[1][4], what)
            wins = [game for game in seen if game[1][3] == 2 and game[1][2]]
            wins.sort(key=lambda game: (game[1][2], game[0].date), reverse=True)
            # Ids are not compared: python-chess finds games in some texts without games.
            found = [(win["opponent_rating"], win["date"] or "") for win in answer["best_wins"]]
            assert found == [(game[1][2], game[0].date) for game in wins], what
            record_count, total = record_count + 1, total + len(seen)
    print(record_count, "records,", total, "games")


main()
