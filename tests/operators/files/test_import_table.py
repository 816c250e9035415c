"""Importing a robot table: the robot, its picture, and what is wrong with a file."""

from __future__ import annotations

from pathlib import Path

import bpy
import numpy as np
import pytest
from robokin_addon.properties.bridge import robot_model
from robokin_addon.robokin import load_robot_table
from support.command import run
from support.oracles.compare import compare_models

TABLE = "robot,Arm\nangles,degrees\na,alpha,d,theta,lower,upper,mass\n0,90,0.4,0,-90,90,2\n0.5,0,0,0,10,90,1\n"


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "arm.csv"
    path.write_text(TABLE)
    return path


def test_the_robot_and_its_picture(scene: bpy.types.Scene, table: Path) -> None:
    assert bpy.ops.robokin.import_table(filepath=str(table), root="planar") == {"FINISHED"}
    obj = bpy.context.object
    expected = load_robot_table(table, "planar")
    assert obj.name == "Arm"
    assert compare_models(robot_model(obj), expected, 1e-6) == []
    assert len(obj.children) == sum(len(link.visuals) for link in expected.links) > 3
    assert np.ptp([child.matrix_world.translation.z for child in obj.children]) > 0.2
    bpy.ops.robokin.import_table(filepath=str(table), meshes=False)
    assert not bpy.context.object.children


@pytest.mark.parametrize("way", ["file", "text"])
def test_doubtful_inertias_are_reported(
    scene: bpy.types.Scene, table: Path, capfd: pytest.CaptureFixture[str], way: str
) -> None:
    if way == "file":
        bpy.ops.robokin.import_table(filepath=str(table))
    else:
        bpy.data.texts.new("arm").write(TABLE)
        bpy.ops.robokin.robot_from_text(text="arm")
    assert "Warning: link 'link_2': it has mass but no inertia" in capfd.readouterr().out


def test_what_is_wrong_is_said_and_nothing_made(scene: bpy.types.Scene, table: Path) -> None:
    table.write_text(TABLE.replace("10,90", "90,10"))
    with pytest.raises(RuntimeError, match=r"arm.csv:5: joint 'joint_2': lower limit"):
        bpy.ops.robokin.import_table(filepath=str(table))
    assert not bpy.data.objects


def test_the_command_line_makes_a_file(table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "arm.blend"
    outcome = run(capsys, "import", table, "-o", out)
    assert outcome.code == 0, outcome
    doubt = "robokin: link 'link_{}': it has mass but no inertia, as if all of it were in one point\n"
    assert outcome.err == doubt.format(1) + doubt.format(2)
    bpy.ops.wm.open_mainfile(filepath=str(out))
    (obj,) = (o for o in bpy.data.objects if o.type == "ARMATURE")
    assert obj.name == "Arm" and obj.children
