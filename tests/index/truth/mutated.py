"""Compares the reading of damaged PGN by pgndex with that by python-chess.

Each line of standard input is a mutant as a JSON object: its "text" (each byte is a character of Latin-1), and our
"games" and "problems". Two readings are the same if they have the same games, with the same positions after each ply
and the same result, and agree on whether something was lost.

Rules explain the differences. Each rule is about one intended difference. It looks for the places where the
difference occurs, checks them, and rewrites them so that python-chess must read them as we do. The class of a mutant
is the smallest set of rules with which python-chess reads the rewritten text exactly as we read the mutant.
"""

import io
import itertools
import json
import re
import sys

import chess
import chess.pgn


class Reading(chess.pgn.BaseVisitor):
    """The main line of a game: its positions, its result, and whether it has an error."""

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
    """The games that python-chess reads in a text."""
    file = io.TextIOWrapper(io.BytesIO(text.encode("latin-1")), encoding="latin-1")
    games = []
    while (game := chess.pgn.read_game(file, Visitor=Reading)) is not None:
        games.append(game)
    return games


# A move that is illegal in every position: it marks the place of an error.
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
    """A damaged text and our reading of it."""

    def __init__(self, line):
        mutant = json.loads(line)
        self.text = mutant["text"]
        self.games = mutant["games"]
        self.problems = mutant["problems"]
        self.ours = [(game["fens"], game["result"], game["status"] != "ok") for game in self.games]

    def of_kind(self, *kinds):
        """The problems of some kinds, each with its game (if it is within one) and its word."""
        for problem in self.problems:
            if problem["kind"] in kinds:
                at = problem["at"]
                game = next((game for game in self.games if game["start"] <= at < game["end"]), None)
                word = problem["token"] or ""
                if not self.text.startswith(word, at):
                    word = word.encode("utf-8").decode("latin-1")
                yield problem, game, at, word

    def lost(self, at, game):
        """The edit that ends a game with an error at a place, but keeps the result."""
        rest = strip_comments(self.text[at : game["end"]])
        result = RESULT.search(rest) if is_closed(rest) else None
        word = re.sub(f"^1/2$|{HALF}-{HALF}", "1/2-1/2", result[0]) if result else ""
        return at, game["end"], f" {word} {ILLEGAL} "


def strip_comments(text):
    """The text without the closed comments."""
    return re.sub(r"\{[^}]*\}|;[^\r\n]*", "", text)


def is_closed(text):
    """Whether a text without comments has no open comment and no open variation."""
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
    """An unreadable word that seems to be a move ends the game: guessing or skipping it could continue from a
    position that never occurred. python-chess plays a part of the word that looks like a move, or skips the word
    silently."""
    for _, game, at, word in mutant.of_kind("unreadable-move"):
        if mutant.text.startswith(word, at) and (not SAN.match(word) or word.startswith("x")):
            yield mutant.lost(at, game)


def after_an_error(mutant):
    """Nothing after an illegal move is played, but the result is read. python-chess skips the result, and after an
    unmatched `)` it continues in the previous position."""
    for problem, game, at, word in mutant.of_kind("illegal-move", "ambiguous-move"):
        if not is_legal(board(game, problem["ply"]), word):
            yield mutant.lost(at, game)


def null_in_check(mutant):
    """A null move in check is illegal. python-chess plays it."""
    for problem, game, at, word in mutant.of_kind("illegal-move"):
        if word in ("--", "Z0", "0000", "@@@@") and board(game, problem["ply"]).is_check():
            yield mutant.lost(at, game)


def unclosed_comment(mutant):
    """The text after an unclosed `{` is lost up to the next game, which is an error. python-chess reports nothing,
    and loses the next game too."""
    for _, game, at, _ in mutant.of_kind("unclosed-comment"):
        if mutant.text[at] == "{" and "}" not in mutant.text[at : game["end"]]:
            yield at, game["end"], f" {ILLEGAL} "


