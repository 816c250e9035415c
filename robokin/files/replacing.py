"""A file written beside the old one, which it then replaces: whole, or not at all."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ..errors import FileFormatError


@contextmanager
def replacing(path: str | os.PathLike) -> Iterator[Path]:
    """A path in the same folder, for the block to write; what is there when the block ends becomes the file `path`.

    Until then, and when the block raises, the file that was there stays. A link stays too: what it leads to is
    replaced. Permissions, and where it is allowed the owner, are those of the file that was there. Raises
    FileFormatError, also for an OSError of the block.
    """
    try:
        target = Path(os.path.realpath(path))
        old = os.stat(target) if target.exists() else None
        if old is not None:
            _check_replaceable(target, old)
        part = beside(target)
        try:
            yield part
            _sync(part)
            if old is not None:
                _take_after(part, old)
            os.replace(part, target)
        finally:
            with suppress(OSError):
                part.unlink()
    except (OSError, ValueError) as error:  # ValueError: a null byte, or no file name at all
        reason = getattr(error, "strerror", None) or str(error)
        raise FileFormatError(path, None, f"cannot be written: {reason}") from None


def beside(target: Path) -> Path:
    """A path in the folder of `target` that is nobody else's. Its name is short: that of the target may be as long as
    the file system allows."""
    return target.with_name(f".robokin-{os.urandom(8).hex()}.part")


def _check_replaceable(target: Path, old: os.stat_result) -> None:
    # A rename asks only for rights to the folder, and would take the place of any file.
    if stat.S_ISDIR(old.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if not stat.S_ISREG(old.st_mode):
        raise OSError(errno.EINVAL, "not a regular file")
    if not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))


def _sync(part: Path) -> None:
    """Some file systems find only now that they are full."""
    with open(part, "rb+") as file:
        os.fsync(file.fileno())


def _take_after(part: Path, old: os.stat_result) -> None:
    # A file system that knows no owners or permissions has none to keep.
    for owner, group in ((-1, old.st_gid), (old.st_uid, -1)):
        with suppress(OSError, AttributeError):
            os.chown(part, owner, group)
    with suppress(OSError):
        os.chmod(part, stat.S_IMODE(old.st_mode))
