"""Inputs that are different in each run: what is right, damaged at random. The seed is in the head of a run of pytest;
ROBOKIN_FUZZ_SEED=N repeats it, ROBOKIN_FUZZ=N takes N times as many inputs."""

from __future__ import annotations

import os
import random
import secrets
import signal
from collections.abc import Iterator
from contextlib import contextmanager

VARIABLE = "ROBOKIN_FUZZ_SEED"
# Also that of the processes that share the tests of one run.
SEED = int(os.environ.setdefault(VARIABLE, str(secrets.randbelow(10**9))))
TIMES = float(os.environ.get("ROBOKIN_FUZZ", "1"))

NUMBERS = (
    *("0", "-0.0", "1", "-1", "0.5", "1e-300", "-1e-5", "1e100", "1e155", "-1e155", "1e200", "1e308", "-1.7e308"),
    *("1e309", "-inf", "nan", "9" * 400, "9" * 5000, "0x10", "1_000", "٣", "1e", "1,5", "½", "", " ", "true", "null"),
)


def inputs(count: int, name: str) -> Iterator[tuple[int, random.Random]]:
    """(number, generator) of so many inputs, each with a generator of its own."""
    for number in range(round(count * TIMES)):
        yield number, random.Random(f"{SEED} {name} {number}")


@contextmanager
def bounded(seconds: int, what: object) -> Iterator[None]:
    """Raises TimeoutError, naming what ran, when the block takes longer."""

    def stop(*_: object) -> None:
        raise TimeoutError(f"{seconds} s are over ({VARIABLE}={SEED}): {what!r}"[:4000])

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def damaged_text(rng: random.Random, text: str) -> str:
    """One to three small changes."""
    for _ in range(rng.randint(1, 3)):
        at = rng.randint(0, len(text))
        to = min(len(text), at + rng.choice((0, 1, 1, 2, 5, 20)))
        put = rng.choice(
            (
                *("", "", text[at:to] * 2, rng.choice(NUMBERS), rng.choice(NUMBERS), rng.choice(":,=/{}[]\"' -\t\n")),
                chr(
                    rng.choice((1, 7, 8, 13, 27, 127, 0x9B, 0x202E, 0x2028, 0xFEFF, 0x1F916, rng.randrange(1, 0xD800)))
                ),
                text[: rng.randint(0, len(text))],
            )
        )
        text = text[:at] + put + text[to:]
    return text


def damaged_bytes(rng: random.Random, data: bytes) -> bytes:
    """One to five small changes."""
    for _ in range(rng.randint(1, 5)):
        at = rng.randint(0, len(data))
        to = min(len(data), at + rng.choice((0, 1, 1, 4, 100, len(data))))
        put = rng.choice(
            (
                *(b"", b"\0", b"\xff", rng.randbytes(rng.randint(1, 9)), data[at:to] * 2, data[: rng.randint(0, 200)]),
                *(rng.choice(NUMBERS).encode(), rng.choice(NUMBERS).encode(), b"\xc2\x9b", b"&#27;", b"&#xd800;"),
            )
        )
        data = data[:at] + put + data[to:]
    return data
