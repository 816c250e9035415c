"""Packages around libraries of the kernel that were not built by kernel/build.py."""

from __future__ import annotations

import hashlib
from pathlib import Path


def described(library: Path) -> str:
    """Source of the package `robokin_kernel` around a library."""
    content = library.read_bytes()
    return (
        f"SIZE, SHA256 = {len(content)}, {hashlib.sha256(content).hexdigest()!r}\n"
        f"def library_path():\n    return {str(library)!r}\n"
    )