def unclosed_variation(mutant):
    """The text after an unclosed `(` or `[` is lost, which is an error. python-chess reports nothing, or ignores the
    `[`."""
    for _, game, at, _ in mutant.of_kind("unclosed-variation"):
        rest = strip_comments(mutant.text[at : game["end"]])
        if mutant.text[at] == "(" and not is_closed(rest) or mutant.text[at] == "[" and "]" not in rest:
            yield at, game["end"], f" {ILLEGAL} "


def blank_line(mutant):
    """A blank line within a game is ignored. python-chess ends the game at it, or, among the tags, at the second
    one."""
    for game in mutant.games:
        text = mutant.text[game["start"] : game["end"]]
        for blank in re.finditer(rf"{LINE_END}(?:[ \t]*{LINE_END})+", text):
            yield game["start"] + blank.start(), game["start"] + blank.end(), "\n"


def result_ends_game(mutant):
    """A result ends the game, wherever it is. python-chess continues."""
    for game, following in itertools.zip_longest(mutant.games, mutant.games[1:]):
        end = following["start"] if following else len(mutant.text)
        if RESULT.search(mutant.text[: game["end"]]) and mutant.text[game["end"] : end].strip():
            yield game["end"], game["end"], "\n\n"
        elif following and RESULT.search(mutant.text[: game["end"]]):
            yield game["end"], game["end"], "\n\n"


def tags_begin_game(mutant):
    """A tag pair after moves begins a new game, with or without indentation or a blank line. python-chess requires a
    blank line before it, and nothing else on its line."""
    for game in mutant.games:
        if TAG.match(mutant.text, game["start"]):
            yield game["start"], game["start"], "\n\n"


def outside_text(mutant):
    """Text that belongs to no game is reported, and is not a game. python-chess makes a game of it."""
    for _, game, at, _ in mutant.of_kind("outside-text"):
        if game is None:
            yield at, min([game["start"] for game in mutant.games if game["start"] > at], default=len(mutant.text)), ""


def only_signs(mutant):
    """A result, numbers and signs alone after a game are not a game. python-chess makes a game of them."""
    for game, following in itertools.zip_longest(mutant.games, mutant.games[1:]):
        end = following["start"] if following else len(mutant.text)
        if re.fullmatch(rf"[\s\d/.$*#+{HALF}-]*", mutant.text[game["end"] : end]):
            yield game["end"], end, "\n\n"


def damaged_tag(mutant):
    """A damaged tag pair among the tags is skipped. For python-chess the moves begin with it, unless it begins with
    `[`."""
    for _, _, at, _ in mutant.of_kind("invalid-tag"):
        line = re.compile(rf"[^\r\n]*{LINE_END}?").match(mutant.text, at)
        if not chess.pgn.TAG_REGEX.match(line[0]):
            yield at, line.end(), ""


def unknown_word(mutant):
    """A word without the name of a square is not a move, and is skipped. python-chess looks for a move within it."""
    for _, _, at, word in mutant.of_kind("unknown-token"):
        if not re.search("[a-h][1-8]", word) and not SAN.match(word):
            yield at, at + len(word), ""


def glued(mutant):
    """A move may be followed by another move, by its number or by the result, without a space. python-chess reads
    the following letters as part of the move."""
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
    """A result followed by a digit is not a result. python-chess reads it as one."""
    for result in re.finditer(r"(?<![\w/-])(1-0|0-1)\d+", mutant.text):
        yield result.start(), result.end(), ""


def unknown_variant(mutant):
    """The moves of an unknown variant are skipped. python-chess plays standard chess."""
    for _, game, _, _ in mutant.of_kind("unsupported-variant"):
        yield mutant.text.rfind('"]', game["start"], game["end"]) + 2, game["end"], '\n[FEN "?"]'


def castling(mutant):
    """Castling is read in lower case and without dashes. python-chess skips both."""
    for move in CASTLING.finditer(mutant.text):
        yield move.start(), move.end(), "O-O-O" if move[2] else "O-O"


