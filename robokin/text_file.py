"""Files of text: read with one line of what is wrong, written whole or not at all."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from .arrays import shown
from .errors import FileFormatError

MAX_BYTES = 16 * 1024 * 1024  # ten times the largest real robot; seconds and megabytes, were it all attributes


def read_bytes(path: str | os.PathLike, what: str) -> bytes:
    """At most MAX_BYTES + 1 bytes of the file, which should be `what`. Raises FileFormatError."""
    name = checked_path(path, what)
    try:
        if not os.path.exists(name):
            raise FileFormatError(name, None, "no such file")
        if os.path.isdir(name):
            raise FileFormatError(name, None, f"this is a folder, not {what}")
        if not os.path.isfile(name):
            raise FileFormatError(name, None, "not a regular file")
        with open(name, "rb") as file:
            return file.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:  # ValueError: a null byte
        reason = getattr(error, "strerror", None) or str(error)
        raise FileFormatError(name, None, f"cannot be read: {reason}") from None


def checked_path(path: object, what: str) -> str:
    """The path of a file, which should be `what`. Raises FileFormatError for what is no path."""
    if not isinstance(path, (str, os.PathLike)):
        raise FileFormatError(shown(path), None, f"is not the path of {what}")
    return os.fspath(path)


def write_text(path: str | os.PathLike, text: str) -> None:
    """Raises FileFormatError when the file cannot be written; a file that was there is then as it was."""
    write_bytes(path, text.encode("utf-8"))


def write_bytes(path: str | os.PathLike, data: bytes) -> None:
    """As `write_text`."""
    try:
        target = Path(os.path.realpath(path))
        part = target.with_name(f".{target.name}.{os.getpid()}.part")
        try:
            with open(part, "xb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            os.replace(part, target)
        except OSError:
            with suppress(OSError):
                part.unlink()
            raise
    except (OSError, ValueError) as error:  # ValueError: a null byte, or no file name at all
        reason = getattr(error, "strerror", None) or str(error)
        raise FileFormatError(path, None, f"cannot be written: {reason}") from None
