"""`robokin dynamics` of an exported motion."""

from __future__ import annotations

import json

import numpy as np
import pytest
from robokin_addon.robokin import gravity_torque, load_urdf
from robokin_addon.solvers import Motion, write_motion
from support.command import run
from support.robots import robot


def test_of_a_motion_file(capsys, tmp_path) -> None:
    model = load_urdf(robot("panda"))
    q = model.limits.middle(model.neutral())
    motion = write_motion(Motion.of(model, [0.0, 0.5], [q, q]), tmp_path / "still.csv")
    done = run(capsys, "dynamics", robot("panda"), "--motion", motion, "--json", "-")
    assert done.code == 0
    report = json.loads(done.out)
    assert report["values"]["panda_joint2 effort"] == pytest.approx([gravity_torque(model, q)[1]] * 2)
    assert report["units"]["panda_joint2 effort"] == "N m" and report["units"]["panda_finger_joint1 effort"] == "N"
    told = run(capsys, "dynamics", robot("panda"), "--motion", motion)
    assert "effort limits kept" in told.out and "panda_joint2: " in told.out


def test_a_broken_effort_limit_is_no_success(capsys, tmp_path) -> None:
    model = load_urdf(robot("panda"))
    q = np.tile(model.limits.middle(model.neutral()), (3, 1))
    q[1, 0] += 0.5
    motion = write_motion(Motion.of(model, [0.0, 0.1, 0.2], q), tmp_path / "fast.csv")
    done = run(capsys, "dynamics", robot("panda"), "--motion", motion)
    assert done.code == 1 and "effort limits broken" in done.out


def test_bad_input(capsys, tmp_path) -> None:
    assert run(capsys, "dynamics", robot("panda")).refused("--motion")
    assert run(capsys, "dynamics", robot("panda"), "--motion", tmp_path / "no.csv").refused("no.csv")
    (tmp_path / "other.csv").write_text("time,elbow\n0,1\n")
    assert run(capsys, "dynamics", robot("panda"), "--motion", tmp_path / "other.csv").refused("elbow")
