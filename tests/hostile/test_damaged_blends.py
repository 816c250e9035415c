"""Blender files with damage in them: done, or one line and exit code 2. At times Blender itself ends the process, or
hands on what no file has; then nothing was written."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest
from support.blender.scene_file import put_scene
from support.command import run
from support.hostile.damaged_blends import worked
from support.hostile.fuzzing import SEED, VARIABLE
from support.robots import robot

# A frame of ours that was calling C code of ours, the kernel, rather than Blender.
KERNEL = re.compile(r"/(?:robokin/backend|solvers)/\w+\.py")


@pytest.fixture(params=[False, True], ids=["plain", "compressed"])
def blend(request, addon, tmp_path) -> Path:
    import bpy

    path = tmp_path / "whole.blend"
    put_scene(path, robot("panda"), "panda_hand_joint", (0.45, 0.1, 0.5), "--no-meshes")
    bpy.ops.wm.save_as_mainfile(filepath=str(path), compress=request.param, copy=True)
    return path


@pytest.mark.slow
def test_random_damage(blend, tmp_path, request) -> None:
    folder = tmp_path / "damaged"
    folder.mkdir()
    codes: Counter[int | None] = Counter()
    for end in worked(blend, folder, request.node.name):
        told = (f"{VARIABLE}={SEED}", end.number, end.line, end.code, end.err[-4000:])
        codes[end.code] += 1
        assert end.code in (0, 1, 2, 3, None), told
        lines = end.err.splitlines()
        if end.code is None:  # in Blender, not in the kernel
            first = next((line for line in lines if line.startswith("  File ")), "")
            assert not KERNEL.search(first) and not end.written, told
        elif end.code == 3:  # a value that Blender itself has taken, of which nothing is known here
            assert not end.written, told
        else:
            assert all(line.startswith("robokin: ") for line in lines), told
            assert lines or end.code != 2, told
    assert codes[0] and codes[2] > 50 and codes[3] < 10 and codes[None] < 50, codes


@pytest.mark.parametrize("word", ["panda_joint3", "panda", "follow", "home", "target"])
def test_names_that_are_no_text(word, addon, tmp_path, capsys, monkeypatch) -> None:
    """As files of old programs have, or damaged ones."""
    import bpy

    monkeypatch.chdir(tmp_path)
    put_scene(tmp_path / "a.blend", robot("panda"), "panda_hand_joint", (0.45, 0.1, 0.5), "--no-meshes")
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "a.blend"), compress=False, copy=True)
    data = (tmp_path / "a.blend").read_bytes()
    places = [found.start() for found in re.finditer(word.encode() + b"\0", data)]
    refused = 0
    for chosen in [places, *([place] for place in places)]:
        damaged = bytearray(data)
        for place in chosen:
            damaged[place + 2] = 0xFF
        (tmp_path / "a.blend").write_bytes(damaged)
        for line in (
            ["info"],
            ["bake", "-o", "b.blend"],
            ["check"],
            ["export", "-o", "b.urdf"],
            ["export", "-o", "b.srdf"],
        ):
            outcome = run(capsys, line[0], "a.blend", *line[1:])
            assert outcome.code in (0, 1, 2), (word, chosen, line, outcome)
            if outcome.code == 2:
                assert outcome.refused("robokin: ")
                refused += "damaged" in outcome.err
    assert refused or word == "target"
