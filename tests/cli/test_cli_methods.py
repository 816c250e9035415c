"""`robokin solve --method`: every step is told, and what does not go together is refused."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from robokin_addon.robokin import forward_kinematics, load_urdf
from support.command import run

ARM = Path(__file__).resolve().parents[2] / "examples" / "arm.urdf"
PLACE = "kind=position,tip=pen,target=0.4:0.2:0.3"


def test_the_steps_of_a_method(capsys, tmp_path) -> None:
    report, model = tmp_path / "report.json", load_urdf(ARM)
    solve = "solve", ARM, "--task", PLACE, "--method", "roll_pitch_yaw", "--json", report
    told = run(capsys, *solve, "--set", "tolerance=1e-9")
    found = json.loads(report.read_text())
    assert told.code == 0 and "step 0: " in told.out and "met after" in told.out
    assert len(found["path"]) == found["iterations"] + 1 == len(found["errors"])
    for q, (away, _) in zip(found["path"], found["errors"], strict=True):
        assert np.isclose(np.linalg.norm(forward_kinematics(model, q)["pen"][:3, 3] - (0.4, 0.2, 0.3)), away)
    far = run(capsys, *solve[:3], PLACE.replace("0.4", "4.0"), *solve[4:])
    assert far.code == 1 and not json.loads(report.read_text())["converged"]


def test_what_does_not_go_together(capsys) -> None:
    solve = "solve", ARM, "--task", PLACE
    assert run(capsys, *solve, "--set", "rows=1").refused("--set is for --method")
    assert run(capsys, *solve, "--method", "goal_oriented", "--all").refused("without --all")
    assert run(capsys, *solve, "--method", "newton_raphson", "--set", "eps_v=x").refused("NAME=JSON")
    assert run(capsys, *solve, "--method", "newton").refused("did you mean: newton_raphson")
    axis = "kind=axis,tip=pen,axis=0:0:1,target=0:0:1"
    assert run(capsys, *solve[:3], axis, "--method", "newton_raphson").refused("Pose and Position tasks only")
