"""Compares the answers of `pgndex repertoire` with reading all games with python-chess.

Usage: repertoire.py PGNDEX DATABASE PGN SIDE REPERTOIRE [FILTER VALUE]. SIDE is white, black or tagged: by the tag
Orientation. FILTER is --white, --black or --since, the value a whole name or a year. Prints how many lines and
departures agree.
"""

import collections
import json
import subprocess
import sys

import chess

# Imported modules of this directory leave no `.pyc` files.
sys.dont_write_bytecode = True
from games import read_games

GAMES, LEAST_PLIES = 40, 5
COLORS = {"white": chess.WHITE, "black": chess.BLACK}


class Node:
    def __init__(self, board, parent, move, ply, chapter):
        self.board, self.parent, self.move, self.ply, self.chapter = board, parent, move, ply, chapter
        self.children = {}

    def line(self):
        return [] if self.parent is None else self.parent.line() + [self]

    def text(self):
        """The moves that lead to the node."""
        words = []
        for node in self.line():
            before = node.parent.board
            if before.turn == chess.WHITE:
                words.append("%d." % before.fullmove_number)
            elif not words:
                words.append("%d..." % before.fullmove_number)
            words.append(before.san(node.move))
        return " ".join(words)


class Place:
    def __init__(self, node):
        self.node, self.moves, self.score = node, [], collections.Counter()
        self.played = collections.defaultdict(collections.Counter)


def read_book(path, side):
    """The roots of the trees of each side."""
    roots = {chess.WHITE: {}, chess.BLACK: {}}
    names = []
    for number, game in enumerate(read_games(path), 1):
        color = COLORS[game.headers["Orientation"] if side == "tagged" else side]
        event, *players = (game.headers.get(tag, "?") for tag in ("Event", "White", "Black"))
        names.append(event if event != "?" else " – ".join(name for name in players if name != "?") or None)
        board = game.board()
        root = roots[color].setdefault(board.fen(), Node(board, None, None, 0, number))
        pending = [(game, root)]
        while pending:
            read, node = pending.pop()
            for variation in read.variations:
                if variation.move not in node.children:
                    after = node.board.copy(stack=False)
                    after.push(variation.move)
                    node.children[variation.move] = Node(after, node, variation.move, node.ply + 1, number)
                pending.append((variation, node.children[variation.move]))
    return roots, names


def key(board):
    return board._transposition_key()


def walk(roots):
    """All nodes; each line to its end before the next."""
    pending = list(reversed(list(roots.values())))
    while pending:
        node = pending.pop()
        yield node
        pending.extend(reversed(list(node.children.values())))


def score(games, color):
    """The score of a counter of results from the view of a side."""
    white, black = games["1-0"], games["0-1"]
    wins, losses = (white, black) if color == chess.WHITE else (black, white)
    return {"games": sum(games.values()), "wins": wins, "draws": games["1/2-1/2"], "losses": losses}


