"""`robokin solve --all`."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from robokin_addon.cli import main
from robokin_addon.robokin import forward_kinematics, load_urdf
from support.robots import robot

TASK = "kind=pose,tip=ee_link,target=0.4:0.1:0.3:0:1:0:0"


def test_all_postures_of_a_pose(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    urdf, report = str(robot("ur5_robot")), tmp_path / "postures.json"
    assert main(["solve", urdf, "--task", TASK, "--all", "--json", str(report)]) == 0
    told = json.loads(report.read_text("utf-8"))
    assert told["family"] == "three parallel axes"
    assert told["complete"] is True
    names = [each["name"] for each in told["postures"]]
    assert len(names) == len(set(names)) == 8
    model = load_urdf(urdf)
    for each in told["postures"]:
        T = forward_kinematics(model, model.configuration(each["q"]))["ee_link"]
        assert T[:3, 3] == pytest.approx([0.4, 0.1, 0.3], abs=1e-12)
        assert np.diag(T) == pytest.approx([1, -1, -1, 1], abs=1e-12)
    printed = capsys.readouterr().out
    assert "8 postures, all there are: three parallel axes" in printed
    assert "elbow_joint = " in printed


def test_none_and_others(capsys: pytest.CaptureFixture[str]) -> None:
    urdf = str(robot("ur5_robot"))
    assert main(["solve", urdf, "--task", TASK.replace("0.4", "4"), "--all"]) == 1
    assert "0 postures, all there are" in capsys.readouterr().out
    assert main(["solve", urdf, "--task", "kind=position,tip=ee_link,target=0.4:0.1:0.3", "--all"]) == 0
    assert "there may be others: no family" in capsys.readouterr().out
    assert main(["solve", urdf, "--task", TASK, "--all", "--criterion", "kind=manipulability"]) == 2
    assert "--all" in capsys.readouterr().err
