"""The command line in a process of its own."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent

LOAD = f"""
import importlib.util, sys
spec = importlib.util.spec_from_file_location(
    "robokin_addon", {str(ROOT / "__init__.py")!r}, submodule_search_locations=[{str(ROOT)!r}]
)
module = sys.modules["robokin_addon"] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
"""


def full_disk(room: int) -> str:
    """Source. A file that grows beyond `room` bytes ends as on a full disk: what fits is written, the rest refused.
    Modules are not compiled to files: Python keeps what was cut off, and other tests would import it."""
    limit = f"resource.setrlimit(resource.RLIMIT_FSIZE, ({room}, {room}))"
    return f"import resource, sys\nsys.dont_write_bytecode = True\n{limit}\n"


@contextmanager
def room_left(room: int) -> Iterator[None]:
    """As `full_disk`, for the block, in this process."""
    import resource

    before, compiles_none = resource.getrlimit(resource.RLIMIT_FSIZE), sys.dont_write_bytecode
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, before[1]))
    sys.dont_write_bytecode = True
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        sys.dont_write_bytecode = compiles_none


def command(*arguments: object, before: str = "", after: str = "") -> list[str]:
    """What starts it.   before, after: lines of Python around the call of `main`."""
    script = f"{LOAD}from robokin_addon.cli import main\n{before}\ncode = main()\n{after}\nsys.exit(code)\n"
    return [sys.executable, "-c", script, *map(str, arguments)]


def program(*arguments: object, before: str = "", after: str = "", **options) -> subprocess.CompletedProcess:
    """Run to its end. options: of `subprocess.run`."""
    options = {"capture_output": True, "text": True, "timeout": 120} | options
    return subprocess.run(command(*arguments, before=before, after=after), **options)