def king_castles(mutant):
    """A king's move by two squares is read as castling. For python-chess it is illegal."""
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
    """A capture may be written with a colon. python-chess skips the colon and what is before it."""
    for sign in re.finditer(r"(?<=[KQRBNa-h1-8]):(?=[a-h][1-8])", mutant.text):
        yield sign.start(), sign.end(), "x"


def early_variation(mutant):
    """A variation before the first move is read as a variation. python-chess skips its brackets and plays its moves."""
    for game in mutant.games:
        tags = mutant.text.rfind('"]', game["start"], game["end"]) + 2
        variation = re.compile(r"\s*(\([^()]*\))").match(mutant.text, tags)
        if variation:
            yield variation.start(1), variation.end(1), ""


def glued_number(mutant):
    """A move number needs neither a dot nor a space after it. python-chess reads its last digit as the rank from
    which a pawn or a piece comes."""
    for number in re.finditer(r"(?<![\w/-])\d*[1-8](?=[a-h][x1-8])", mutant.text):
        yield number.end(), number.end(), " "


def bracket(mutant):
    """A `[` before a number does not begin a tag pair, and is ignored. python-chess skips the line."""
    for sign in re.finditer(r"(?<=[\r\n])\[(?=\d)", mutant.text):
        yield sign.start(), sign.end(), ""


def unclosed_tag(mutant):
    """An unclosed tag pair is read to the end of its line. python-chess skips it."""
    for _, _, at, _ in mutant.of_kind("unclosed-tag"):
        line = re.compile(r"(\[\s*\w+)\s*\"([^\r\n]*)").match(mutant.text, at)
        if not chess.pgn.TAG_REGEX.match(line[0]):
            value = line[2].rstrip().removesuffix("]").rstrip().removesuffix('"')
            yield at, line.end(), f'{line[1]} "{value}"]'


def fen_digits(mutant):
    """Adjacent numbers of empty squares in a FEN are added. For python-chess the FEN is invalid."""
    for fen in re.finditer(r"(?<=\[FEN \")[^ ]*[1-8]{2}[^ ]* ", mutant.text):
        yield fen.start(), fen.end(), re.sub("[1-8]{2,}", lambda digits: str(sum(map(int, digits[0]))), fen[0])


def tags_on_a_line(mutant):
    """Each tag pair is read separately, with or without indentation and other text on its line. python-chess reads a
    line as one tag pair or not at all."""
    for indent in re.finditer(r"(?<=[\r\n])[ \t]+(?=\[\s*\w+\s*\")", mutant.text):
        yield indent.start(), indent.end(), ""
    for game in mutant.games:
        tags = re.compile(r"\[\s*\w+\s*\"[^\"\r\n]*\"\s*\][ \t]*(?=[^\r\n])")
        for tag in tags.finditer(mutant.text, game["start"], game["end"]):
            yield tag.end(), tag.end(), "\n"


def short_draw(mutant):
    """A draw may be written as `1/2` or with a half sign. python-chess knows only `1/2-1/2`."""
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
    """The text with the edits; an edit that overlaps an earlier one is left out."""
    pieces, end = [], 0
    for start, stop, new in sorted(edits, key=lambda edit: (edit[0], edit[1] > edit[0], -edit[1])):
        if start >= end:
            pieces += [text[end:start], new]
            end = stop
    return "".join(pieces) + text[end:]


def classify(mutant):
    """The names of the smallest set of rules that explains the difference between the readings; `None` if there is
    none."""
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
    """Prints the class of each mutant, one per line."""
    for line in sys.stdin:
        mutant = Mutant(line)
        name = classify(mutant)
        if name is None:
            ours, theirs = show(mutant.ours), show(read(mutant.text))
            name = f"unexplained: pgndex {ours}; python-chess {theirs}: {mutant.text!r}"
        print(name)


if __name__ == "__main__":
    main()
