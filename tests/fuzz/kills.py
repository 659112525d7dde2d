"""Kill runs at random moments: every output stays whole, the old one or the new one.

`python -m tests.fuzz.kills --kills 300 --seed 0`
"""

from __future__ import annotations

import argparse
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

from .__main__ import say
from .runs import command, release_faults, report_faults, run, settings_faults, write_table

RECORDS = 20_000
LISTENS = 0.6  # share of a run after which a command is surely up and answers signals itself
SIGNALS = (signal.SIGKILL, signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGINT)


class Killing:
    """Starts the same run over old outputs again and again, and stops it in the middle."""

    def __init__(
        self,
        folder: Path,
        seed: int,
        records: int = RECORDS,
        signals: tuple[signal.Signals, ...] = SIGNALS,
        is_compiled: bool = False,
    ) -> None:
        self.folder = folder
        self.rng = random.Random(seed)
        self.signals = signals
        self.table = folder / "table.csv"
        self.outputs = [folder / name for name in ("release.csv", "report.html", "settings.toml")]
        write_table(self.table, records)
        release, report, settings = map(str, self.outputs)
        self.command = command(self.table, Path(release), "--overwrite", "--report", report)
        self.command += ["--save-settings", settings]
        self.results: Counter[str] = Counter()
        if not is_compiled:
            run(self.command)
        begun = time.monotonic()
        first = run(self.command)
        self.seconds = time.monotonic() - begun
        if first.returncode:
            raise RuntimeError(first.stderr)

    def kill(self) -> list[str]:
        """Kill one run; return what is wrong afterwards."""
        before = [path.read_bytes() for path in self.outputs]
        number = self.rng.choice(self.signals)
        process = subprocess.Popen(
            self.command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        early = self._wait(process)
        process.send_signal(number)
        _, said = process.communicate(timeout=60)
        after = [path.read_bytes() if path.exists() else b"" for path in self.outputs]
        changed = sum(old != new for old, new in zip(before, after, strict=True))
        ended = "ended before" if process.returncode == 0 else f"{number.name}, {changed} new"
        self.results[ended] += 1
        found = [
            *release_faults(self.outputs[0], self.table),
            *report_faults(self.outputs[1]),
            *settings_faults(self.outputs[2]),
        ]
        left = [path for path in self.folder.iterdir() if path not in (*self.outputs, self.table)]
        if number != signal.SIGKILL and not early:
            if left:
                found.append(f"{number.name} leaves {len(left)} unfinished files")
            if "Traceback" in said:
                found.append(f"{number.name} shows a traceback")
            if process.returncode and not changed and "nothing was written" not in said.lower():
                code = process.returncode
                found.append(f'{number.name}, code {code}: not "nothing was written" but {said!r}')
        for path in left:
            path.unlink()
        return found

    def _wait(self, process: subprocess.Popen[str]) -> bool:
        """Wait for a random moment; whether it may come before the command is up."""
        if self.rng.random() < 0.4:
            moment = self.rng.random() * self.seconds
            time.sleep(moment)
            return moment < LISTENS * self.seconds
        known = {*self.outputs, self.table}
        while process.poll() is None and known.issuperset(self.folder.iterdir()):
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
    with TemporaryDirectory() as folder:
        killing = Killing(Path(folder), given.seed)
        for number in range(given.kills):
            for fault in killing.kill():
                failures += 1
                say(f"kill {number} of seed {given.seed}: {fault}")
    say(f"{given.kills} kills, {failures} failures")
    for result, count in killing.results.most_common():
        say(f"{count:8} {result}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
