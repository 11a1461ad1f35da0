"""Searches for positions by description with `pgndex find`, and compares the hits with reading every game with
python-chess.

Usage: described.py PGNDEX DATABASE PGN SEED COUNT. Prints the number of searches and of games found.

The descriptions are made from positions of the games, so that something matches. If colours or sides are exchanged,
the script transforms the positions, not the descriptions.
"""

import csv
import io
import random
import subprocess
import sys

import chess
import chess.pgn

LETTERS = "PNBRQKpnbrqk"
OFFICERS = "QRBN"


class Move:
    """The properties of a move."""

    def __init__(self, board, move):
        self.castling = None
        if board.is_castling(move):
            self.castling = "O-O" if board.is_kingside_castling(move) else "O-O-O"
        self.piece = board.piece_at(move.from_square).symbol().upper()
        self.start, self.end = move.from_square, move.to_square
        taken = board.piece_at(move.to_square)
        self.taken = taken.symbol().upper() if taken and not self.castling else "P" if board.is_en_passant(move) else None
        self.becomes = chess.piece_symbol(move.promotion).upper() if move.promotion else None
        board.push(move)
        self.check, self.mate = board.is_check(), board.is_checkmate()
        board.pop()

    def turned(self, squares, sides):
        other = object.__new__(Move)
        other.__dict__.update(self.__dict__)
        other.start, other.end = squares(self.start), squares(self.end)
        if sides and self.castling:
            other.castling = "O-O" if self.castling == "O-O-O" else "O-O-O"
        return other


class Position:
    """The squares a1, b1 ... h8, the side to move, and the move played."""

    def __init__(self, squares, turn, move):
        self.squares, self.turn, self.move = squares, turn, move
        self.counts = {letter: squares.count(letter) for letter in LETTERS}
        self.ways = {}

    def turned(self, way):
        """Transformed by `way`: colours reversed, left and right exchanged."""
        if way == (False, False):
            return self
        if way not in self.ways:
            reverse, mirror = way
            place = (56 if reverse else 0) ^ (7 if mirror else 0)
            squares = "".join(self.squares[square ^ place] for square in range(64))
            move = self.move and self.move.turned(lambda square: square ^ place, mirror)
            turn = self.turn != reverse
            self.ways[way] = Position(squares.swapcase() if reverse else squares, turn, move)
        return self.ways[way]


def read_games(path):
    games = []
    with open(path, encoding="utf-8", errors="replace") as text:
        while game := chess.pgn.read_game(text):
            assert not game.errors, game.errors
            board = game.board()
            positions = []
            for move in [*game.mainline_moves(), None]:
                squares = "".join(piece.symbol() if (piece := board.piece_at(square)) else "." for square in range(64))
                positions.append(Position(squares, board.turn, move and Move(board, move)))
                if move:
                    board.push(move)
            games.append(positions)
    return games


def placement(squares, sign=lambda square, letter: letter):
    """The placement with one sign per square."""
    ranks = ("".join(sign(rank * 8 + file, squares[rank * 8 + file]) for file in range(8)) for rank in range(7, -1, -1))
    return "/".join(ranks)


def pattern(position, chance):
    """A pattern that matches the position, and a test for it."""
    signs = {}
    for square, letter in enumerate(position.squares):
        signs[square] = chance.choice([letter, "?", "?", "?", "?", "?", "?", "!" if letter != "." else "."])
        if letter != "." and chance.random() < 0.1:
            signs[square] = "A" if letter.isupper() else "a"
        if chance.random() < 0.03:
            signs[square] = f"[{letter}{chance.choice('QqPp.')}]"
        if chance.random() < 0.03:
            signs[square] = "[^" + chance.choice([other for other in LETTERS if other != letter]) + "]"
    ranks = []
    for rank in range(7, -1, -1):
        own = [signs[rank * 8 + file] for file in range(8)]
        kind = chance.random()
        if kind < 0.3:
            ranks.append(("*", None))
        elif kind < 0.5:
            letter = position.squares[rank * 8 + chance.randrange(8)]
            ranks.append((f"*{letter}*", letter))
        else:
            ranks.append(("".join(own), own))
    side = chance.choice([None, None, position.turn])

    def has(sign, letter):
        if sign.startswith("[^"):
            return not has(f"[{sign[2:-1]}]", letter)
        if sign.startswith("["):
            return any(has(one, letter) for one in sign[1:-1])
        if sign in "?!":
            return sign == "?" or letter != "."
        if sign in "Aa":
            return letter.isupper() if sign == "A" else letter.islower()
        return sign == letter

    def fits(other):
        for rank, (_, wanted) in zip(range(7, -1, -1), ranks):
            there = other.squares[rank * 8 : rank * 8 + 8]
            if isinstance(wanted, str) and wanted not in there:
                return False
            if isinstance(wanted, list) and not all(map(has, wanted, there)):
                return False
        return side is None or other.turn == side

    text = "/".join(text for text, _ in ranks)
    return text + ("" if side is None else " w" if side else " b"), fits


