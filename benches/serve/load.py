"""Requests the moves played in many openings from `pgndex serve`, at a given rate, and prints the latencies.

    pgndex serve games.db &
    python3 benches/serve/load.py http://127.0.0.1:9002                        200 per second, for 20 seconds
    python3 benches/serve/load.py http://127.0.0.1:9002 --sql                  while other clients send SQL without a pause
    python3 benches/serve/load.py http://127.0.0.1:9002 --lines lines.txt      only writes the requests, for wrk (requests.lua)

Each request is due at a fixed time, even if earlier requests are not answered yet. Its latency counts from that time. The lines are the
first half-moves of random games: about half of the lines have up to 8 half-moves, the rest up to 20.
"""

import argparse
import http.client
import json
import random
import sys
import threading
import time
from pathlib import Path
from urllib.parse import urlsplit

SLOW_SQL = "SELECT count(*) FROM game a, game b WHERE a.ply_count < b.ply_count"


def get(connection, target, body=None):
    connection.request("POST" if body else "GET", target, body, {"Content-Type": "application/json"} if body else {})
    answer = connection.getresponse()
    return answer.status, answer.read()


def lines(connection, number, seed):
    draw = random.Random(seed)
    status, body = get(connection, "/api/info")
    if status != 200:
        sys.exit(f"/api/info: {status}: {body.decode()}")
    games = json.loads(body)["games"]
    found = []
    while len(found) < number:
        status, body = get(connection, f"/api/game/{draw.randint(1, games)}")
        if status != 200:
            continue
        game = json.loads(body)
        if game["start_fen"]:
            continue
        moves = [ply["uci"] for ply in game["plies"] if ply.get("uci")][: draw.randint(0, draw.choice([8, 20]))]
        found.append("/lichess?play=" + ",".join(moves))
    return found


def send_requests(address, targets, start, rate, share, workers, taken, wrong):
    """Sends every `workers`th request, beginning with request `share`, when it is due."""
    connection = http.client.HTTPConnection(address)
    for at in range(share, len(targets), workers):
        due = start + at / rate
        time.sleep(max(0.0, due - time.monotonic()))
        try:
            status, _ = get(connection, targets[at])
        except OSError as error:
            status, connection = str(error), http.client.HTTPConnection(address)
        taken.append(time.monotonic() - due)
        if status != 200:
            wrong.append(status)


def send_sql(address, end, statuses):
    connection = http.client.HTTPConnection(address)
    while time.monotonic() < end:
        status, _ = get(connection, "/api/sql", json.dumps({"sql": SLOW_SQL}))
        statuses[status] = statuses.get(status, 0) + 1


def memory(pid):
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("RssAnon"):
            return int(line.split()[1]) // 1024
    return 0


def main():
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("address")
    words.add_argument("--rate", type=float, default=200, help="requests per second")
    words.add_argument("--seconds", type=float, default=20)
    words.add_argument("--sql", action="store_true", help="meanwhile, eight more clients send SQL that does not end before the timeout")
    words.add_argument("--workers", type=int, default=16, help="connections")
    words.add_argument("--different", type=int, default=2000, help="different lines")
    words.add_argument("--seed", type=int, default=1)
    words.add_argument("--pid", type=int, help="process id of the server: print its memory before and after")
    words.add_argument("--lines", type=Path, help="only write the lines to this file")
    options = words.parse_args()
    address = urlsplit(options.address).netloc
    found = lines(http.client.HTTPConnection(address), options.different, options.seed)
    if options.lines:
        options.lines.write_text("".join(f"{line}\n" for line in found))
        return 0
    targets = [found[at % len(found)] for at in range(int(options.rate * options.seconds))]
    taken, wrong, statuses = [], [], {}
    before = memory(options.pid) if options.pid else None
    start = time.monotonic() + 0.2
    threads = [
        threading.Thread(target=send_requests, args=(address, targets, start, options.rate, share, options.workers, taken, wrong))
        for share in range(options.workers)
    ]
    if options.sql:
        threads += [threading.Thread(target=send_sql, args=(address, start + options.seconds, statuses)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    taken.sort()
    percentiles = ", ".join(f"{name} {taken[min(len(taken) - 1, int(len(taken) * share))] * 1000:.1f} ms"
                            for name, share in [("median", 0.5), ("90 %", 0.9), ("99 %", 0.99), ("99.9 %", 0.999), ("slowest", 1)])
    print(f"{len(taken)} requests, {options.rate:g} per second: {percentiles}; {len(wrong)} not answered {sorted(set(wrong))}")
    if options.sql:
        print(f"SQL meanwhile: {statuses}")
    if options.pid:
        print(f"memory of the server: {before} MiB before, {memory(options.pid)} MiB after")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
