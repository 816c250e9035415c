"""Work in steps: generators that yield the share of it done (0..1) now and then, and return its result."""

from __future__ import annotations

from collections.abc import Generator
from typing import TypeVar

Result = TypeVar("Result")


def finish(steps: Generator[object, None, Result]) -> Result:
    """Run the steps to their end and return what they return."""
    while True:
        try:
            next(steps)
        except StopIteration as done:
            return done.value


def scaled(steps: Generator[float, None, Result], low: float, high: float) -> Generator[float, None, Result]:
    """Steps of which 0..1 is shown as low..high."""
    while True:
        try:
            share = next(steps)
        except StopIteration as done:
            return done.value
        yield low + share * (high - low)
