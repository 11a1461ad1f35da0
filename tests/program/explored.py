"""Asks `pgndex explore` for the moves of players with one side, and for the moves played from positions of any game,
and compares the answers with reading all games with python-chess: results, ratings, performances, transpositions,
years, and trees.

Usage: explored.py PGNDEX DATABASE PGN SEED PLAYERS POSITIONS. Prints the number of questions and of games in the
answers.
"""

import collections
import json
import random
import subprocess
import sys

import chess

# Imported modules of this directory leave no `.pyc` files.
sys.dont_write_bytecode = True
from games import read_games
from rating import hold_performance, mean, rating

# The maximum length of lines and depth of trees.
LINE = 12
DEPTH = 3
SHARE = 10


class Game:
    """The data of one game."""

    def __init__(self, game):
        headers = game.headers
        self.names = headers.get("White", "?"), headers.get("Black", "?")
        self.ratings = rating(headers.get("WhiteElo", "")), rating(headers.get("BlackElo", ""))
        self.result = headers.get("Result", "*")
        year = headers.get("Date", "")[:4]
        self.year = int(year) if year.isdigit() and int(year) else None
        board = game.board()
        # The last move made from each position; `None` if there is none.
        self.played = {}
        self.line = []
        for move in game.mainline_moves():
            self.played[board.epd()] = move
            self.line.append((board.epd(), move))
            board.push(move)
        self.played.setdefault(board.epd())
        self.is_standard = game.board().epd() == chess.Board().epd()

    def points(self, side):
        """In half points; `None` without a result."""
        white = {"1-0": 2, "0-1": 0, "1/2-1/2": 1}.get(self.result)
        return white if white is None or side == 0 else 2 - white


def results(games):
    return [[game.result for game in games].count(result) for result in ("1-0", "1/2-1/2", "0-1")]


def of(answer):
    return [answer["white"], answer["draws"], answer["black"]]


def hold(found, games, side, what):
    """Compares counts, ratings and performance with those of some games with a result."""
    assert of(found) == results(games), (what, of(found), results(games))
    if side is None:
        return
    rated = [(game.ratings[1 - side], game.points(side)) for game in games if game.ratings[1 - side]]
    assert found["color"] == ["white", "black"][side], what
    assert found["averageOpponentRating"] == mean([rating for rating, _ in rated]), what
    hold_performance(found["performance"], rated, what)


def by_move(games, epd):
    """Games with a result, by the move that they last played from a position."""
    moves = collections.defaultdict(list)
    for game in games:
        if game.points(0) is not None and game.played.get(epd):
            moves[game.played[epd]].append(game)
    return moves


def hold_moves(found, board, games, side, what):
    moves = by_move(games, board.epd())
    assert sorted(played["uci"] for played in found) == sorted(move.uci() for move in moves), what
    for played in found:
        games = moves[chess.Move.from_uci(played["uci"])]
        hold(played, games, side, (what, played["uci"]))
        expected = mean([rating for game in games if (rating := game.ratings[board.turn == chess.BLACK])])
        assert played["averageRating"] == expected, (what, played["uci"], played["averageRating"], expected)


def hold_history(found, board, games, what):
    reached = [game for game in games if board.epd() in game.played]
    years = {game.year for game in reached}
    known = [year for year in years if year]
    all_of = collections.Counter(game.year for game in games)
    expected = [year for year in sorted(filter(None, all_of)) if known and min(known) <= year <= max(known)]
    expected += [None] if None in years else []
    assert [year["year"] for year in found] == expected, (what, expected)
    totals = collections.Counter()
    for year in found:
        of_year = [game for game in reached if game.year == year["year"]]
        assert of(year) == results(of_year), (what, year)
        assert year["gamesOfYear"] == all_of[year["year"]], (what, year)
        moves = by_move(of_year, board.epd())
        for played in year["moves"]:
            assert played["games"] == len(moves[chess.Move.from_uci(played["uci"])]), (what, year)
            totals[played["uci"]] += played["games"]
    most = sorted((len(games) for games in by_move(reached, board.epd()).values()), reverse=True)[:4]
    assert sorted(totals.values(), reverse=True) == most, (what, totals, most)


