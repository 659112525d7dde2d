"""Kill runs at random moments: every file, and every table of a database, stays whole, the old one or the new one.

`python -m tests.fuzz.kills --kills 300 --seed 0`
"""

from __future__ import annotations

import argparse
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

from .__main__ import say
from .jobs import Job, jobs
from .runs import run

RECORDS = 20_000
LISTENS = 0.6  # share of a run after which a command is surely up and answers signals itself
SIGNALS = (signal.SIGKILL, signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGINT)


class Killing:
    """Starts the same run over old outputs again and again, and stops it in the middle."""

    def __init__(
        self,
        job: Job,
        seed: int,
        signals: tuple[signal.Signals, ...] = SIGNALS,
        is_compiled: bool = False,
    ) -> None:
        self.job = job
        self.rng = random.Random(seed)
        self.signals = signals
        self.results: Counter[str] = Counter()
        if not is_compiled:
            run(job.command)
        begun = time.monotonic()
        first = run(job.command)
        self.seconds = time.monotonic() - begun
        if first.returncode:
            raise RuntimeError(first.stderr)

    def kill(self) -> list[str]:
        """Kill one run; return what is wrong afterwards."""
        before = self.job.content()
        number = self.rng.choice(self.signals)
        process = subprocess.Popen(
            self.job.command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        early = self._wait(process)
        process.send_signal(number)
        _, said = process.communicate(timeout=60)
        left = self.job.left()
        found = self.job.faults()  # a database may have to undo things first
        after = self.job.content() if not found else before
        changed = sum(old != new for old, new in zip(before, after, strict=True))
        ended = "ended before" if process.returncode == 0 else f"{number.name}, {changed} new"
        self.results[f"{self.job.name}: {ended}"] += 1
        if number != signal.SIGKILL and not early:
            if left:
                found.append(f"{number.name} leaves {len(left)} unfinished files")
            if "Traceback" in said:
                found.append(f"{number.name} shows a traceback")
            if process.returncode and not changed and "nothing was written" not in said.lower():
                code = process.returncode
                found.append(f'{number.name}, code {code}: not "nothing was written" but {said!r}')
        for path in self.job.left():
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        return found

    def _wait(self, process: subprocess.Popen[str]) -> bool:
        """Wait for a random moment; whether it may come before the command is up."""
        if self.rng.random() < 0.4:
            moment = self.rng.random() * self.seconds
            time.sleep(moment)
            return moment < LISTENS * self.seconds
        while process.poll() is None and not self.job.writes():
            time.sleep(0.0005)
        time.sleep(self.rng.random() ** 3 * 0.3 * self.seconds)  # mostly a few milliseconds
        return False


def main() -> int:
    """Kill as many runs as asked for; 1 if an output suffered."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.kills", description=__doc__)
    parser.add_argument("--kills", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    failures = 0
    results: Counter[str] = Counter()
    with TemporaryDirectory() as folder:
        made = jobs(Path(folder), RECORDS)
        try:
            for number, job in enumerate(made):
                killing = Killing(job, given.seed * len(made) + number, is_compiled=number > 0)
                for kill in range(number, given.kills, len(made)):
                    for fault in killing.kill():
                        failures += 1
                        say(f"kill {kill} of seed {given.seed}, {job.name}: {fault}")
                results += killing.results
        finally:
            for job in made:
                job.close()
    say(f"{given.kills} kills, {failures} failures")
    for result, count in sorted(results.items()):
        say(f"{count:8} {result}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