def material(position, chance):
    least, most, texts = {}, {}, []
    for letters in (LETTERS[:6], LETTERS[6:]):
        text = "K"
        is_open = chance.random() < 0.3
        for letter in letters[:5]:
            low = high = position.counts[letter]
            sign = chance.choice(["", "", "*", "?"] + ["+"] * (low > 0))
            # '+' after a letter stands for at least one piece, so one letter fewer is written before it.
            text += letter.upper() * (low - (sign == "+"))
            if sign:
                text += letter.upper() + sign
                high += 1 if sign == "?" else 99
            least[letter], most[letter] = low, 99 if is_open else high
        texts.append(text + (".." if is_open else ""))

    def fits(other):
        return all(least[letter] <= other.counts[letter] <= most[letter] for letter in least)

    return "v".join(texts), fits


def structure(position, chance):
    pawns = [letter if letter in "Pp" else "." for letter in position.squares]

    def fits(other):
        return all((letter if letter in "Pp" else ".") == pawn for letter, pawn in zip(other.squares, pawns))

    # Other pieces do not matter.
    text = placement(position.squares, lambda _, letter: "1" if letter == "." or letter not in "Pp" and chance.random() < 0.5 else letter)
    return text, fits


def sides(position):
    """The pieces of both sides besides kings and pawns."""
    counts = position.counts
    return ["".join(letter * counts[letter] for letter in OFFICERS), "".join(letter * counts[letter.lower()] for letter in OFFICERS)]