def hold_tree(found, board, games, fewest, side, depth, seen, what):
    """Compares the moves of a position in a tree. Returns the number of moves in the tree."""
    moves = {move: games for move, games in by_move(games, board.epd()).items() if len(games) >= fewest}
    assert sorted(node["uci"] for node in found) == sorted(move.uci() for move in moves), (what, board.epd())
    count = 0
    for node in found:
        count += 1
        move = chess.Move.from_uci(node["uci"])
        assert node["san"] == board.san(move), what
        hold(node, moves[move], side, (what, board.epd(), node["uci"]))
        before = [game for game in games if board.epd() in game.played and game.points(0) is not None]
        assert node["gamesBefore"] == len(before), what
        board.push(move)
        if "sameAs" in node:
            assert node["moves"] == [], what
            seen["listed elsewhere"].append((board.epd(), node["sameAs"]))
        else:
            assert board.epd() not in seen["listed"], (what, board.epd())
            seen["listed"][board.epd()] = depth
            if depth < DEPTH:
                count += hold_tree(node["moves"], board, games, fewest, side, depth + 1, seen, what)
            else:
                assert node["moves"] == [], what
        board.pop()
    return count


def main():
    program, database, pgn, seed, count, positions = sys.argv[1:]
    games = [Game(game) for game in read_games(pgn)]
    often = collections.Counter(name for game in games for name in set(game.names) if name.strip("?"))
    chance = random.Random(int(seed))
    names = [name for name, _ in often.most_common(int(count))]
    answer_count = total = otherwise = 0

    def explore(arguments):
        command = [program, "explore", database, *arguments, "--format", "json"]
        return json.loads(subprocess.run(command, check=True, capture_output=True).stdout.decode())

    for name in [*names, None]:
        for side, color in enumerate(["white", "black"]):
            chosen = [game for game in games if name is None or game.names[side] == name]
            of_player = ["--player", "=" + name] if name else []
            with_line = [game for game in chosen if game.is_standard and len(game.line) > LINE]
            for game in chance.sample(with_line, min(3, len(with_line))):
                length = chance.randint(0, LINE)
                line = game.line[:length]
                board = chess.Board()
                for _, move in line:
                    board.push(move)
                play = ["--play", ",".join(move.uci() for _, move in line)] if line else []
                what = (name, color, play)
                reached = [game for game in chosen if board.epd() in game.played]
                finished = [game for game in reached if game.points(side) is not None]
                answer = explore([*play, *of_player, "--side", color, "--history"])
                hold(answer, finished, side, what)
                assert answer["unfinished"] == len(reached) - len(finished), what
                hold_moves(answer["moves"], board, reached, side, what)
                before = [epd for epd, _ in line[1:]]
                if before:
                    other = [game for game in finished if not all(epd in game.played for epd in before)]
                    assert answer["transposed"] == len(other), (what, answer["transposed"], len(other))
                    otherwise += len(other)
                else:
                    assert "transposed" not in answer, what
                hold_history(answer["history"], board, [game for game in chosen if game.points(0) is not None], what)
                answer_count, total = answer_count + 1, total + len(finished)
            tree = explore([*of_player, "--side", color, "--depth", str(DEPTH), "--least-share", str(SHARE)])
            finished = [game for game in chosen if game.points(0) is not None]
            root = [game for game in finished if chess.Board().epd() in game.played]
            hold(tree, root, side, (name, "tree"))
            fewest = max(1, -(-SHARE * len(root) // 100))
            seen = {"listed": {chess.Board().epd(): 0}, "listed elsewhere": []}
            hold_tree(tree["moves"], chess.Board(), finished, fewest, side, 1, seen, (name, color, "tree"))
            for epd, line in seen["listed elsewhere"]:
                board = chess.Board()
                for word in line.replace(".", " ").split():
                    if not word.isdigit():
                        board.push_san(word)
                assert board.epd() == epd and epd in seen["listed"], (name, line)
            answer_count += 1
    by_epd = collections.defaultdict(list)
    for game in games:
        for epd in game.played:
            by_epd[epd].append(game)
    # Many games repeat a position near their end.
    endings = [epd for game in games for epd in list(game.played)[-4:]]
    any_positions = chance.sample(sorted(by_epd), int(positions) // 2)
    for epd in any_positions + chance.sample(endings, min(len(endings), int(positions) - len(any_positions))):
        answer = explore(["--fen", epd])
        finished = [game for game in by_epd[epd] if game.points(0) is not None]
        hold(answer, finished, None, epd)
        hold_moves(answer["moves"], chess.Board(epd + " 0 1"), finished, None, epd)
        answer_count, total = answer_count + 1, total + len(finished)
    print(answer_count, "answers,", total, "games,", otherwise, "by other moves")


main()
