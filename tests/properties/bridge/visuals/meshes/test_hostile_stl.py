"""STL files that are damaged or lie about their size: one line."""

from __future__ import annotations

import struct

import pytest
from support.hostile.mesh_files import refused

STL = {
    "empty": (b"", "not an STL file"),
    "cut": (b"a" * 90, "not an STL file, or cut off"),
    "count 4e9": (b"\0" * 80 + b"\xff\xff\xff\xff" + b"\0" * 100, "not an STL file, or cut off"),
    "no triangles": (b"\0" * 84, "no polygons"),
    "not finite": (b"\0" * 80 + struct.pack("<I12fH", 1, *[float("nan")] * 12, 0), "not finite"),
    "large": (b"\0" * 80 + struct.pack("<I12fH", 1, *[3e38] * 12, 0), "not finite numbers up to 1e+09"),
    "text cut": (b"solid a\nfacet\nouter loop\nvertex 0 0 0\nvertex 1 0 0\n", "not a complete ASCII STL file"),
    "text of words": (b"solid a\nfacet\nvertex a b c\n" * 3, "where numbers should be"),
    "long words": (b"solid a\n" + b"vertex " * 500_000, "where numbers should be"),
    "spaces": (b"solid a\nvertex" + b" " * 5_000_000 + b"1", "no polygons"),
}


@pytest.mark.parametrize("case", STL)
def test_stl(read, case: str) -> None:
    refused(read, "part.stl", *STL[case])
