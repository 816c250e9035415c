"""Robots in xacro, expanded by the package `xacro` (https://pypi.org/project/xacro) where that is installed.

xacro evaluates expressions of the file, and lets it read other files: only for files whose origin is trusted.
"""

from __future__ import annotations

import io
import logging
import os
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, redirect_stderr
from typing import Any
from xml.parsers.expat import ExpatError

from ..errors import ConfigurationError, FileFormatError, ModelError, RobokinError, UnknownNameError
from ..resources import PackagePaths, ResourceFinder
from .xml import shorten

logger = logging.getLogger(__name__)

ENDING = ".xacro"

_alone = threading.Lock()


def is_xacro(path: str | os.PathLike) -> bool:
    return os.fspath(path).lower().endswith(ENDING)


def parse_xacro_args(texts: Iterable[str]) -> dict[str, str]:
    """{name: value} of texts `name:=value`. Raises ConfigurationError."""
    found: dict[str, str] = {}
    for text in texts:
        name, mark, value = text.partition(":=")
        if not mark or not name.strip():
            raise ConfigurationError(f"xacro argument {shorten(text)} is not name:=value")
        found[name.strip()] = value
    return found


def expand_xacro(path: str | os.PathLike, package_paths: PackagePaths = (), args: Mapping[str, object] = {}) -> str:
    """The URDF text of a xacro file. $(find NAME) is found as package://NAME is, without ROS.

    One file at a time: what xacro prints and finds is of the whole process.
    Raises FileFormatError, naming the file where xacro stopped, and the line where it knows it; UnknownNameError for an
    argument that no <xacro:arg> asks for.
    """
    try:
        import xacro
        from xacro import substitution_args
    except ImportError:
        problem = "reading xacro needs the Python package xacro: pip install xacro, or expand the file first"
        raise FileFormatError(path, None, f"{problem} (ros2 run xacro xacro in.xacro > out.urdf)") from None
    asked = _Asked({name: str(value) for name, value in args.items()})
    said = io.StringIO()
    try:
        with _alone, redirect_stderr(said), _packages(substitution_args, ResourceFinder(path, package_paths)):
            document = xacro.process_file(os.fspath(path), mappings=asked)
    except RobokinError:
        raise
    except Exception as fault:  # xacro lets through what evaluating an expression raises
        raise _told(fault, xacro.filestack or [os.fspath(path)]) from None
    for line in filter(None, map(str.strip, said.getvalue().splitlines())):
        logger.warning("%s: %s", os.fspath(path), line)
    for name in args:
        if name not in asked.names:
            raise UnknownNameError("xacro argument", name, sorted(map(str, asked.names)))
    return document.toxml()


class _Asked(dict):
    """Arguments of a xacro file; `names`: those that the file asked for."""

    def __init__(self, given: dict[str, str]) -> None:
        super().__init__(given)
        self.names: set[str] = set()

    def __contains__(self, name: object) -> bool:
        self.names.add(str(name))
        return super().__contains__(name)

    def __getitem__(self, name: str) -> str:
        self.names.add(name)
        return super().__getitem__(name)


@contextmanager
def _packages(substitution: Any, finder: ResourceFinder) -> Iterator[None]:
    """Inside, packages are those of `finder` instead of those of a ROS installation."""

    def find(package: str) -> str:
        folder = finder.package_folder(package)
        if folder is None:
            hint = "name its folder among the Package Folders, or with --package-path"
            raise ModelError(f"package {package!r} of $(find {package}) not found ({hint})")
        return str(folder)

    before, substitution._eval_find = substitution._eval_find, find
    try:
        yield
    finally:
        substitution._eval_find = before


def _told(fault: Exception, files: list[str]) -> FileFormatError:
    """One line, with the innermost file that was being read."""
    inner: BaseException | None = fault
    while inner is not None and getattr(inner, "exc", None) is not None:
        inner = inner.exc  # type: ignore[attr-defined]
    path, line = files[-1], None
    if isinstance(inner, ExpatError):
        line = inner.lineno
    if isinstance(inner, OSError) and inner.filename:
        return FileFormatError(path, None, f"cannot read {inner.filename!r}: {inner.strerror}")
    problem = str(inner) if isinstance(inner, ModelError) else str(fault) or repr(fault)
    words = " ".join(problem.split())
    return FileFormatError(path, line, f"xacro: {words[:300]}")
