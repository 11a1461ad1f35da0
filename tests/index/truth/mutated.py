"""Compares what pgndex makes of damaged PGN with what python-chess makes of it.

Each line of standard input is a mutant as a JSON object: its "text" (a byte is a character of Latin-1), and our
"games" and "problems". Two readings are the same if there are the same games, with the same positions after each ply,
the same result, and something lost or nothing.

A difference is explained by rules. A rule knows one thing that the two read differently on purpose. It looks for the
places where that is so, and checks that it is; it then writes these places in such a way that python-chess cannot but
read them as we do. The mutant's class is the fewest rules with which python-chess reads the rewritten text exactly as
we read the mutant.
"""

import io
import itertools
import json
import re
import sys

import chess
import chess.pgn


class Reading(chess.pgn.BaseVisitor):
    """The main line of a game: its positions, its result, whether something was wrong."""

    def begin_game(self):
        self.fens = []
        self.error = False
        self.token = "*"
        self.moved = True

    def begin_headers(self):
        self.headers = chess.pgn.Headers({})
        return self.headers

    def visit_header(self, name, value):
        self.headers[name] = value

    def begin_variation(self):
        return chess.pgn.SKIP

    def visit_move(self, board, move):
        self.moved = True

    def visit_board(self, board):
        if self.moved:
            self.fens.append(board.fen(en_passant="legal").rpartition(" ")[0])
        self.moved = False

    def visit_result(self, token):
        if self.token == "*":
            self.token = token

    def handle_error(self, error):
        self.error = True

    def result(self):
        tag = self.headers.get("Result", "*")
        result = tag if tag in ("1-0", "0-1", "1/2-1/2") else self.token
        return self.fens, result, self.error


def read(text):
    """What python-chess makes of a text: its games."""
    file = io.TextIOWrapper(io.BytesIO(text.encode("latin-1")), encoding="latin-1")
    games = []
    while (game := chess.pgn.read_game(file, Visitor=Reading)) is not None:
        games.append(game)
    return games


# A move that no position allows: what stands here is an error.
ILLEGAL = "Ke1e1"
HALF = "\u00bd".encode("utf-8").decode("latin-1")
RESULT = re.compile(rf"(1-0|0-1|1/2-1/2|1/2|{HALF}-{HALF}|\*)\Z")
SAN = re.compile(
    chess.SAN_REGEX.pattern.replace(r"\Z", r"[+#!?=-]*\Z")
    + r"|^(O-O|O-O-O|0-0|0-0-0|--|Z0|0000|@@@@)[+#!?]*\Z"
)
CASTLING = re.compile(r"(?<!\w)(?<!\w-)([Oo0])-?\1(-?\1)?-?(?![\w-])")
LINE_END = r"(?:\r\n|\r|\n)"
TAG = re.compile(r"\[\s*\w+\s*\"")


class Mutant:
    """A damaged text and what we make of it."""

    def __init__(self, line):
        mutant = json.loads(line)
        self.text = mutant["text"]
        self.games = mutant["games"]
        self.problems = mutant["problems"]
        self.ours = [(game["fens"], game["result"], game["status"] != "ok") for game in self.games]

    def of_kind(self, *kinds):
        """The problems of some kinds, each with its game (if it is in one) and the word it tells of."""
        for problem in self.problems:
            if problem["kind"] in kinds:
                at = problem["at"]
                game = next((game for game in self.games if game["start"] <= at < game["end"]), None)
                word = problem["token"] or ""
                if not self.text.startswith(word, at):
                    word = word.encode("utf-8").decode("latin-1")
                yield problem, game, at, word

    def lost(self, at, game):
        """The edit that ends a game with an error at a place, but for the result."""
        rest = strip_comments(self.text[at : game["end"]])
        result = RESULT.search(rest) if is_closed(rest) else None
        word = re.sub(f"^1/2$|{HALF}-{HALF}", "1/2-1/2", result[0]) if result else ""
        return at, game["end"], f" {word} {ILLEGAL} "


def strip_comments(text):
    """The text without the comments that are closed."""
    return re.sub(r"\{[^}]*\}|;[^\r\n]*", "", text)


