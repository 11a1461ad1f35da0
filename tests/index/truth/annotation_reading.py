"""What python-chess reads in a game besides its main line, and the resulting rows of the annotation tables."""

import collections
import io
import re
from decimal import ROUND_HALF_UP, Decimal

import chess
import chess.pgn
import chess.polyglot

TABLES = {
    "move_eval": "ply, clock, elapsed, eval_cp, eval_mate, depth",
    "comment": "line, ply, number, text",
    "nag": "line, ply, nag",
    "command": "line, ply, number, name, value",
    "variation": "line, parent_line, ply",
    "variation_move": "line, ply, key, halfmove_clock, move_code, fen",
}


# Numbers and words in comments, in our own implementation.

COMMAND = re.compile(r"\[%(\w+)((?:\s[^\]]*)?)\]", re.ASCII)
ENGINE = re.compile(r"([+-]?)(?:M(\d+)|(\d+\.\d+))/(\d+)(?: (\d+(?:\.\d+)?)s)?(?:, ?(.*))?\Z", re.ASCII | re.DOTALL)
# In the form of Arena: the line of moves, then evaluation, depth and time.
ARENA = re.compile(r"\(.*\) ([+-]?)(\d+\.\d+)/(\d+) (\d+):(\d+(?:\.\d+)?)\Z", re.ASCII | re.DOTALL)
PAIR = re.compile(r"(\w+)=(.*)\Z", re.ASCII | re.DOTALL)
DECIMAL = r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)"


def round_hundredth(number):
    """A number times 100, rounded half away from zero."""
    return int((Decimal(number) * 100).quantize(Decimal(1), ROUND_HALF_UP))


def whole(number):
    return int(Decimal(number).quantize(Decimal(1), ROUND_HALF_UP))


def clock_of(value):
    found = re.fullmatch(r"(\d+):(\d{1,2}):(\d{1,2}(?:\.\d*)?)", value, re.ASCII)
    return found and round_hundredth((int(found[1]) * 60 + int(found[2])) * 60 + Decimal(found[3]))


def elapsed_of(value):
    if re.fullmatch(r"\d+(?:\.\d*)?", value, re.ASCII):
        return round_hundredth(value)
    return clock_of(value)


def timestamp_of(value):
    return int(value) * 10 if re.fullmatch(r"\d+", value, re.ASCII) else None


def eval_of(value):
    """Centipawns, mate and depth."""
    found = re.fullmatch(rf"(?:(-?)#([+-]?\d+)|({DECIMAL}))(?:,(\d+))?", value, re.ASCII)
    if not found:
        return None
    sign, mate, pawns, depth = found.groups()
    depth = int(depth) if depth else None
    if mate:
        return None, -int(mate) if sign else int(mate), depth
    if depth is not None and re.fullmatch(r"[+-]?\d+", pawns):
        return int(pawns), None, depth
    return round_hundredth(pawns), None, depth


def moves_to_mate(plies):
    return (int(plies) + 1) // 2


