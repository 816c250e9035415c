"""Keeping standard output for reports: Blender prints to it, from C."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress


@contextmanager
def output_to_stderr() -> Iterator[None]:
    """Whatever is printed meanwhile, by C code too, goes to standard error."""
    kept = os.dup(1)
    _flush()
    os.dup2(2, 1)
    try:
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