def is_closed(text):
    """Whether no comment is left open in a text without comments, and no variation."""
    return "{" not in text and text.count("(") <= text.count(")")


def board(game, ply):
    return chess.Board(game["fens"][ply] + " 1")


def is_legal(board, word):
    try:
        board.parse_san(word if word == "--" else word.rstrip("!?=-"))
    except ValueError:
        return False
    return True


def unreadable(mutant):
    """A word that seems to be meant as a move and is none ends the game: to guess or to pass over it would be to play
    the rest from a position that never was. python-chess plays what looks like a move within it, or passes over it in
    silence."""
    for _, game, at, word in mutant.of_kind("unreadable-move"):
        if mutant.text.startswith(word, at) and (not SAN.match(word) or word.startswith("x")):
            yield mutant.lost(at, game)


def after_an_error(mutant):
    """Nothing behind an illegal move is played, but the result is read. python-chess passes over the result, and goes
    on behind a `)` that closes nothing, in the position before."""
    for problem, game, at, word in mutant.of_kind("illegal-move", "ambiguous-move"):
        if not is_legal(board(game, problem["ply"]), word):
            yield mutant.lost(at, game)


def null_in_check(mutant):
    """A null move in check is illegal. python-chess makes it."""
    for problem, game, at, word in mutant.of_kind("illegal-move"):
        if word in ("--", "Z0", "0000", "@@@@") and board(game, problem["ply"]).is_check():
            yield mutant.lost(at, game)


def unclosed_comment(mutant):
    """What follows a `{` that is not closed is lost, up to the next game, and this is an error. python-chess says
    nothing and loses the next game too."""
    for _, game, at, _ in mutant.of_kind("unclosed-comment"):
        if mutant.text[at] == "{" and "}" not in mutant.text[at : game["end"]]:
            yield at, game["end"], f" {ILLEGAL} "


def unclosed_variation(mutant):
    """What follows a `(` or `[` that is not closed is lost, and this is an error. python-chess says nothing, or ignores the `[`."""
    for _, game, at, _ in mutant.of_kind("unclosed-variation"):
        rest = strip_comments(mutant.text[at : game["end"]])
        if mutant.text[at] == "(" and not is_closed(rest) or mutant.text[at] == "[" and "]" not in rest:
            yield at, game["end"], f" {ILLEGAL} "


def blank_line(mutant):
    """A blank line within a game means nothing. python-chess ends the game at it, or at the second one among the
    tags."""
    for game in mutant.games:
        text = mutant.text[game["start"] : game["end"]]
        for blank in re.finditer(rf"{LINE_END}(?:[ \t]*{LINE_END})+", text):
            yield game["start"] + blank.start(), game["start"] + blank.end(), "\n"


def result_ends_game(mutant):
    """A result ends the game, wherever it stands. python-chess plays on."""
    for game, following in itertools.zip_longest(mutant.games, mutant.games[1:]):
        end = following["start"] if following else len(mutant.text)
        if RESULT.search(mutant.text[: game["end"]]) and mutant.text[game["end"] : end].strip():
            yield game["end"], game["end"], "\n\n"
        elif following and RESULT.search(mutant.text[: game["end"]]):
            yield game["end"], game["end"], "\n\n"


def tags_begin_game(mutant):
    """A tag pair after moves begins another game, indented or not, with or without a blank line. For python-chess a
    blank line must stand before it and nothing else in its line."""
    for game in mutant.games:
        if TAG.match(mutant.text, game["start"]):
            yield game["start"], game["start"], "\n\n"


def outside_text(mutant):
    """Text that belongs to no game makes none; we tell of it. python-chess makes a game of it."""
    for _, game, at, _ in mutant.of_kind("outside-text"):
        if game is None:
            yield at, min([game["start"] for game in mutant.games if game["start"] > at], default=len(mutant.text)), ""