class Numbers:
    """The numbers of a move."""

    def __init__(self, chessbase):
        self.clock = self.elapsed = self.cp = self.mate = self.depth = None
        # Whether the game has evaluations in the form of ChessBase.
        self.chessbase = chessbase
        # Whether the evaluation has the opposite sign in the text.
        self.turned = False

    def evaluated(self):
        return self.cp is not None or self.mate is not None

    def take(self, name, value, black):
        """Reads the number of a command. Returns whether there was one."""
        if name == "clk" and self.clock is None:
            self.clock = clock_of(value)
            return self.clock is not None
        if name in ("emt", "timestamp") and self.elapsed is None:
            self.elapsed = elapsed_of(value) if name == "emt" else timestamp_of(value)
            return self.elapsed is not None
        if name == "eval" and not self.evaluated():
            found = eval_of(value)
            if found:
                self.cp, self.mate, self.depth = found
                # In the form of ChessBase: an integer with a depth; after it, also mates with a depth.
                self.chessbase |= re.match(r"[+-]?\d+,", value) is not None
                movers = self.depth is not None and re.match(r"-?#" if "#" in value else r"[+-]?\d+,", value)
                if black and self.chessbase and movers:
                    self.turned = True
                    self.cp, self.mate = self.cp and -self.cp, self.mate and -self.mate
            return found is not None
        return False

    def take_engine(self, text, black):
        """Reads the numbers of an engine's comment; its text is kept."""
        arena = ARENA.match(text)
        if arena and not self.evaluated() and self.elapsed is None:
            turn = -1 if (arena[1] == "-") != black else 1
            self.cp, self.depth = turn * round_hundredth(arena[2]), int(arena[3])
            self.elapsed = round_hundredth(60 * int(arena[4]) + Decimal(arena[5]))
            return text
        found = ENGINE.match(text)
        if not found or self.evaluated() or (found[5] and self.elapsed is not None):
            return text
        turn = -1 if (found[1] == "-") != black else 1
        if found[2]:
            self.mate = turn * moves_to_mate(found[2])
        else:
            self.cp = turn * round_hundredth(found[3])
        self.depth = int(found[4])
        if found[5]:
            self.elapsed = round_hundredth(found[5])
        return text

    def take_pairs(self, text):
        """Reads the numbers of a list of keys and values."""
        pairs = tcec_pairs(text)
        if pairs is None:
            return
        value = pairs.get("wv")
        if value is not None and not self.evaluated():
            mate = re.fullmatch(r"([+-]?)M(\d+)", value, re.ASCII)
            if mate:
                self.mate = moves_to_mate(mate[2]) * (-1 if mate[1] == "-" else 1)
            elif re.fullmatch(DECIMAL, value, re.ASCII):
                self.cp = round_hundredth(value)
            depth = pairs.get("d", "")
            if self.evaluated() and re.fullmatch(r"\d+", depth, re.ASCII):
                self.depth = int(depth)
        for key, name in (("mt", "elapsed"), ("tl", "clock")):
            if re.fullmatch(r"\d+", pairs.get(key, ""), re.ASCII) and getattr(self, name) is None:
                setattr(self, name, whole(Decimal(pairs[key]) / 10))

    def row(self):
        """Clock, elapsed time, centipawns, mate and depth."""
        return self.clock, self.elapsed, self.cp, self.mate, self.depth


def tcec_pairs(text):
    """The keys and values of a comment that consists of nothing else; `None` if it has other text, or lacks the
    required keys."""
    if "=" not in text:
        return None
    pairs = {}
    for item in text.removesuffix(",").split(","):
        found = PAIR.match(item.strip())
        if not found:
            # The list may end with words without a key: the reason for the end of the game.
            if pairs:
                break
            return None
        pairs.setdefault(found[1], found[2].strip())
    return pairs if pairs.keys() & {"d", "wv", "mt", "tl"} else None


# Stands for a closing brace within a comment.
CLOSING = "\x01\x02\x01"


def decode(comment):
    """The text of a comment whose bytes are characters of Latin-1: decoded as UTF-8, or else as Windows-1252."""
    comment = comment.replace(CLOSING, "}")
    if comment.isascii():
        return comment
    raw = comment.encode("latin-1")
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return "".join(WINDOWS_1252[byte] for byte in raw)


WINDOWS_1252 = [bytes([byte]).decode("cp1252", "replace").replace("\ufffd", chr(byte)) for byte in range(256)]
OWN_SPACE = re.compile(r"[\t\n\x0b\x0c\r ]+")


def squeeze(text):
    return OWN_SPACE.sub(" ", text).strip(" ")


# Reading.

NULL_MOVES = ("--", "Z0", "0000", "@@@@")
RESULTS = ("1-0", "0-1", "1/2-1/2", "*")
PIECES = {chess.PAWN: 2, chess.KNIGHT: 4, chess.KING: 6, chess.BISHOP: 8, chess.ROOK: 10, chess.QUEEN: 12}


class Frame:
    """A line that is being read."""

    __slots__ = ("line", "ply", "broken", "first")

    def __init__(self, line, ply):
        self.line = line
        self.ply = ply
        self.broken = False
        self.first = ply


