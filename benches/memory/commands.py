"""Measures the memory of each command on a database, and prints it as rows of a table.

    python3 benches/memory/commands.py games.db                          measures the release build
    python3 benches/memory/commands.py games.db --backup /big/copy.db    also measures `backup`; the copy is as large as the database

Each command has two figures. *Own* is its peak of private memory (RssAnon, read every few milliseconds). *With pages* is the peak that
the system counts (VmHWM): it includes mapped pages of the database, which the system takes back when it needs memory. Linux only.
"""

import argparse
import http.client
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
REQUESTS = 1000


def status(pid, name):
    """A value from the status of a process in MiB, or 0 if the process has ended."""
    try:
        found = re.search(rf"{name}:\s+(\d+)", Path(f"/proc/{pid}/status").read_text())
    except OSError:
        return 0
    return int(found[1]) / 1024 if found else 0


def watch(process):
    """Waits for a process. Returns the peaks of its private memory and of its total memory, in MiB."""
    own = 0
    while True:
        own = max(own, status(process.pid, "RssAnon"))
        ended, code, usage = os.wait4(process.pid, os.WNOHANG)
        if ended:
            process.returncode = os.waitstatus_to_exitcode(code)
            return own, usage.ru_maxrss / 1024
        time.sleep(0.003)


def row(words, own, whole, seconds):
    text = " ".join(f"'{word}'" if re.search(r"[^\w.,/=-]", word) else word for word in words)
    print(f"| `{text}` | {own:,.0f} MiB | {whole:,.0f} MiB | {seconds:.2f} s |".replace("|KR", "\\|KR"), flush=True)


def measure(program, database, words, name):
    began = time.monotonic()
    command = [program, words[0], database, *words[1:]]
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    own, whole = watch(process)
    message = process.stderr.read().decode(errors="replace")
    if process.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: status {process.returncode}\n{message}")
    row([words[0], name, *(Path(word).name if "/" in word and Path(word).is_absolute() else word for word in words[1:])], own, whole,
        time.monotonic() - began)


def query(program, database, sql):
    words = [program, "sql", database, "--format", "csv", sql]
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout.splitlines()[1:]


def serve(program, database, name, lines):
    process = subprocess.Popen([program, "serve", database, "--listen", "127.0.0.1:0", "--log-format", "none"], stdout=subprocess.PIPE, text=True)
    try:
        connection = http.client.HTTPConnection(process.stdout.readline().strip().split("//")[1])
        began, own = time.monotonic(), 0
        for at in range(REQUESTS):
            target = ("/lichess?play={}", "/api/explore?play={}&eloMin=2400", "/api/games?play={}")[at % 3]
            connection.request("GET", target.format(lines[at % len(lines)]))
            answer = connection.getresponse()
            text = answer.read()
            if answer.status != 200:
                sys.exit(f"{target}: {answer.status}: {text[:300]!r}")
            own = max(own, status(process.pid, "RssAnon"))
        row(["serve", name, f"after {REQUESTS:,} requests"], own, status(process.pid, "VmHWM"), time.monotonic() - began)
    finally:
        process.terminate()
        process.wait()


def main():
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("database", type=Path)
    words.add_argument("--backup", type=Path, help="where the copy goes; it is removed afterwards")
    words.add_argument("--program", type=Path, default=PROJECT / "target/release/pgndex")
    options = words.parse_args()
    program, database, name = options.program.resolve(), options.database.resolve(), options.database.name
    player = query(program, database, "SELECT name FROM players ORDER BY games DESC LIMIT 1")[0].strip('"')
    lines = query(program, database, """
        SELECT group_concat(uci, ',') FROM (SELECT game_id, uci FROM moves
            WHERE game_id IN (SELECT game_id FROM game WHERE game_id % 997 = 1 AND start_fen IS NULL LIMIT 500)
                AND ply < game_id % 13 + 1 ORDER BY game_id, ply) GROUP BY game_id""")
    lines = [line.strip('"') for line in lines]
    print("| command | own | with pages | time |\n|---|---|---|---|")
    with tempfile.TemporaryDirectory(dir=database.parent) as directory:
        for command in [
            ["info"],
            ["find", "--moves", "1. e4 c5 2. Nf3 d6"],
            ["find", "--material", "KQvKRR"],
            ["find", "--ending", "rook", "--sort", "rating"],
            ["explore"],
            ["explore", "--moves", "1. e4 c5", "--elo-min", "2400", "--since", "2010"],
            ["player", f"={player}"],
            ["players"],
            ["export", "--format", "pgn", "--result", "1-0", "--output", f"{directory}/won.pgn"],
            ["sql", "SELECT eco, count(*) FROM games GROUP BY eco"],
            ["verify"],
        ]:
            measure(program, database, command, name)
    serve(program, database, name, lines)
    if options.backup:
        try:
            measure(program, database, ["backup", str(options.backup.resolve())], name)
        finally:
            options.backup.unlink(missing_ok=True)


if __name__ == "__main__":
    main()
