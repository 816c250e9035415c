"""`robokin demo`: a ready scene, baked and checked, in a file."""

from __future__ import annotations

import json

import bpy
import pytest
from robokin_addon.cli.main import main


def test_the_door_is_baked_checked_and_written(tmp_path, capsys, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    written, report = tmp_path / "door.blend", tmp_path / "door.json"
    assert main(["demo", "door", "--json", str(report)]) == 0
    told = json.loads(report.read_text())
    assert told["failures"] == [] and told["violations"] == []
    assert max(told["slip"]) < 1e-6 and max(told["side_slip"]) < 1e-9  # it drives straight
    bpy.ops.wm.open_mainfile(filepath=str(written))
    robot = bpy.data.objects["Mobile Arm"]
    assert robot.animation_data.action is not None and len(told["frames"]) == bpy.context.scene.frame_end
    assert "CONVERGED" in capsys.readouterr().out


def test_a_file_that_nobody_named_is_not_written_over(tmp_path, capsys, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["demo", "door", "--json", "door.blend"]) == 2 and not (tmp_path / "door.blend").exists()
    (tmp_path / "door.blend").write_text("mine")
    assert main(["demo", "door"]) == 2
    assert (
        "'door.blend' is there already" in capsys.readouterr().err and (tmp_path / "door.blend").read_text() == "mine"
    )


@pytest.mark.parametrize("name", ["window", ""])
def test_an_unknown_scene_is_refused_with_those_there_are(tmp_path, capsys, name) -> None:
    assert main(["demo", name, "-o", str(tmp_path / "out.blend")]) == 2
    said = capsys.readouterr().err
    assert all(each in said for each in ("laser", "door", "door-pivoting")) and not (tmp_path / "out.blend").exists()
