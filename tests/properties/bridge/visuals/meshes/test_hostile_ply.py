"""PLY files that are damaged or lie about their size: one line, in time and memory; and what they may say."""

from __future__ import annotations

import struct

import numpy as np
import pytest
from support.hostile.mesh_files import refused

PLY_HEADER = """ply
format {format} 1.0
comment made by hand
element vertex 3
property float x
property float y
property float z
element face {faces}
property list {list} vertex_indices
end_header
"""
PLY_POINTS = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0]], "<f4").tobytes()


def ply(body: str | bytes, **given: str) -> bytes:
    form = "ascii" if isinstance(body, str) else "binary_little_endian"
    header = PLY_HEADER.format(**{"format": form, "faces": "1", "list": "uchar int", **given})
    return header.encode() + (f"0 0 0\n1 0 0\n0 1 0\n{body}".encode() if isinstance(body, str) else PLY_POINTS + body)


def test_ply_reads(read) -> None:
    triangle = b"\x03" + struct.pack("<3i", 0, 1, 2)
    for data in (ply("3 0 1 2\n"), ply(triangle), ply("3 0 1 2").replace(b"\n", b"\r\n")):
        mesh = read("part.ply", data)
        assert mesh.corners.tolist() == [0, 1, 2] and mesh.sizes.tolist() == [3]
    mixed = ply(b"\x04" + struct.pack("<4i", 0, 1, 2, 0) + triangle, faces="2")
    assert read("part.ply", mixed).sizes.tolist() == [4, 3]
    assert read("part.ply", ply("4 0 1 2 0\n3 0 1 2\n", faces="2")).sizes.tolist() == [4, 3]
    big = (
        ply(b"")
        .replace(b"little", b"big")
        .replace(PLY_POINTS, np.frombuffer(PLY_POINTS, "<f4").astype(">f4").tobytes())
    )
    assert read("part.ply", big + b"\x03" + struct.pack(">3i", 0, 1, 2)).vertices.tolist()[1] == [1, 0, 0]
    more = ply("7 8 3 0 1 2 9\n").replace(
        b"element face 1\n",
        b"element other 1\nproperty list uchar int a\nelement face 1\nproperty short b\n",
    )
    more = (
        more.replace(b"0 1 0\n", b"0 1 0\n2 5 6\n")
        .replace(b"7 8 3", b"7 3")
        .replace(b"end_h", b"property int c\nend_h")
    )
    assert read("part.ply", more).corners.tolist() == [0, 1, 2]


PLY = {
    "nonsense": (b"nonsense", "not a PLY file"),
    "no end": (b"ply\nformat ascii 1.0\n" + b"comment x\n" * 10_000, "its header has no end"),
    "no format": (b"ply\nelement vertex 3\nend_header\n", "states no format"),
    "unknown format": (b"ply\nformat klingon 1.0\nend_header\n", "part.ply:2"),
    "unknown type": (b"ply\nformat ascii 1.0\nelement vertex 1\nproperty colour x\nend_header\n", "part.ply:4"),
    "property of nothing": (b"ply\nformat ascii 1.0\nproperty float x\nend_header\n", "part.ply:3"),
    "count 1e9": (b"ply\nformat ascii 1.0\nelement vertex 1000000000\nend_header\n", "part.ply:3: the count"),
    "count negative": (b"ply\nformat ascii 1.0\nelement vertex -1\nend_header\n", "part.ply:3: the count of 'vertex'"),
    "count of 30 digits": (b"ply\nformat ascii 1.0\nelement face %s\nend_header\n" % (b"9" * 30), "part.ply:3"),
    "list counted in floats": (ply("3 0 1 2", list="float int"), "cannot be a float"),
    "many properties": (
        b"ply\nformat ascii 1.0\nelement vertex 1\n" + b"property float x\n" * 1000 + b"end_header\n", "more than 256"),
    "no z": (ply("3 0 1 2").replace(b"property float z", b"property float w"), "no x, y and z"),
    "cut off": (ply("3 0 1"), "ends before its header says so"),
    "cut off, binary": (ply(b"\x03" + b"\0" * 8), "ends before its header says so"),
    "cut off in the vertices": (ply(b"")[:-8], "ends before"),
    "more faces than there are": (ply(b"\x03" + struct.pack("<3i", 0, 1, 2), faces="5000000"), "ends before"),
    "a list of 4e9": (ply(struct.pack("<I3i", 2**32 - 1, 0, 1, 2), list="uint int"), "ends before"),
    "a list of -1": (ply(b"\xff" + struct.pack("<3i", 0, 1, 2), list="char int"), "negative number of entries"),
    "a list of 1e30": (ply("1e30 0 1 2"), "ends before"),
    "a list of nan": (ply("nan 0 1 2"), "ends before"),
    "a corner that is not there": (ply("3 0 1 3"), "not there"),
    "a negative corner": (ply("3 0 1 -1"), "not there"),
    "a corner of floats": (ply("3 0 1 1.5"), "no index"),
    "letters": (ply("3 0 one 2"), "where numbers should be"),
    "points only": (ply("", faces="0"), "no polygons"),
    "not finite": (ply("3 0 1 2").replace(b"0 1 0\n", b"0 1 inf\n"), "not finite"),
}  # fmt: skip


@pytest.mark.parametrize("case", PLY)
def test_ply(read, case: str) -> None:
    refused(read, "part.ply", *PLY[case])