def expected(roots, color, names, games):
    places, nodes = {}, list(walk(roots))
    for node in nodes:
        place = places.setdefault(key(node.board), Place(node))
        place.moves += [move for move in node.children if move not in place.moves]
    followed = []
    for number, (day, result, positions) in games:
        last = {}
        for position, move in positions:
            if position in places:
                last[position] = move or last.get(position)
        for position, move in last.items():
            places[position].score[result] += 1
            if move:
                places[position].played[move][result] += 1
        order = list(places)
        deep = [position for position in last if places[position].node.ply >= LEAST_PLIES]
        if deep:
            deepest = min(deep, key=lambda position: (-places[position].node.ply, order.index(position)))
            followed.append((day, number, places[deepest], last[deepest]))
    letter = "w" if color == chess.WHITE else "b"
    made = lambda node, move, count: {
        "move_number": node.board.fullmove_number,
        "side": "w" if node.board.turn else "b",
        "san": node.board.san(move),
        "uci": node.board.uci(move),
        "games": count,
    }
    count = lambda place, move: sum(place.played[move].values()) if move in place.played else 0

    def leaving(place):
        found = []
        for move in place.played if place.moves else []:
            after = place.node.board.copy(stack=False)
            after.push(move)
            if move not in place.moves and key(after) not in places:
                found.append(move)
        return sorted(found, key=lambda move: (-count(place, move), place.node.board.uci(move)))

    leaves = {id(place): leaving(place) for place in places.values()}
    lines = []
    for node in nodes:
        if node.children or node.parent is None:
            continue
        moves, left, reached = [], None, 0
        start = node.line()[0].parent.board.fen()
        for step in node.line():
            place = places[key(step.parent.board)]
            moves.append(made(step.parent, step.move, count(place, step.move)))
            if moves[-1]["games"]:
                reached = step.ply
            if step.parent.board.turn != color and leaves[id(place)]:
                move = leaves[id(place)][0]
                left = made(step.parent, move, count(place, move))
        lines.append({
            "chapter": node.chapter,
            "name": names[node.chapter - 1],
            "start_fen": None if start == chess.STARTING_FEN else start,
            "moves": moves,
            **score(places[key(node.board)].score, color),
            "followed": reached,
            "is_open": node.board.turn == color,
            "left_by": left,
        })
    departures = []
    for place in places.values():
        board = place.node.board
        for move in leaves[id(place)]:
            departures.append({
                "after": place.node.text(),
                "move_number": board.fullmove_number,
                "side": "w" if board.turn else "b",
                "fen": board.fen(en_passant="legal"),
                "san": board.san(move),
                "uci": board.uci(move),
                **score(place.played[move], color),
                "reached": sum(place.score.values()),
                "expected": [board.san(move) for move in place.moves],
                "ply": place.node.ply,
            })
    departures.sort(key=lambda departure: (-departure["games"], departure.pop("ply")))
    own = [departure for departure in departures if departure["side"] == letter]
    others = [departure for departure in departures if departure["side"] != letter]
    followed.sort(key=lambda found: found[:2], reverse=True)
    return {
        "side": letter,
        "positions": len(places),
        "lines": lines,
        "unanswered": others,
        "unanswered_count": len(others),
        "departures": own,
        "departure_count": len(own),
        "games": [
            {
                "game_id": number,
                "followed": place.node.text(),
                "next": move and place.node.board.san(move),
                "is_end": not place.moves,
            }
            for _, number, place, move in followed[:GAMES]
        ],
        "more_games": len(followed) > GAMES,
    }


def main():
    program, database, pgn, side, repertoire, *given = sys.argv[1:]
    games = []
    for number, game in enumerate(read_games(pgn), 1):
        headers, board = game.headers, game.board()
        day = tuple(int(part) if part.isdigit() else 0 for part in headers.get("Date", "?").split("."))
        if given[:1] == ["--since"] and day[0] < int(given[1]):
            continue
        if given[:1] in (["--white"], ["--black"]) and headers[given[0][2:].title()] != given[1].lstrip("="):
            continue
        positions = []
        for move in game.mainline_moves():
            positions.append((key(board), move))
            board.push(move)
        positions.append((key(board), None))
        games.append((number, (day, headers["Result"], positions)))
    assert games, given
    roots, names = read_book(repertoire, side)
    side_option = [] if side == "tagged" else ["--side", side]
    command = [program, "repertoire", database, repertoire, *side_option, *given, "--format", "json"]
    command += ["--least-games", "1", "--least-share", "0", "--games", str(GAMES), "--least-plies", str(LEAST_PLIES)]
    answers = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    sides = [color for color in (chess.WHITE, chess.BLACK) if roots[color]]
    assert len(answers) == len(sides), (len(answers), sides)
    lines = departures = 0
    for color, answer in zip(sides, answers):
        assert answer.pop("is_side_given") is True
        truth = expected(roots[color], color, names, games)
        for game in answer["games"]:
            for name in ("date", "white", "white_elo", "black", "black_elo", "result", "event"):
                game.pop(name)
        for name in truth:
            for found, wanted in zip(answer[name], truth[name]) if isinstance(truth[name], list) else []:
                assert found == wanted, (name, found, wanted)
            assert answer[name] == truth[name], name
        assert answer.keys() == truth.keys()
        lines += sum(line["games"] > 0 for line in answer["lines"])
        departures += len(answer["unanswered"]) + len(answer["departures"])
    print("%d lines with games, %d departures" % (lines, departures))


main()
