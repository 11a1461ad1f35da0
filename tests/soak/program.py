"""The program as a child process: run, killed at some moment, its memory measured."""

import re
import signal
import subprocess
import time
from pathlib import Path


def anonymous(pid):
    """The private memory of a process in MiB, without pages of mapped files."""
    try:
        found = re.search(r"RssAnon:\s+(\d+)", Path(f"/proc/{pid}/status").read_text())
    except OSError:
        return 0
    return int(found[1]) // 1024 if found else 0


class Failed(Exception):
    """A check has failed."""


class Program:
    BUSY = 4

    def __init__(self, path, directory):
        self.path = path
        self.directory = directory
        self.durations = {}
        self.most_memory = {}
        self.busy = 0

    def start(self, *arguments, **options):
        return subprocess.Popen([self.path, *map(str, arguments)], cwd=self.directory, stdin=subprocess.DEVNULL, **options)

    def run(self, *arguments, good=(0,)):
        """Runs a command to its end, and returns its output. If the database is busy, the command is repeated."""
        for _ in range(20):
            status, printed, error_output = self.attempt(arguments, None)
            if status != self.BUSY:
                break
            self.busy += 1
            time.sleep(1)
        if status not in good:
            raise Failed(f"{' '.join(map(str, arguments))}: status {status}\n{printed[-2000:]}{error_output[-2000:]}")
        return printed

    def kill(self, delay, *arguments):
        """Runs a command, and kills it if it still runs after this many seconds. Returns whether it was killed."""
        return self.attempt(arguments, delay)[0] == -signal.SIGKILL

    def attempt(self, arguments, delay):
        began = time.monotonic()
        out, errors = self.directory / "stdout", self.directory / "stderr"
        with open(out, "wb") as output, open(errors, "wb") as error_output:
            process = self.start(*arguments, stdout=output, stderr=error_output)
        while process.poll() is None:
            self.most_memory[arguments[0]] = max(self.most_memory.get(arguments[0], 0), anonymous(process.pid))
            passed = time.monotonic() - began
            if delay is not None and passed >= delay:
                process.kill()
            time.sleep(0.005 if delay is None else max(0.0, min(0.005, delay - passed)))
        if process.returncode == 0:
            self.durations[arguments[0]] = time.monotonic() - began
        return process.returncode, out.read_text(encoding="utf-8"), errors.read_text(encoding="utf-8", errors="replace")