def bishop_colors(position):
    return {(square // 8 + square % 8) % 2 for square, letter in enumerate(position.squares) if letter in "Bb"}


def only(letter):
    return lambda side: set(side) == {letter}


def is_pair(position, one, other):
    white, black = sides(position)
    return one(white) and other(black) or one(black) and other(white)


ENDINGS = {
    "pawn": lambda p: sides(p) == ["", ""] and p.counts["P"] + p.counts["p"] > 0,
    "knight": lambda p: is_pair(p, only("N"), only("N")),
    "bishop": lambda p: is_pair(p, only("B"), only("B")),
    "same-bishops": lambda p: sides(p) == ["B", "B"] and len(bishop_colors(p)) == 1,
    "opposite-bishops": lambda p: sides(p) == ["B", "B"] and len(bishop_colors(p)) == 2,
    "bishop-knight": lambda p: is_pair(p, only("B"), only("N")),
    "minor": lambda p: all(side and set(side) <= set("BN") for side in sides(p)),
    "rook": lambda p: is_pair(p, only("R"), only("R")),
    "rook-minor": lambda p: is_pair(p, lambda side: side == "R", lambda side: side in ("B", "N")),
    "queen": lambda p: is_pair(p, only("Q"), only("Q")),
    "queen-rook": lambda p: is_pair(p, lambda side: side == "Q", lambda side: side in ("R", "RR")),
}


def ending(position, chance):
    kinds = [kind for kind, fits in ENDINGS.items() if fits(position)] or list(ENDINGS)
    kind = chance.choice(kinds)
    return kind, ENDINGS[kind]


def played(position, chance):
    """A pattern that matches the move, and a test for it."""
    move = position.move
    if move is None:
        return "+", lambda other: other.move is not None and other.move.check
    sign = chance.choice(["", "+", "#"]) if move.mate else chance.choice(["", "", "+"]) if move.check else ""
    gives = {"": lambda other: True, "+": lambda other: other.check, "#": lambda other: other.mate}[sign]
    if move.castling:
        return move.castling + sign, lambda other: bool(other.move and other.move.castling == move.castling and gives(other.move))
    tests = [gives, lambda other: not other.castling]
    if chance.random() < 0.2:
        text = "?"
    else:
        text = "" if move.piece == "P" and chance.random() < 0.5 else move.piece
        tests.append(lambda other: other.piece == move.piece)

    def squares(square, exact):
        """A square, its file, its rank or nothing, and a test for it."""
        name = chess.square_name(square)
        kind = "square" if exact else chance.choice(["square", "file", "rank", "none"])
        own = {"square": square, "file": square % 8, "rank": square // 8, "none": None}[kind]
        seen = {"square": lambda s: s, "file": lambda s: s % 8, "rank": lambda s: s // 8, "none": lambda s: None}[kind]
        return {"square": name, "file": name[0], "rank": name[1], "none": ""}[kind], lambda s: seen(s) == own

    takes = move.taken is not None and chance.random() < 0.7
    asks_start = chance.random() < 0.3
    if asks_start:
        start, starts = squares(move.start, False)
        text += start
        tests.append(lambda other: starts(other.start))
    if takes:
        text += "x"
        tests.append(lambda other: other.taken is not None)
        if chance.random() < 0.3:
            text += move.taken
            tests.append(lambda other: other.taken == move.taken)
    end, ends = squares(move.end, asks_start and not takes)
    text += end
    tests.append(lambda other: ends(other.end))
    if move.becomes and chance.random() < 0.7:
        letters = chance.choice(["", move.becomes, move.becomes + "N"])
        text += "=" + letters
        tests.append(lambda other: other.becomes is not None and (not letters or other.becomes in letters))
    if not text + sign:
        return "?", lambda other: other.move is not None and not other.move.castling
    if not text:
        # A sign alone matches any move; nothing else says that the piece is a pawn.
        tests = [gives]
    return text + sign, lambda other: other.move is not None and all(test(other.move) for test in tests)


KINDS = {"--pattern": pattern, "--material": material, "--structure": structure, "--ending": ending, "--move": played}


class Question:
    def __init__(self, games, chance):
        game = chance.choice(games)
        count = chance.choice([1, 1, 1, 2, 2, 3])
        places = sorted(chance.randrange(len(game)) for _ in range(count))
        self.options, self.steps = [], []
        for place in places:
            if self.steps:
                self.options.append("--then")
            tests = []
            for option in chance.sample(list(KINDS), chance.choice([1, 1, 1, 2, 3])):
                text, fits = KINDS[option](game[place], chance)
                self.options.append(f"{option}={text}")
                tests.append(fits)
            lasting, first, last = 1, 0, 1 << 32
            if chance.random() < 0.3 and not any(option.startswith("--move") for option in self.options):
                lasting = chance.choice([1, 2, 4, 10])
                self.options.append(f"--for={lasting}")
            if chance.random() < 0.3:
                first, last = max(0, place - chance.randrange(20)), place + chance.randrange(20)
                form = chance.choice(["both", "first", "last"])
                first, last = 0 if form == "last" else first, 1 << 32 if form == "first" else last
                text = {"both": f"{first}-{last}", "first": f"{first}-", "last": f"-{last}"}[form]
                self.options.append(f"--ply={text}")
            self.steps.append((tests, lasting, first, last))
        self.ways = [(False, False)]
        for option, index in (("--either", 0), ("--mirror", 1)):
            if chance.random() < 0.3:
                self.options.append(option)
                self.ways += [tuple(True if at == index else is_turned for at, is_turned in enumerate(way)) for way in self.ways]

    def place(self, game):
        """The ply at which the last step begins in the game, once all steps have occurred."""
        states = [[0, 0, 0] for _ in self.ways]
        for ply, position in enumerate(game):
            for state, way in zip(states, self.ways):
                tests, lasting, first, last = self.steps[state[0]]
                if first <= ply <= last and all(fits(position.turned(way)) for fits in tests):
                    if state[1] == 0:
                        state[2] = ply
                    state[1] += 1
                    if state[1] >= lasting:
                        state[0], state[1] = state[0] + 1, 0
                        if state[0] == len(self.steps):
                            return state[2]
                else:
                    state[1] = 0
        return None


def main():
    program, database, pgn, seed, count = sys.argv[1:]
    games = read_games(pgn)
    chance = random.Random(int(seed))
    found = 0
    for _ in range(int(count)):
        question = Question(games, chance)
        command = [program, "find", database, "--limit=0", "--format=csv", *question.options]
        answer = subprocess.run(command, capture_output=True, text=True, check=False)
        assert answer.returncode == 0, (question.options, answer.stderr)
        rows = list(csv.DictReader(io.StringIO(answer.stdout)))
        answered = [(int(row["game_id"]), int(row["ply"])) for row in rows]
        places = [(number, place) for number, game in enumerate(games, 1) if (place := question.place(game)) is not None]
        assert answered == places, (question.options, sorted(set(answered) ^ set(places))[:10])
        found += len(places)
    print(f"{count} questions, {found} games")


main()
