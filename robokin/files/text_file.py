"""Files of text: read with one line of what is wrong, written whole or not at all."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager

from ..arrays import shown
from ..errors import FileFormatError
from .replacing import replacing

MAX_BYTES = 16 * 1024 * 1024  # ten times the largest real robot; seconds and megabytes, were it all attributes


def read_text(path: str | os.PathLike, what: str, most: int = MAX_BYTES) -> str:
    """The text of the file, which should be `what`, of at most so many bytes. Raises FileFormatError."""
    data = read_bytes(path, what, most)
    if len(data) > most:
        raise FileFormatError(path, None, f"the file is larger than {most >> 20} MB")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise FileFormatError(path, line, "this is not text in UTF-8") from None


def read_bytes(path: str | os.PathLike, what: str, most: int = MAX_BYTES) -> bytes:
    """The first bytes of the file, one more than allowed at most, which should be `what`. Raises FileFormatError."""
    name = checked_path(path, what)
    try:
        if not os.path.exists(name):
            raise FileFormatError(name, None, "no such file")
        if os.path.isdir(name):
            raise FileFormatError(name, None, f"this is a folder, not {what}")
        if not os.path.isfile(name):
            raise FileFormatError(name, None, "not a regular file")
        with open(name, "rb") as file:
            return file.read(most + 1)
    except (OSError, ValueError) as error:  # ValueError: a null byte
        reason = getattr(error, "strerror", None) or str(error)
        raise FileFormatError(name, None, f"cannot be read: {reason}") from None


def parse_json(text: str, path: str | os.PathLike) -> object:
    """What a text of JSON holds. Raises FileFormatError."""
    try:
        return json.loads(text)
    except json.JSONDecodeError as problem:
        raise FileFormatError(path, problem.lineno, f"is not JSON: {problem.msg}") from None
    except (ValueError, RecursionError) as problem:  # a number of thousands of digits, lists in lists in lists
        raise FileFormatError(path, None, f"is not JSON: {problem}") from None


def number(text: str) -> float:
    """The number that a text of a file is. Raises ValueError, also for 1_000 and digits of other scripts, which Python
    takes."""
    if "_" in text or not text.isascii():
        raise ValueError(f"could not convert string to float: {text!r}")
    return float(text)


def checked_path(path: object, what: str) -> str:
    """The path of a file, which should be `what`. Raises FileFormatError for what is no path."""
    if not isinstance(path, (str, os.PathLike)):
        raise FileFormatError(shown(path), None, f"is not the path of {what}")
    return os.fspath(path)


def write_text(path: str | os.PathLike, text: str) -> None:
    """Raises FileFormatError when the file cannot be written; a file that was there is then as it was."""
    write_files({path: text})


def write_files(files: Mapping[str | os.PathLike, str | bytes]) -> None:
    """Write several files as `write_text` does, all or none. The last takes its place first."""
    with ExitStack() as stack:
        for path, content in files.items():
            stack.enter_context(written(path, content))


@contextmanager
def written(path: str | os.PathLike, content: str | bytes) -> Iterator[None]:
    """The content is on the disk when the block begins, and is the file `path` when it ends; when the block raises, the
    file is as it was. A device or a pipe, in which nothing can be lost, gets it at once. Raises FileFormatError."""
    data = _data(path, content)
    if _is_special(path):
        try:
            with open(path, "wb") as file:
                file.write(data)
        except OSError as error:
            raise FileFormatError(path, None, f"cannot be written: {error.strerror}") from None
        yield
        return
    with replacing(path) as part:
        with open(part, "xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        yield


def _is_special(path: str | os.PathLike) -> bool:
    return os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path)


def _data(path: str | os.PathLike, content: str | bytes) -> bytes:
    if isinstance(content, bytes):
        return content
    try:
        return content.encode("utf-8")
    except UnicodeEncodeError as error:  # half of a surrogate pair
        raise FileFormatError(path, None, f"cannot be written: {error.reason} (character {error.start})") from None
