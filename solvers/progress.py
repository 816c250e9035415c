"""Work in steps: generators that yield the share of it done (0..1) now and then, and return its result."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import TypeVar

Report = TypeVar("Report")
Result = TypeVar("Result")
Shown = TypeVar("Shown")


def finish(steps: Generator[object, None, Result]) -> Result:
    """Run the steps to their end and return what they return."""
    while True:
        try:
            next(steps)
        except StopIteration as done:
            return done.value


def scaled(steps: Generator[float, None, Result], low: float, high: float) -> Generator[float, None, Result]:
    """Steps of which 0..1 is shown as low..high."""
    return mapped(steps, lambda share: low + share * (high - low))


def mapped(
    steps: Generator[Report, None, Result], function: Callable[[Report], Shown]
) -> Generator[Shown, None, Result]:
    """Steps that yield `function` of what other steps yield. Ended early, they end those."""
    try:
        while True:
            try:
                report = next(steps)
            except StopIteration as done:
                return done.value
            yield function(report)
    finally:
        steps.close()
