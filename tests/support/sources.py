"""The sources, each parsed once in a process: to parse all of them takes seconds."""

from __future__ import annotations

import ast
import gc
from functools import cache
from pathlib import Path


@cache
def parsed(path: Path) -> ast.Module:
    tree = ast.parse(path.read_text("utf-8"))
    gc.freeze()  # it stays to the end: the collector of garbage need not look through it again and again
    return tree