class Reading(chess.pgn.BaseVisitor):
    """The text of a game besides its main line, as python-chess delivers it."""

    def begin_game(self):
        self.headers = chess.pgn.Headers({})
        self.frames = [Frame(0, 0)]
        self.comments = collections.defaultdict(list)
        self.nags = set()
        self.variations = []
        self.moves = []
        self.hits = collections.Counter()
        self.lines = 0
        self.lost_lines = []
        self.nested = set()
        self.start = None
        self.board = None
        self.errors = []
        self.pending = None

    def begin_headers(self):
        return self.headers

    def visit_header(self, name, value):
        self.headers[name] = value

    def begin_parse_san(self, board, san):
        frame = self.frames[-1]
        if frame.broken:
            return chess.pgn.SKIP
        if san in RESULTS:
            self.hits["result within a variation"] += 1
            return chess.pgn.SKIP
        if san in NULL_MOVES and board.is_check():
            # For us this move is illegal, but python-chess plays it.
            frame.broken = True
            self.hits["null move in check"] += 1
            return chess.pgn.SKIP
        try:
            self.parsed = board.parse_san(san)
        except ValueError as error:
            frame.broken = True
            self.hits["illegal move in a variation" if frame.line else "illegal move"] += 1
            self.errors.append((frame.line, frame.ply, san, str(error)))
            return chess.pgn.SKIP
        return None

    def parse_san(self, board, san):
        return self.parsed

    def visit_move(self, board, move):
        frame = self.frames[-1]
        self.pending = frame.line and (board, board.copy(stack=False), move)
        frame.ply += 1
        if not move:
            self.hits["null move"] += 1

    def visit_board(self, board):
        if self.start is None:
            self.start = board.copy()
        frame = self.frames[-1]
        if self.pending:
            _, before, move = self.pending
            self.moves.append((frame.line, frame.ply, *position(board), board.halfmove_clock, move_code(before, move, board)))
            self.pending = None
        if frame.line == 0:
            self.board = board

    def visit_comment(self, comment):
        frame = self.frames[-1]
        if not frame.broken:
            self.comments[frame.line, frame.ply].append(comment)

    def visit_nag(self, nag):
        frame = self.frames[-1]
        if not frame.broken:
            place = (frame.line, frame.ply, nag)
            if place in self.nags:
                self.hits["duplicate NAG"] += 1
            self.nags.add(place)

    def begin_variation(self):
        parent = self.frames[-1]
        if parent.broken:
            self.hits["variation of a move that could not be played"] += 1
            self.lost_lines.append(self.lines)
            self.frames.append(Frame(-1, 0))
            return chess.pgn.SKIP
        if parent.ply == parent.first:
            # python-chess reads this as a variation of the previous move.
            self.hits["variation before any move of a variation"] += 1
            self.nested.add(self.lines + 1)
        self.lines += 1
        self.variations.append((self.lines, parent.line, parent.ply - 1))
        self.frames.append(Frame(self.lines, parent.ply - 1))
        return None

    def end_variation(self):
        if len(self.frames) > 1:
            self.frames.pop()

    def handle_error(self, error):
        self.errors.append((0, 0, "", str(error)))
        self.hits["headers"] += 1

    def result(self):
        return self


def position(board):
    """Key and FEN of a board, with en passant only if a capture is legal."""
    square = board.ep_square
    if square is not None and not board.has_legal_en_passant():
        board.ep_square = None
    unsigned = chess.polyglot.zobrist_hash(board)
    fen = " ".join(board.fen(en_passant="fen").split(" ", 4)[:4])
    board.ep_square = square
    return unsigned - (1 << 64) if unsigned >> 63 else unsigned, fen


