"""Keeping standard output for reports: Blender prints to it too, what it reads and saves."""

from __future__ import annotations

import ctypes
import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout, suppress


@contextmanager
def output_dropped() -> Iterator[None]:
    """Whatever is printed to standard output meanwhile, by C code too, is dropped."""
    _flush()
    kept = os.dup(1)
    with open(os.devnull, "w") as nowhere:
        os.dup2(nowhere.fileno(), 1)
    try:
        with redirect_stdout(io.StringIO()):
            yield
    finally:
        _flush()
        os.dup2(kept, 1)
        os.close(kept)


def _flush() -> None:
    sys.stdout.flush()
    # C buffers on its own; where its library cannot be reached, what it holds comes out later.
    with suppress(OSError, AttributeError, TypeError):
        ctypes.CDLL(None).fflush(None)
