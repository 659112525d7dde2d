"""Run random cases: `python -m tests.fuzz --minutes 30 --jobs 2`, or one again: `python -m tests.fuzz --case 17`."""

from __future__ import annotations

import argparse
import faulthandler
import json
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from threading import Lock, Thread

HANGS = 120  # seconds that a case may take, compilation included


def main() -> int:
    """Run what the command line asks for; 1 if a case failed."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, help="how long to run")
    parser.add_argument("--cases", type=int, help="how many cases to run")
    parser.add_argument("--start", type=int, default=0, help="the first case")
    parser.add_argument("--case", type=int, help="run this case only")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.worker:
        return _work()
    if given.case is not None:
        given.start, given.cases, given.jobs = given.case, 1, 1
    campaign = _Campaign(given.start, given.cases, given.minutes or (None if given.cases else 1))
    return campaign.run(given.jobs)


def _work() -> int:
    """Run the cases whose numbers come in, a line each, and write what became of them."""
    from .trials import try_case

    for line in sys.stdin:
        faulthandler.dump_traceback_later(HANGS, exit=True)
        outcome = try_case(int(line))
        faulthandler.cancel_dump_traceback_later()
        say(json.dumps([outcome.kind, *outcome.details]))
    return 0


class _Campaign:
    """Hands cases to processes and counts what becomes of them; a process that dies has failed its case."""

    def __init__(self, start: int, cases: int | None, minutes: float | None) -> None:
        self.begun = time.monotonic()
        self.numbers = self._numbers(start, cases, minutes)
        self.lock = Lock()
        self.kinds: Counter[str] = Counter()
        self.reasons: Counter[str] = Counter()
        self.first: dict[str, int] = {}  # the first case that was refused for a reason
        self.failed: list[int] = []

    def _numbers(self, start: int, cases: int | None, minutes: float | None) -> Iterator[int]:
        number = start
        while (cases is None or number < start + cases) and (
            minutes is None or time.monotonic() < self.begun + 60 * minutes
        ):
            yield number
            number += 1

    def run(self, jobs: int) -> int:
        threads = [Thread(target=self._drive) for _ in range(jobs)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self._summarize()
        return 1 if self.failed else 0

    def _drive(self) -> None:
        """Feed one process, and a new one in its place when it dies."""
        worker = None
        while True:
            with self.lock:
                number = next(self.numbers, None)
            if number is None:
                break
            worker = worker or _start()
            assert worker.stdin
            assert worker.stdout
            worker.stdin.write(f"{number}\n")
            worker.stdin.flush()
            answer = worker.stdout.readline()
            if answer:
                kind, *details = json.loads(answer)
            else:
                kind, details = "failed", [f"the process ended with code {worker.wait()}"]
                worker = None
            with self.lock:
                self._count(number, kind, details)
        if worker:
            worker.communicate()

    def _count(self, number: int, kind: str, details: list[str]) -> None:
        self.kinds[kind] += 1
        if kind != "failed":
            self.reasons.update(details)
            for reason in details:
                self.first.setdefault(reason, number)
            return
        self.failed.append(number)
        say(f"case {number} failed; again: python -m tests.fuzz --case {number}")
        for detail in details:
            say(f"    {detail}")

    def _summarize(self) -> None:
        seconds = time.monotonic() - self.begun
        cases = self.kinds.total()
        say(f"{cases} cases, {cases / seconds:.1f} a second, {len(self.failed)} failures")
        for kind, count in self.kinds.most_common():
            say(f"{count:8} {kind}")
        for reason, count in self.reasons.most_common(20):
            say(f"{count:8} refused, like case {self.first[reason]}: {reason[:140]}")


def _start() -> subprocess.Popen[str]:
    command = [sys.executable, "-m", str(__package__), "--worker"]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
