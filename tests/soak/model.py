"""The expected contents of the database: files of games, and the games that were removed again."""

import re
from pathlib import Path

FILES = 24
# One game in this many of a file is also in another file, unchanged: a duplicate.
COPIED = 20


class Game:
    def __init__(self, text):
        self.text = text
        tags = dict(re.findall(r'^\[(\w+) "(.*)"\]$', text, re.M))
        self.players = {tags.get("White", "?"), tags.get("Black", "?")}
        moves = re.sub(r"\{[^}]*\}|;.*|^\[.*\]$", " ", text, flags=re.M)
        self.moves = "".join(re.findall(r"[A-Za-z][\w=+#-]*", moves))


def read(path, most):
    """Games without duplicates, spread over the text. Both players are known, because otherwise copies are not
    duplicates."""
    text = Path(path).read_text(encoding="utf-8", errors="replace").replace("\r\n", "\n")
    starts = [match.start() for match in re.finditer(r'^\[Event "', text, re.M)] + [len(text)]
    step = max(1, (len(starts) - 1) // most)
    games, seen = [], set()
    for at in range(0, len(starts) - 1, step):
        game = Game(text[starts[at] : starts[at + 1]].strip() + "\n\n")
        if game.moves and game.moves not in seen and not game.players & {"", "?"}:
            seen.add(game.moves)
            games.append(game)
    return games[:most]


class File:
    """A file of games. It is written when games are added to it, and stays on the disk when it is removed from the
    database."""

    def __init__(self, path, games):
        self.path = path
        self.games = []
        self.later = games
        self.removed = set()
        self.is_in = False

    def grow(self, number):
        self.games += self.later[:number]
        del self.later[:number]
        self.path.write_text("".join(game.text for game in self.games), encoding="utf-8")

    def kept(self):
        return [game for at, game in enumerate(self.games) if at not in self.removed] if self.is_in else []


class Model:
    def __init__(self, games, directory, draw):
        directory.mkdir()
        shares = [games[at::FILES] for at in range(FILES)]
        self.files = []
        self.copies = 0
        for at, share in enumerate(shares):
            others = [game for other in shares if other is not share for game in other]
            copies = draw.sample(others, len(share) // COPIED) if others else []
            mixed = share + copies
            self.copies += len(copies)
            draw.shuffle(mixed)
            file = File(directory / f"games-{at:02}.pgn", mixed)
            file.grow((len(mixed) + 1) // 2)
            self.files.append(file)

    def games(self):
        """All games that must be in the database, each once."""
        return {game.text: game for file in self.files for game in file.kept()}

    def with_result(self):
        return sum('[Result "*"]' not in text for text in self.games())

    def inside(self):
        return [file for file in self.files if file.is_in]

    def add(self, files):
        for file in files:
            file.is_in, file.removed = True, set()

    def remove(self, file):
        file.is_in = False

    def remove_player(self, name):
        for file in self.inside():
            file.removed |= {at for at, game in enumerate(file.games) if name in game.players}

    def player(self, draw):
        """A player's name that can be used on a command line, from a game in the database."""
        names = sorted({name for game in self.games().values() for name in game.players if re.fullmatch(r"[\w ,.'-]+", name)})
        return draw.choice(names) if names else None
