"""Ctrl+C while Blender works, or modules are imported. Blender takes an exception that comes out of its own calls for a
fault, or crashes; one that comes out of an import is lost, or NumPy takes it for a bad installation."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from typing import TypeVar

from .terminal import show_progress

Result = TypeVar("Result")


class _Held:
    """A handler of the signal that remembers it; the second time it ends the process."""

    def __init__(self) -> None:
        self.came = False

    def __call__(self, *_: object) -> None:
        if self.came:
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            os.kill(os.getpid(), signal.SIGINT)
        self.came = True


def _is_ours() -> bool:
    """Python's own answer to the signal is in place, and this thread may change it."""
    is_first = threading.current_thread() is threading.main_thread()
    return is_first and signal.getsignal(signal.SIGINT) is signal.default_int_handler


@contextmanager
def interrupts_held() -> Iterator[None]:
    """Ctrl+C waits for `check_interrupt`, or for the end of the block. Elsewhere than in a program of Python's own,
    where it is not Python that is asked, and in other threads than the first, nothing is changed. Raises
    KeyboardInterrupt."""
    if not _is_ours():
        yield
        return
    handler = _Held()
    signal.signal(signal.SIGINT, handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if handler.came:
        raise KeyboardInterrupt


def check_interrupt() -> None:
    """Between two steps of the work. Raises KeyboardInterrupt when Ctrl+C came."""
    handler = signal.getsignal(signal.SIGINT)
    if isinstance(handler, _Held) and handler.came:
        raise KeyboardInterrupt


def run_steps(steps: Generator[float, None, Result]) -> Result:
    """What a generator of shares of work done (0..1) returns; a person at a terminal sees the shares."""
    while True:
        check_interrupt()
        try:
            show_progress(next(steps))
        except StopIteration as done:
            show_progress(None)
            check_interrupt()
            return done.value


def ignore_interrupts() -> None:
    """For the rest of a program of Python's own, whose work is done: what ends it, Blender's part and Python's, would
    take Ctrl+C for a fault."""
    if _is_ours():
        signal.signal(signal.SIGINT, signal.SIG_IGN)
