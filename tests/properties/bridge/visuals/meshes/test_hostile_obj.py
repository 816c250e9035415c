"""OBJ files that are damaged or lie about their size: one line, in time and memory."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from support.hostile.mesh_files import VERTICES, refused

OBJ = {
    "superscript": (VERTICES + "f 1 2 -²\n", "part.obj:4: has a face whose corners are not numbers"),
    "20 digits": (VERTICES + "f 1 2 99999999999999999999\n", "part.obj:4: has a face whose corners"),
    "not there": (VERTICES + "f 1 2 4\n", "part.obj:4: has a face with a corner that is not there"),
    "not there from the end": (VERTICES + "f 1 2 -4\n", "part.obj:4"),
    "zero": (VERTICES + "f 0 1 2\n", "part.obj:4"),
    "two corners": (VERTICES + "f 1 2\n", "part.obj:4: a face needs three corners"),
    "above 3e38": ("v 0 0 4e38\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", "not finite numbers up to 1e+09"),
    "nan": ("v 0 0 nan\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", "not finite"),
    "a vertex of two": ("v 0 0\nv 1 0 0\nf 1 2 3\n", "part.obj:1: a vertex is not 3 numbers"),
    "words": ("v 0 0 x\n", "part.obj:1: a vertex is not 3 numbers"),
    "no faces": (VERTICES, "no polygons"),
    "a long line": ("f " + "1 " * 1_000_000, "part.obj:1: a line of more than 1024 kB"),
    "a long line in pieces": (VERTICES + "f " + "1 \\\n" * 600_000, "a line of more than 1024 kB"),
    "many corners": (VERTICES + "f " + "1 2 3 " * 1000, "a polygon with more than 2048 corners"),
    "many materials": ("".join(f"usemtl m{i}\n" for i in range(100_000)), "has more than 1024 materials"),
    "binary": (bytes(range(256)) * 100, "no polygons"),
}


@pytest.mark.parametrize("case", OBJ)
def test_obj(read, case: str) -> None:
    refused(read, "part.obj", *OBJ[case])


def test_materials_of_an_obj_cost_no_time(read, tmp_path: Path) -> None:
    """Measured before: quadratic in the changes of material; every library was read as often as it was named."""
    (tmp_path / "part.mtl").write_text("".join(f"newmtl m{i}\nKd 1 0 {i % 2}\n" for i in range(1000)))
    text = "mtllib part.mtl\n" * 20_000 + VERTICES + "".join(f"usemtl m{i % 1000}\nf 1 2 3\n" for i in range(100_000))
    before = time.process_time()
    mesh = read("part.obj", text)
    assert time.process_time() - before < 20.0
    assert len(mesh.materials) == 1001 and mesh.materials[2].rgba == (1.0, 0.0, 1.0, 1.0)
    for i in range(20):
        (tmp_path / f"m{i}.mtl").write_text("newmtl a\n")
    refused(read, "part.obj", "".join(f"mtllib m{i}.mtl\n" for i in range(20)), "more than 16 files of materials")
    (tmp_path / "part.mtl").write_bytes(b"# " + b" " * (5 << 20))
    refused(read, "part.obj", "mtllib part.mtl\n", "larger than 4 MB")
