"""Commands on damaged Blender files, in a process of their own: a damaged file may end Blender.

`worked` starts it and gives what became of each input; `work` is that process.
"""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import NamedTuple

from support.hostile.fuzzing import bounded, inputs
from support.hostile.mutations import mutated

TESTS = Path(__file__).resolve().parents[2]
START = "import sys\nsys.path.insert(0, sys.argv[1])\nimport conftest\n" + (
    "from support.hostile.damaged_blends import work\nwork(*sys.argv[2:5], int(sys.argv[5]))\n"
)
SILENT = 60  # seconds without a word: Blender goes round in what the damage made a circle
MEMORY = 12 << 30

FILE, OUT = "damaged.blend", "out"
COMMANDS = (
    ["info", FILE],
    ["check", FILE, "--frames", "1:2"],
    ["bake", FILE, "--frames", "1:2", "-o", f"{OUT}.blend"],
    ["bake", FILE, "--frames", "1:2"],
    ["solve", FILE, "--task", "kind=position,tip=panda_hand,target=0.4:0.1:0.5"],
    ["export", FILE, "--frames", "1:2", "-o", f"{OUT}.csv"],
    ["export", FILE, "-o", f"{OUT}.urdf"],
    ["export", FILE, "-o", f"{OUT}.srdf"],
)


class End(NamedTuple):
    """code: of the command; None where the process ended in the middle, err then being where it was in Python.
    written: names of files."""

    number: int
    line: list[str]
    code: int | None
    err: str
    written: list[str]


def damaged_blend(rng: random.Random, data: bytes) -> bytes:
    """Mostly with some bytes changed, so that what is around them is read; else as any file."""
    if rng.random() < 0.3:
        return mutated(data, rng)
    damaged = bytearray(data)
    for _ in range(rng.choice((1, 1, 3, 10, 100))):
        at = rng.randrange(len(damaged) - 8)
        if rng.random() < 0.3:
            damaged[at : at + 8] = rng.choice((b"\0" * 8, b"\xff" * 8, rng.randbytes(8), (2**31).to_bytes(8, "little")))
        else:
            damaged[at] = rng.randrange(256)
    return bytes(damaged)


def work(source: str, folder: str, name: str, first: int) -> None:
    """Take the inputs from the first one on, in the folder. What each came to is a line of the file `log` in it."""
    import faulthandler
    import os
    import resource

    import robokin_addon
    from robokin_addon.cli import main

    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.chdir(folder)
    faulthandler.enable()  # on standard error
    robokin_addon.register()
    data = Path(source).read_bytes()
    with open("log", "a") as log:
        for number, rng in inputs(COUNT, name):
            if number < first:
                continue
            line = rng.choice(COMMANDS)
            for path in _written(Path()):
                path.unlink()
            Path(FILE).write_bytes(damaged_blend(rng, data))
            log.write(json.dumps([number, line]) + "\n")
            log.flush()
            err = StringIO()
            with redirect_stderr(err), redirect_stdout(StringIO()), bounded(SILENT // 2, (number, line)):
                code = main(line)
            names = [path.name for path in _written(Path())]
            log.write(json.dumps([number, line, code, err.getvalue(), names]) + "\n")
            log.flush()
    robokin_addon.unregister()


COUNT = 300


def worked(source: Path, folder: Path, name: str) -> Iterator[End]:
    """What became of each input."""
    first, log = 0, folder / "log"
    total = sum(1 for _ in inputs(COUNT, name))
    while first < total:
        log.write_text("")
        with open(folder / "err", "w+") as err:
            arguments = map(str, (TESTS, source, folder, name, first))
            process = subprocess.Popen([sys.executable, "-c", START, *arguments], stdout=subprocess.DEVNULL, stderr=err)
            code = _ended(process, log)
            err.seek(0)
            told = err.read()
        rows = [json.loads(line) for line in log.read_text().splitlines()]
        yield from (End(*row) for row in rows if len(row) > 2)
        if not rows or len(rows[-1]) > 2:
            assert code == 0, (name, first, code, told[-3000:])
            return
        assert code < 0, (name, rows[-1], code, told[-3000:])  # a signal: of Blender, of the system, or ours
        yield End(*rows[-1], None, f"{signal.Signals(-code).name}\n{told}", [path.name for path in _written(folder)])
        first = rows[-1][0] + 1


def _written(folder: Path) -> list[Path]:
    """By a command; where it replaces its own file, what that was."""
    return [*folder.glob(f"{OUT}.*"), *folder.glob(f"{FILE}1"), *folder.glob(".robokin-*")]


def _ended(process: subprocess.Popen, log: Path) -> int:
    while True:
        size = log.stat().st_size
        try:
            return process.wait(SILENT)
        except subprocess.TimeoutExpired:
            if log.stat().st_size == size:
                process.kill()