def only_signs(mutant):
    """A result, numbers and signs that stand alone after a game make none. python-chess makes a game of them."""
    for game, following in itertools.zip_longest(mutant.games, mutant.games[1:]):
        end = following["start"] if following else len(mutant.text)
        if re.fullmatch(rf"[\s\d/.$*#+{HALF}-]*", mutant.text[game["end"] : end]):
            yield game["end"], end, "\n\n"


def damaged_tag(mutant):
    """A line among the tags that was a tag pair once is passed over. For python-chess the moves begin with it, unless
    it begins with `[`."""
    for _, _, at, _ in mutant.of_kind("invalid-tag"):
        line = re.compile(rf"[^\r\n]*{LINE_END}?").match(mutant.text, at)
        if not chess.pgn.TAG_REGEX.match(line[0]):
            yield at, line.end(), ""


def unknown_word(mutant):
    """A word that names no square is no move and is passed over. python-chess looks into it."""
    for _, _, at, word in mutant.of_kind("unknown-token"):
        if not re.search("[a-h][1-8]", word) and not SAN.match(word):
            yield at, at + len(word), ""


def glued(mutant):
    """A move may be followed by another one, by its number or by the result, without a space between. python-chess
    takes letters of what follows for part of the move."""
    for problem, game, at, word in mutant.of_kind("missing-space"):
        before, after = board(game, problem["ply"]), game["fens"][problem["ply"] + 1]
        for length in range(2, len(word)):
            if is_legal(before, word[:length]):
                before.push_san(word[:length].rstrip("!?=-"))
                if before.fen(en_passant="legal").rpartition(" ")[0] == after:
                    number = re.compile(r"\d*").match(mutant.text, at + length)
                    yield number.start(), number.end(), f" {number[0]} "
                break


def glued_result(mutant):
    """A result with a digit behind it is none. python-chess takes it for one."""
    for result in re.finditer(r"(?<![\w/-])(1-0|0-1)\d+", mutant.text):
        yield result.start(), result.end(), ""


def unknown_variant(mutant):
    """The moves of a variant of unknown name are skipped. python-chess plays standard chess."""
    for _, game, _, _ in mutant.of_kind("unsupported-variant"):
        yield mutant.text.rfind('"]', game["start"], game["end"]) + 2, game["end"], '\n[FEN "?"]'


def castling(mutant):
    """Castling is read with small letters and without dashes. python-chess passes over both."""
    for move in CASTLING.finditer(mutant.text):
        yield move.start(), move.end(), "O-O-O" if move[2] else "O-O"


def king_castles(mutant):
    """Castling is read as a move of the king by two squares. python-chess takes it for illegal."""
    for game in mutant.games:
        for before, after in itertools.pairwise(game["fens"]):
            if before.split()[2] == after.split()[2]:
                continue
            before, after = chess.Board(before + " 1"), chess.Board(after + " 1")
            king, goal = before.king(before.turn), after.king(before.turn)
            if abs(king - goal) == 2:
                word = re.compile(f"K{chess.square_name(goal)}").search(mutant.text, game["start"], game["end"])
                if word:
                    yield word.start(), word.end(), "O-O" if goal > king else "O-O-O"


def colon(mutant):
    """A capture may be written with a colon. python-chess passes over it and what stands before."""
    for sign in re.finditer(r"(?<=[KQRBNa-h1-8]):(?=[a-h][1-8])", mutant.text):
        yield sign.start(), sign.end(), "x"


def early_variation(mutant):
    """A variation before the first move is one. python-chess passes over its brackets and plays its moves."""
    for game in mutant.games:
        tags = mutant.text.rfind('"]', game["start"], game["end"]) + 2
        variation = re.compile(r"\s*(\([^()]*\))").match(mutant.text, tags)
        if variation:
            yield variation.start(1), variation.end(1), ""


def glued_number(mutant):
    """A move number needs neither dot nor space behind it. python-chess takes its last digit for the rank that a pawn
    or a piece comes from."""
    for number in re.finditer(r"(?<![\w/-])\d*[1-8](?=[a-h][x1-8])", mutant.text):
        yield number.end(), number.end(), " "


def bracket(mutant):
    """A `[` before a number begins no tag pair and means nothing. python-chess passes over the line."""
    for sign in re.finditer(r"(?<=[\r\n])\[(?=\d)", mutant.text):
        yield sign.start(), sign.end(), ""


