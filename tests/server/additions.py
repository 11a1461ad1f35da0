"""Sends requests to a server continuously while games are added to its database, and compares each response with the
counts of python-chess.

    python3 tests/server/additions.py PGNDEX GAMES.pgn DIRECTORY [SECONDS] [ADDITIONS] [GAMES_EACH]

DIRECTORY gets the database and the parts of the PGN file. Each response must match one state that the database had
between the beginning and the end of the request. Responses with status 503, because of too many requests, are
counted; all other differences are errors.
"""

import http.client
import io
import json
import random
import re
import subprocess
import sys
import threading
import time
from pathlib import Path
from urllib.parse import quote

import chess.pgn

LINES = ["", "e2e4", "d2d4", "e2e4,c7c5", "e2e4,e7e5,g1f3", "d2d4,g8f6,c2c4", "g1f3", "c2c4", "e2e4,c7c6", "d2d4,d7d5,c2c4,e7e6",
         "e2e4,e7e6,d2d4,d7d5", "e2e4,c7c5,g1f3,d7d6,d2d4"]
CLIENTS = 6


def position_of(line):
    board = chess.Board()
    for move in filter(None, line.split(",")):
        board.push_uci(move)
    return board.epd()


POSITIONS = {position_of(line): line for line in LINES}


def count(games):
    """For each position, the number of games with a result that reached it. Each game is read separately, with one
    blank line after its tags, because python-chess ends the game at a second one."""
    reached = dict.fromkeys(LINES, 0)
    for text in games:
        game = chess.pgn.read_game(io.StringIO(re.sub(r"\n\s*\n\s*\n", "\n\n", text)))
        if game.headers["Result"] == "*":
            continue
        board, found = game.board(), set()
        found.add(POSITIONS.get(board.epd()))
        for move in game.mainline_moves():
            board.push(move)
            found.add(POSITIONS.get(board.epd()))
        for line in found - {None}:
            reached[line] += 1
    return {"games": len(games), **reached}


def parts(path, number, size):
    text = path.read_text(encoding="utf-8", errors="replace")
    games = text.split("\n[Event ")
    games = [games[0], *("[Event " + game for game in games[1:])]
    if len(games) < number * size:
        sys.exit(f"{path} has {len(games)} games, too few for {number} parts of {size}")
    return [games[at * size : (at + 1) * size] for at in range(number)]


class History:
    """The states of the database, with their times."""

    def __init__(self, states):
        self.states, self.began, self.ended = states, [0.0], [0.0]

    def possible(self, what, start, end):
        first = sum(time <= start for time in self.ended) - 1
        last = sum(time <= end for time in self.began) - 1
        return [self.states[at][what] for at in range(first, last + 1)]


def questions(draw):
    """A request, and what is read from its response: the name of a count, and a function that extracts it."""
    line = draw.choice(LINES)
    total = lambda answer: answer["white"] + answer["draws"] + answer["black"]
    sql = json.dumps({"sql": "SELECT count(*) FROM game"})
    return draw.choice([
        (f"/lichess?play={line}", None, line, total),
        (f"/lichess?play={line}&topGames=0&recentGames=0", None, line, total),
        (f"/masters?play={line}", None, line, total),
        (f"/api/explore?play={line}", None, line, total),
        (f"/lichess?play={line}&since=1000-01", None, None, None),
        (f"/api/games?play={line}&sort=date&limit=20", None, None, None),
        (f"/api/games?sort=rating&limit=50&player={quote(draw.choice('abcdefghk'))}", None, None, None),
        (f"/api/game/{draw.randint(1, 50)}", None, None, None),
        (f"/api/names?kind=player&prefix={draw.choice('ABCDK')}", None, None, None),
        ("/api/info", None, "games", lambda answer: answer["games"]),
        ("/api/statistics", None, None, None),
        ("/api/openings", None, None, None),
        ("/api/sql", sql, "games", lambda answer: answer["rows"][0][0]),
    ])


class Client(threading.Thread):
    def __init__(self, address, seed, until, history):
        super().__init__()
        self.address, self.draw, self.until, self.history = address, random.Random(seed), until, history
        self.answered, self.refused, self.held, self.wrong = 0, 0, [], []

    def run(self):
        connection = http.client.HTTPConnection(self.address, timeout=60)
        while time.monotonic() < self.until and len(self.wrong) < 5:
            target, body, what, read = questions(self.draw)
            start = time.monotonic()
            try:
                connection.request("POST" if body else "GET", target, body)
                answer = connection.getresponse()
                status, text = answer.status, answer.read()
            except OSError as error:
                self.wrong.append(f"{target}: {error} (asked at {start:.0f} s)")
                connection = http.client.HTTPConnection(self.address, timeout=60)
                continue
            if status == 503 and b"busy" in text:
                self.refused += 1
            elif status != 200:
                self.wrong.append(f"{target}: {status}: {text[:300].decode(errors='replace')}")
            else:
                self.answered += 1
                answer = json.loads(text)
                if what is not None:
                    self.held.append((target, what, start, time.monotonic(), read(answer)))
            time.sleep(self.draw.random() * 0.2)


def main():
    program, path, directory = Path(sys.argv[1]).resolve(), Path(sys.argv[2]), Path(sys.argv[3])
    seconds, additions, size = (int(word) for word in (sys.argv[4:] + ["60", "20", "100"][len(sys.argv) - 4 :])[:3])
    states, state = [], dict.fromkeys(["games", *LINES], 0)
    for at, games in enumerate(parts(path, additions + 1, size)):
        (directory / f"part{at}.pgn").write_text("\n".join(games) + "\n", encoding="utf-8")
        counted = count(games)
        state = {name: state[name] + counted[name] for name in state}
        states.append(state)
    add = lambda at: subprocess.run([program, "index", "-q", "--duplicates", "keep", "games.db", f"part{at}.pgn"], cwd=directory).returncode
    if add(0) not in (0, 3):
        return 1
    server = subprocess.Popen([program, "serve", "games.db", "--listen", "127.0.0.1:0", "--log-format", "none"], cwd=directory, stdout=subprocess.PIPE, text=True)
    address = server.stdout.readline().strip().removeprefix("http://")
    history = History(states)
    begin = time.monotonic()
    clients = [Client(address, seed, begin + seconds, history) for seed in range(CLIENTS)]
    for client in clients:
        client.start()
    failed = 0
    for at in range(1, additions + 1):
        time.sleep(max(0.0, begin + seconds * at / (additions + 1) - time.monotonic()))
        history.began.append(time.monotonic())
        failed += add(at) not in (0, 3)
        history.ended.append(time.monotonic())
    for client in clients:
        client.join()
    server.terminate()
    server.wait()
    wrong = [text for client in clients for text in client.wrong]
    held = [one for client in clients for one in client.held]
    for target, what, start, end, found in held:
        possible = history.possible(what, start, end)
        if found not in possible:
            wrong.append(f"{target}: {found}, which is none of {possible}")
    answered, refused = (sum(getattr(client, name) for client in clients) for name in ("answered", "refused"))
    print(f"{answered} answers, {len(held)} of them held against what was counted, {refused} refused for too much work, "
          f"{additions} additions in {time.monotonic() - begin:.0f} s")
    for text in wrong[:10]:
        print(f"WRONG: {text}")
    return 1 if wrong or failed or not held else 0


if __name__ == "__main__":
    sys.exit(main())
