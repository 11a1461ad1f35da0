"""`pgndex serve` under load, while the database is written to."""

import http.client
import json
import random
import signal
import subprocess
import threading

from program import Failed, anonymous

CLIENTS = 3
# Seconds between two requests of a client.
PAUSE = 0.1
# The statuses with which an overloaded server may respond.
OVERLOADED = (503, 504)


class Server:
    """For each step of the work, `possible` lists the numbers of games with a result that may be seen. It only
    grows."""

    def __init__(self, program, database, lines, possible, seed):
        self.program, self.database, self.lines, self.possible = program, database, lines, possible
        self.requests = self.overloaded = self.restarts = 0
        self.faults, self.memory = [], []
        self.log = open(program.directory / "serve.log", "ab")
        self.is_over = threading.Event()
        self.lock = threading.Lock()
        self.begin()
        self.clients = [threading.Thread(target=self.send_requests, args=(random.Random(seed + at),)) for at in range(CLIENTS)]
        for client in self.clients:
            client.start()

    def begin(self):
        process = self.program.start(
            "serve", self.database, "--listen", "127.0.0.1:0", "--log-format", "json", "--sql-timeout", "10",
            stdout=subprocess.PIPE, stderr=self.log, text=True,
        )
        line = process.stdout.readline()
        if "http://" not in line:
            raise Failed(f"serve did not print its address: {line!r}")
        self.process, self.address = process, line.strip().split("http://")[1].rstrip("/")

    def kill(self):
        with self.lock:
            self.process.kill()
            self.process.wait()
            self.restarts += 1
            self.memory.clear()
            self.begin()

    def look(self):
        self.memory.append(anonymous(self.process.pid))
        if self.process.poll() is not None:
            raise Failed(f"serve ended with status {self.process.returncode}")
        if self.faults:
            raise Failed(self.faults[0])

    def stop(self):
        """Ends the remaining processes, whatever their state."""
        self.is_over.set()
        for client in self.clients:
            client.join()
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.log.close()

    def end(self):
        """Stops the server as an operator does."""
        self.is_over.set()
        for client in self.clients:
            client.join()
        self.process.send_signal(signal.SIGTERM)
        try:
            status = self.process.wait(20)
        except subprocess.TimeoutExpired:
            raise Failed("serve did not end when it was asked to") from None
        if status != 0:
            raise Failed(f"serve ended with status {status} when it was asked to end")

    def send_requests(self, draw):
        """One client: it sends one request after the other, and checks the responses."""
        connection, process, has_answered = None, None, False
        while not self.is_over.wait(PAUSE):
            if connection is None or process is not self.process:
                with self.lock:
                    process, connection = self.process, http.client.HTTPConnection(self.address, timeout=60)
                has_answered = False
            line = draw.choice(self.lines)
            target = draw.choice(["/lichess", f"/lichess?play={line}", f"/api/games?limit=50&play={line}", "/api/info", "/api/sql"])
            step = len(self.possible) - 1
            try:
                status, text = get(connection, target)
                has_answered = True
            except (OSError, http.client.HTTPException) as error:
                connection = None
                # A server that is killed meanwhile cannot respond. A running server may close an idle connection just
                # when a request is sent; every HTTP client then repeats the request on another connection.
                is_closed = has_answered and not isinstance(error, TimeoutError)
                with self.lock:
                    if process is self.process and not is_closed:
                        self.faults.append(f"{target}: {error!r}")
                continue
            self.requests += 1
            self.judge(target, status, text, step)

    def judge(self, target, status, text, step):
        if status in OVERLOADED:
            self.overloaded += 1
            return
        if status != 200:
            self.faults.append(f"{target}: {status}: {text[:500]!r}")
            return
        answer = json.loads(text)
        if target == "/lichess":
            games = answer["white"] + answer["draws"] + answer["black"]
        elif target == "/api/sql":
            games = answer["rows"][0][0]
        else:
            return
        if not any(games in possible for possible in self.possible[step:]):
            self.faults.append(f"{target}: {games} games with a result; there may be {self.possible[step:]}")


def get(connection, target):
    if target == "/api/sql":
        body = json.dumps({"sql": "SELECT count(*) FROM game WHERE result <> '*'"})
        connection.request("POST", target, body, {"Content-Type": "application/json"})
    else:
        connection.request("GET", target)
    answer = connection.getresponse()
    return answer.status, answer.read()