def unclosed_tag(mutant):
    """A tag pair that is not closed is read to the end of its line. python-chess passes over it."""
    for _, _, at, _ in mutant.of_kind("unclosed-tag"):
        line = re.compile(r"(\[\s*\w+)\s*\"([^\r\n]*)").match(mutant.text, at)
        if not chess.pgn.TAG_REGEX.match(line[0]):
            value = line[2].rstrip().removesuffix("]").rstrip().removesuffix('"')
            yield at, line.end(), f'{line[1]} "{value}"]'


def fen_digits(mutant):
    """Numbers of empty squares that stand side by side in a FEN are added. python-chess takes the FEN for invalid."""
    for fen in re.finditer(r"(?<=\[FEN \")[^ ]*[1-8]{2}[^ ]* ", mutant.text):
        yield fen.start(), fen.end(), re.sub("[1-8]{2,}", lambda digits: str(sum(map(int, digits[0]))), fen[0])


def tags_on_a_line(mutant):
    """Each tag pair stands for itself, indented or not, whatever else is in its line. python-chess takes a line for
    one tag pair or for nothing."""
    for indent in re.finditer(r"(?<=[\r\n])[ \t]+(?=\[\s*\w+\s*\")", mutant.text):
        yield indent.start(), indent.end(), ""
    for game in mutant.games:
        tags = re.compile(r"\[\s*\w+\s*\"[^\"\r\n]*\"\s*\][ \t]*(?=[^\r\n])")
        for tag in tags.finditer(mutant.text, game["start"], game["end"]):
            yield tag.end(), tag.end(), "\n"


def short_draw(mutant):
    """A draw may be written `1/2` or with a half sign. python-chess knows `1/2-1/2`."""
    for result in re.finditer(rf"(?<!1/2-)(1/2|{HALF}-{HALF})(?!-1/2)", mutant.text):
        yield result.start(), result.end(), "1/2-1/2"


RULES = [
    unreadable,
    after_an_error,
    null_in_check,
    unclosed_comment,
    unclosed_variation,
    blank_line,
    result_ends_game,
    tags_begin_game,
    outside_text,
    only_signs,
    damaged_tag,
    bracket,
    unclosed_tag,
    fen_digits,
    tags_on_a_line,
    unknown_word,
    glued,
    glued_number,
    glued_result,
    unknown_variant,
    castling,
    king_castles,
    colon,
    early_variation,
    short_draw,
]
MOST_RULES = 4


def rewrite(text, edits):
    """The text with all edits that do not overlap one before."""
    pieces, end = [], 0
    for start, stop, new in sorted(edits, key=lambda edit: (edit[0], edit[1] > edit[0], -edit[1])):
        if start >= end:
            pieces += [text[end:start], new]
            end = stop
    return "".join(pieces) + text[end:]


def classify(mutant):
    """The names of the fewest rules that explain how the readings differ; `None` if none do."""
    if read(mutant.text) == mutant.ours:
        return "equal"
    edits = {rule.__name__: list(rule(mutant)) for rule in RULES}
    edits = {name: found for name, found in edits.items() if found}
    tried = {mutant.text}
    for count in range(1, MOST_RULES + 1):
        for names in itertools.combinations(edits, count):
            text = rewrite(mutant.text, [edit for name in names for edit in edits[name]])
            if text not in tried and read(text) == mutant.ours:
                return " + ".join(names)
            tried.add(text)
    return None


def show(reading):
    return ", ".join(
        f"{len(fens) - 1} plies {result}{' with errors' if error else ''}" for fens, result, error in reading
    )


def main():
    """Prints the class of each mutant, one a line."""
    for line in sys.stdin:
        mutant = Mutant(line)
        name = classify(mutant)
        if name is None:
            ours, theirs = show(mutant.ours), show(read(mutant.text))
            name = f"unexplained: pgndex {ours}; python-chess {theirs}: {mutant.text!r}"
        print(name)


if __name__ == "__main__":
    main()
