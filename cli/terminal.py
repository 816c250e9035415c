"""All that reaches the terminal: results on standard output, remarks and errors on standard error.

Names come from files of strangers: what would steer a terminal, or turn a line round, is shown as its number.
"""

from __future__ import annotations

import io
import logging
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from .errors import UsageError

LONGEST = 2000  # characters of a remark or an error

ROOT = __package__.rpartition(".")[0]
# Control characters but the end of a line, the marks that change the direction of text, and halves of surrogate pairs.
_STEERING = re.compile("[\0-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def plain(text: str) -> str:
    """The text with its escape of JSON for what is no letter, mark or end of a line."""
    return _STEERING.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def out(text: str, *written: str) -> None:
    """Print a result. Whoever read standard output may have seen enough (| head): that is no error. Where it cannot be
    written otherwise and the command has `written` files, it has done what was asked: that is said, and no more. Raises
    UsageError where what is printed was all."""
    try:
        print(plain(text), flush=True)
    except BrokenPipeError:
        _drop_output()
    except OSError as error:
        _drop_output()
        problem = f"standard output: cannot be written ({error.strerror})"
        if not written:
            raise UsageError(problem) from None
        say(f"{problem}; written: {', '.join(written)}")


def say(line: str) -> None:
    """A remark for the person at the terminal, on one line; standard output is for the report."""
    line = " ".join(line.split())
    tell(f"robokin: {line if len(line) <= LONGEST else line[:LONGEST] + '...'}\n")


def tell(text: str) -> None:
    """On standard error; where that is gone, there is nobody to tell."""
    with suppress(OSError):
        print(plain(text), end="", file=sys.stderr, flush=True)


def show_progress(share: float | None) -> None:
    """The share of the work that is done, for a person at a terminal; None ends it."""
    with suppress(OSError):
        if sys.stderr.isatty():
            print("\r" if share is None else f"\r{share:4.0%} ", end="", file=sys.stderr, flush=True)


def _drop_output() -> None:
    """What is still to come, from C code too, and what Python could not write before it ends."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


def open_streams() -> None:
    """Standard streams that were closed lead nowhere: else the next file to be opened takes their number, and what C
    code prints is written into it. Names of any alphabet can be printed, on terminals of any."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest free number: this one
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w")
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


class _Saying(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        say(record.getMessage())


@contextmanager
def log_shown() -> Iterator[None]:
    """What the package logs meanwhile is said."""
    logger, handler = logging.getLogger(ROOT), _Saying(logging.WARNING)
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)
