"""The real robots of the `example-robot-data` package, which the tests install."""

from __future__ import annotations

import sysconfig
from functools import cache
from pathlib import Path


def robot_data() -> Path:
    """The folder that holds one folder per robot family."""
    folder = Path(sysconfig.get_paths()["purelib"]) / "cmeel.prefix/share/example-robot-data/robots"
    if not folder.is_dir():
        raise RuntimeError("example-robot-data is not installed in this Python (pip install example-robot-data)")
    return folder


@cache
def all_urdfs() -> tuple[Path, ...]:
    return tuple(sorted(robot_data().rglob("*.urdf")))


def robot(name: str) -> Path:
    """The one URDF called `name` (with or without .urdf) wherever it lies."""
    found = [path for path in all_urdfs() if path.stem == name.removesuffix(".urdf")]
    if not found:
        raise RuntimeError(f"no robot {name!r} in example-robot-data")
    return found[0]
