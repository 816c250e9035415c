"""A Blender file that was cut off anywhere is seen to be; a whole one is not refused. Read back by Zstandard itself."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest
import zstandard
from robokin_addon.cli.blend_file import is_whole_blend


@pytest.fixture(scope="module", params=[True, False], ids=["compressed", "plain"])
def blend(request, addon, tmp_path_factory) -> Path:
    import bpy

    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    mesh = bpy.data.meshes.new("many")  # more than one frame of a megabyte, of what does not shrink much
    mesh.vertices.add(100_000)
    mesh.vertices.foreach_set("co", np.random.default_rng(0).random(300_000, np.float32))
    mesh.use_fake_user = True
    path = tmp_path_factory.mktemp("blend") / "whole.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path), compress=request.param, copy=True)
    return path


def test_a_whole_file(blend) -> None:
    data = blend.read_bytes()
    if not data.startswith(b"BLENDER"):
        reader = zstandard.ZstdDecompressor().stream_reader(blend.open("rb"), read_across_frames=True)
        data = reader.read()
    assert data.startswith(b"BLENDER") and b"ENDB" in data[-40:] and len(data) > 1_200_000
    assert is_whole_blend(blend)


def test_a_file_cut_off_anywhere(blend, tmp_path) -> None:
    data = blend.read_bytes()
    part = tmp_path / "part"
    lengths = {*range(60), *range(len(data) - 60, len(data)), *random.Random(1).sample(range(len(data)), 300)}
    lengths |= set(range(0, len(data), 32768))
    for length in sorted(lengths):
        part.write_bytes(data[:length])
        assert not is_whole_blend(part), length


def test_a_file_that_lacks_something_inside(blend, tmp_path) -> None:
    data = blend.read_bytes()
    if data.startswith(b"BLENDER"):
        return  # whose writing Blender itself looks after
    part = tmp_path / "part"
    for start in random.Random(2).sample(range(len(data) - 5000), 100):
        part.write_bytes(data[:start] + data[start + 4096 :])
        assert not is_whole_blend(part), start