def move_code(before, move, after):
    """The code of a move, as the comment on the view `moves` defines it."""
    if not move:
        return 0
    turn = 0 if before.turn else 1
    piece = before.piece_type_at(move.from_square)
    start, goal = move.from_square, move.to_square
    taken = before.piece_type_at(goal)
    if before.is_castling(move):
        short = chess.square_file(goal) > chess.square_file(start)
        goal = chess.square(6 if short else 2, chess.square_rank(start))
        special, taken = (1 if short else 2), None
    elif before.is_en_passant(move):
        special, taken = 15, chess.PAWN
    elif move.promotion:
        special = PIECES[move.promotion] + turn
    elif piece == chess.PAWN:
        special = 14 if abs(start - goal) == 16 else 6
    else:
        special = 7 if taken else 3
    code = PIECES[taken] + 1 - turn if taken else 0
    code |= PIECES[piece] + turn << 4
    code |= (chess.square_file(goal) + 16 * chess.square_rank(goal)) << 8
    code |= (chess.square_file(start) + 16 * chess.square_rank(start)) << 16
    code |= special << 24
    if after.is_check():
        code |= 1 << 28
        if after.is_checkmate():
            code |= 1 << 29
    return code


def read(text):
    """The reading of a game's text by python-chess; the bytes are characters of Latin-1."""
    return chess.pgn.read_game(io.StringIO(text), Visitor=Reading)


def is_usual(name, value):
    """Whether an export writes the number of a command in the same form."""
    if name in ("clk", "emt"):
        centiseconds = clock_of(value)
        seconds, part = divmod(centiseconds or 0, 100)
        fraction = f".{part:02}".rstrip("0") if part else ""
        usual = f"{seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02}{fraction}"
        return centiseconds is not None and value == usual
    if name == "eval":
        return re.fullmatch(r"(#-?(?:0|[1-9]\d*)|-?(?:0|[1-9]\d*)\.\d\d)(,(?:0|[1-9]\d*))?", value, re.ASCII) is not None
    return False


def expected(reading):
    """The rows of each table according to the specification."""
    rows = {table: [] for table in TABLES}
    chessbase = False
    black_first = reading.start is not None and reading.start.turn == chess.BLACK
    for (line, ply), comments in reading.comments.items():
        numbers, number, commands = Numbers(chessbase), 0, 0
        black = (ply % 2 == 0) != black_first
        counts = line == 0
        for comment in comments:
            comment = decode(comment)
            text = comment
            if "[%" in comment:
                for name, value in COMMAND.findall(comment):
                    value = squeeze(value)
                    is_kept = not counts or not numbers.take(name, value, black) or not is_usual(name, value)
                    if is_kept or (name == "eval" and numbers.turned):
                        commands += 1
                        rows["command"].append((line, ply, commands, name, value))
                text = COMMAND.sub(" ", comment)
            text = squeeze(text)
            if counts:
                text = numbers.take_engine(text, black)
                numbers.take_pairs(text)
            if text:
                number += 1
                rows["comment"].append((line, ply, number, text))
        chessbase = numbers.chessbase
        if line == 0 and any(value is not None for value in numbers.row()):
            rows["move_eval"].append((ply, *numbers.row()))
    rows["nag"] = list(reading.nags)
    rows["variation"] = list(reading.variations)
    rows["variation_move"] = [
        (line, ply, key, clock, code, fen) for line, ply, key, fen, clock, code in reading.moves
    ]
    numbers = number_lines(rows)
    reading.nested = {numbers[line] for line in reading.nested if line in numbers}
    for found in rows.values():
        found.sort()
    return rows


def number_lines(rows):
    """Removes empty variations, and numbers the others. Returns their new numbers."""
    annotated = {row[0] for table in ("comment", "nag", "command", "variation_move") for row in rows[table]}
    annotated.update(row[1] for row in rows["variation"])
    lines = sorted(row[0] for row in rows["variation"] if row[0] in annotated)
    numbers = {0: 0, **{line: number for number, line in enumerate(lines, 1)}}
    rows["variation"] = [(numbers[line], numbers[parent], ply) for line, parent, ply in rows["variation"] if line in numbers]
    for table in ("comment", "nag", "command", "variation_move"):
        rows[table] = [(numbers[line], *rest) for line, *rest in rows[table]]
    return numbers
