"""Rules for intended differences. Each takes a game's text and our reading of the game, and returns the text as
python-chess must get it, or the same text if the rule does not apply."""

import functools
import re

import chess

from annotation_reading import CLOSING, NULL_MOVES, read

TAG = re.compile(r"\[\s*\w+[ \t]*\"[^\n]*?\"[ \t]*\]", re.ASCII)


def start_of_moves(text):
    """The offset of the end of the tag pairs."""
    at = 0
    while True:
        found = re.compile(r"(?:\s|%[^\n]*\n|\xef\xbb\xbf)*").match(text, at)
        tag = TAG.match(text, found.end())
        if not tag:
            return at
        at = tag.end()


PIECE = re.compile(r"\{[^}]*(?:\}|\Z)|;[^\n]*|(?<=\n)%[^\n]*")


def pieces(text):
    """Movetext divided into comments (and escaped lines) and other text: pairs of a part and whether it is other
    text."""
    at = 0
    for found in PIECE.finditer(text):
        if found.start() > at:
            yield text[at : found.start()], True
        yield found[0], False
        at = found.end()
    if at < len(text):
        yield text[at:], True


def of_moves(change):
    """A rule that changes movetext outside comments."""

    @functools.wraps(change)
    def rule(text, game):
        start = start_of_moves(text)
        return text[:start] + "".join(change(part) if moves else part for part, moves in pieces(text[start:]))

    return rule


def blank_line(text, game):
    """A blank line within a game is ignored. python-chess ends the game at it."""
    start = start_of_moves(text)
    out = ""
    for part, moves in pieces(text[start:]):
        out += re.sub(r"\n\s*\n", "\n", part) if moves else part
    return text[:start] + "\n\n" + re.sub(r"\n\s*\n", "\n", out.lstrip()) if has_blank(text[start:]) else text


def has_blank(text):
    """Whether there is a blank line outside comments, or more than one before the moves."""
    outside = "".join(part if moves else "x" for part, moves in pieces(text.strip()))
    lead = text[: len(text) - len(text.lstrip())]
    return re.search(r"\n\s*\n", outside) is not None or lead.count("\n") > 2 or text.startswith("\n\n\n")


def line_comment(text, game):
    """`;` begins a comment. python-chess skips the sign."""
    start = start_of_moves(text)
    out = []
    for part, moves in pieces(text[start:]):
        if not moves and part.startswith(";"):
            part = "{" + part[1:].replace("}", CLOSING) + " }"
        out.append(part)
    return text[:start] + "".join(out)


def control_characters(text, game):
    """A control character counts as white space. In comments, python-chess keeps it."""
    start = start_of_moves(text)
    blank = lambda part: re.sub(rf"({CLOSING})|[\x00-\x08\x0e-\x1f\x7f]", lambda found: found[1] or " ", part)
    return text[:start] + "".join(part if moves else blank(part) for part, moves in pieces(text[start:]))


@of_moves
def wide_signs(part):
    """A sign such as U+203C is a NAG. python-chess skips it."""
    for sign, words in (("\u203c", "$3"), ("\u2047", "$4"), ("\u2049", "$5"), ("\u2048", "$6")):
        part = part.replace(sign.encode().decode("latin-1"), f" {words} ")
    return part


@of_moves
def long_number(part):
    """`10000.` is a move number. python-chess reads it as a null move."""
    return re.sub(r"(?<![\w])\d*0000\d*(?=\s*\.)", "1", part)


@of_moves
def castling(part):
    """Castling is read in lower case, without dashes and with Unicode dashes. python-chess skips these forms."""
    dash = r"(?:-|\xe2\x80[\x90-\x95])?"
    return re.sub(rf"(?<![\w$/-])([Oo0]){dash}\1({dash}\1)?(?![\w/-])", lambda move: "O-O-O" if move[2] else "O-O", part)


@of_moves
def colon(part):
    """A capture may be written with a colon. python-chess skips the colon and what is before it."""
    return re.sub(r"(?<=[KQRBNa-h1-8]):(?=[a-h][1-8])", "x", part)


@of_moves
def figurines(part):
    """A figurine is a piece. python-chess skips it and plays a pawn move."""

    def piece(found):
        return "KQRBNPKQRBNP"[ord(found[0].encode("latin-1").decode()) - 0x2654].replace("P", "")

    return re.sub(r"\xe2\x99[\x94-\x9f]", piece, part)


@of_moves
def glued_number(part):
    """A move number needs neither a dot nor a space after it. python-chess reads its last digit as a rank."""
    return re.sub(r"(?<![\w/-])(\d*[1-8])(?=[a-h][x1-8])", r"\1 ", part)


@of_moves
def later_variation(part):
    """A variation with the number of the next move replaces the next move: `27...Qa7 (28. Qd4) 28. Bxc8`.
    python-chess reads it as a variation of the previous move."""
    return re.sub(r"(\(\s*(\d+)\.(?!\.)[^()]*\))\s*(\2\.(?!\.)\s*[^\s()]+)", r"\3 \1", part)


@of_moves
def promotion(part):
    """`e8(Q)` and `e8/Q` are promotions. python-chess begins a variation, or reads a pawn move without promotion."""
    return re.sub(r"(?<=[a-h][18])(?:\(([QRBN])\)|/([QRBN]))", lambda piece: "=" + (piece[1] or piece[2]), part)


