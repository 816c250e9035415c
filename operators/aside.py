"""Computing in a thread of its own, so that Blender's window lives on; nothing of Blender may be touched there."""

from __future__ import annotations

from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotYet
from typing import TypeVar

Shown = TypeVar("Shown")
Result = TypeVar("Result")

_LOOK = 0.02  # seconds between two looks whether it is done


def aside(steps: Generator[Shown, None, Result], first: Shown) -> Generator[Shown, None, Result]:
    """Run the steps to their end in a thread; yield the last value they gave (at first `first`) now and then, return
    what they return. Closed early, it lets the step that is being taken be the last one."""
    shown, stopped = [first], [False]

    def run() -> Result | None:
        while not stopped[0]:
            try:
                shown[0] = next(steps)
            except StopIteration as done:
                return done.value
        return None

    worker = ThreadPoolExecutor(1, "robokin")
    try:
        running = worker.submit(run)
        while True:
            try:
                return running.result(_LOOK)
            except NotYet:
                yield shown[0]
    finally:
        stopped[0] = True
        worker.shutdown(wait=False)
