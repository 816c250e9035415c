"""A C compiler for the tests: the machine's own, else zig's."""

from __future__ import annotations

import importlib.util
import shutil
import sys


def c_compiler() -> list[str]:
    """Command of a C11 compiler with address and undefined-behaviour sanitisers. RuntimeError when there is none."""
    for name in ("gcc", "clang"):
        if shutil.which(name):
            return [name]
    if importlib.util.find_spec("ziglang"):
        return [sys.executable, "-m", "ziglang", "cc"]
    raise RuntimeError("the C tests need gcc, clang, or the Python package ziglang; none is installed")