def early_variations(text):
    """The text up to the end of the tag pairs, the text before the first move without variations, the variations,
    and the rest from the first move; `None` if no variation comes before the first move."""
    start = start_of_moves(text)
    before, variations, depth, at = "", "", 0, start
    for part, moves in pieces(text[start:]):
        if not moves:
            before, variations = (before, variations + part) if depth else (before + part, variations)
            at += len(part)
            continue
        for offset, letter in enumerate(part):
            depth += letter == "("
            if depth:
                variations += letter
            elif letter.isalpha() and letter.isascii():
                found = re.compile(r"[\w+#=-]+").match(text, at + offset)
                return variations and (text[:start], before, variations, found[0], text[found.end() :])
            else:
                before += letter
            depth -= letter == ")" and depth > 0
        at += len(part)
    return None


def early_variation(text, game):
    """A variation before the first move replaces that move. python-chess skips its brackets and plays its moves."""
    found = early_variations(text)
    if not found:
        return text
    tags, before, variations, move, rest = found
    return f"{tags}{before}{move} {variations} {rest}"


def early_nested(text, game):
    """A variation before any move of its parent replaces the first move of the parent. For python-chess it replaces
    the previous move if there is one; otherwise its bracket is ignored."""
    start = start_of_moves(text)
    words = []
    for part, moves in pieces(text[start:]):
        words += re.findall(r"\s+|[()]|[^\s()]+", part) if moves else [part]
    at = 0
    while at < len(words):
        following = [place for place in range(at + 1, len(words)) if not skipped(words[place])][:1]
        if words[at] == "(" and following and words[following[0]] == "(":
            first, end, depth = following[0], following[0], 0
            while end < len(words) and (depth or words[end] == "(" or skipped(words[end])):
                depth += (words[end] == "(") - (words[end] == ")")
                end += 1
            if end < len(words) and words[end] != ")":
                words[first : end + 1] = [words[end], " ", *words[first:end]]
        at += 1
    return text[:start] + "".join(words)


def skipped(word):
    """Whether a word is white space, a comment or a move number."""
    return word[0] in "{;%" or not word.strip() or re.fullmatch(r"\d+\.*|\.+", word) is not None


@of_moves
def large_nag(part):
    """A NAG with more than five digits is ignored."""
    return re.sub(r"\$\d{6,}", " ", part)


def unclosed_comment(text, game):
    """An unclosed comment is lost. python-chess reads it to the end."""
    start = start_of_moves(text)
    last = None
    for last, moves in pieces(text[start:]):
        pass
    if last and last.startswith("{") and not last.endswith("}"):
        return text[: len(text) - len(last)]
    return text


def unclosed_variation(text, game):
    """An unclosed variation is lost, with all text after its bracket."""
    start = start_of_moves(text)
    opened, at = [], start
    for part, moves in pieces(text[start:]):
        if moves:
            for offset, letter in enumerate(part):
                if letter == "(":
                    opened.append(at + offset)
                elif letter == ")" and opened:
                    opened.pop()
        at += len(part)
    return text[: opened[0]] if opened else text


def headers(text, game):
    """python-chess cannot read some tags that determine the start position, or reads them differently: because of
    their form (on one line, indented, not closed), a FEN that it considers invalid, or a variant that it does not
    know."""
    reading = read(text)
    start = game["start_fen"]
    is_read = reading and reading.start and "headers" not in reading.hits
    same = is_read and reading.start.fen(en_passant="legal") == (start or chess.STARTING_FEN)
    at = start_of_moves(text)
    tidy = re.fullmatch(r"(?:\s*(?:^\[\w+ \"[^\n]*\"\][ \t]*$))*\s*", text[:at], re.MULTILINE)
    if same and tidy:
        return text
    variant = game["variant"] or ""
    tags = f'[Variant "{"Chess960" if re.search("960|fischer", variant, re.I) else "Standard"}"]\n'
    if start:
        tags += f'[SetUp "1"]\n[FEN "{start}"]\n'
    return tags + "\n" + text[at:].lstrip()


def broken_off(text, game):
    """We end a game at a word that seems to be a move but cannot be played; python-chess skips it, or plays a part
    of it that looks like a move. The text before the word is compared."""
    if game["status"] != "truncated":
        return text
    for at, token in game["errors"]:
        head = text[:at]
        if token and start_of_moves(text) <= at and not playable(head, token):
            return head
    return text


def playable(head, word):
    """Whether python-chess plays a whole word after the main line before it."""
    reading = read(head)
    try:
        reading.board.parse_san(word.rstrip("!?"))
    except (ValueError, AttributeError):
        return False
    return reading.board.is_check() is False or word not in NULL_MOVES


def unplayable_in_variation(text, game):
    """In a variation, a word that seems to be a move but cannot be played ends the variation; python-chess skips it
    silently, or plays a part of it that looks like a move."""
    for at, token in sorted(game["warnings"], reverse=True):
        word = token.encode().decode("latin-1")
        if not text.startswith(word, at):
            word = token.encode("cp1252", "replace").decode("latin-1")
        if word and at >= start_of_moves(text) and text.startswith(word, at) and not SAN.match(word):
            text = f"{text[:at]} Ke1e1 {text[at + len(word) :]}"
    return text


SAN = re.compile(
    chess.SAN_REGEX.pattern.replace(r"\Z", r"[+#!?=-]*\Z")
    + r"|^(O-O|O-O-O|0-0|0-0-0|--|Z0|0000|@@@@)[+#!?]*\Z"
)


@of_moves
def missing_space(part):
    """A move may be followed by the number of the next move without a space."""
    return re.sub(r"(?<=[a-h][1-8])(?=\d+\.)", " ", part)


RULES = [
    headers,
    blank_line,
    line_comment,
    early_variation,
    early_nested,
    large_nag,
    control_characters,
    wide_signs,
    long_number,
    figurines,
    castling,
    colon,
    promotion,
    later_variation,
    glued_number,
    missing_space,
    unclosed_comment,
    unclosed_variation,
    broken_off,
    unplayable_in_variation,
]
