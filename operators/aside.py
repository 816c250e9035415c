"""Computing in a thread of its own, so that Blender's window lives on; nothing of Blender may be touched there."""

from __future__ import annotations

from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotYet
from typing import TypeVar

Shown = TypeVar("Shown")
Result = TypeVar("Result")

_LOOK = 0.02  # seconds between two looks whether a step is done


def aside(steps: Generator[Shown, None, Result], first: Shown) -> Generator[Shown, None, Result]:
    """The same steps, each taken in a thread; while one takes long the last value (at first `first`) is yielded again.

    Closed early, it leaves the step that is being taken to end on its own.
    """

    def advance() -> tuple[Shown, None] | tuple[None, Result]:
        try:
            return next(steps), None
        except StopIteration as done:
            ended.append(True)
            return None, done.value

    ended: list[bool] = []
    shown = first
    worker = ThreadPoolExecutor(1, "robokin")
    try:
        while True:
            step = worker.submit(advance)
            while True:
                try:
                    value, result = step.result(_LOOK)
                    break
                except NotYet:
                    yield shown
            if ended:
                return result
            shown = value
            yield shown
    finally:
        worker.shutdown(wait=False)
