"""Criteria written on the command line."""

from __future__ import annotations

import json

import numpy as np
import pytest
from robokin_addon.cli.text.criteria import GRAMMAR, parse_criterion
from robokin_addon.robokin import RobokinError, gravity_torque, library_robot, load_urdf
from robokin_addon.solvers.criteria import (
    KINDS,
    Criterion,
    DynamicTorque,
    Manipulability,
    RestPosture,
    Smooth,
    criterion,
    options_of,
)
from support.command import run
from support.robots import robot

MODEL = library_robot("planar_3r")


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_has_its_word(kind: str) -> None:
    found = parse_criterion(f"kind={kind}, weight=2", MODEL)
    assert type(found) is KINDS[kind]
    assert found.weight == 2.0
    assert f"kind={kind}" in GRAMMAR


def test_options() -> None:
    found = parse_criterion("kind=manipulability,weight=0.5,gain=3,name=far from singular", MODEL)
    assert isinstance(found, Manipulability)
    assert (found.weight, found.gain, found.name) == (0.5, 3.0, "far from singular")
    smooth = parse_criterion("kind=smooth,time=0.25", MODEL)
    assert isinstance(smooth, Smooth)
    assert smooth.time == 0.25
    torque = parse_criterion("kind=dynamic_torque,damping=7,gravity=0:-9.81:0", MODEL)
    assert isinstance(torque, DynamicTorque)
    assert torque.damping == 7.0
    np.testing.assert_array_equal(torque.gravity, [0.0, -9.81, 0.0])


def test_a_posture_is_joint_values() -> None:
    first, second, _ = (joint.name for joint in MODEL.moving_joints)
    found = parse_criterion(f"kind=rest_posture,posture={json.dumps({first: 0.3, second: -0.2})},weight=2", MODEL)
    assert isinstance(found, RestPosture)
    np.testing.assert_array_equal(found.posture, [0.3, -0.2, 0.0])
    assert found.weight == 2.0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("weight=1", "kind is missing (valid: minimum_velocity, "),
        ("kind=beauty", "no criterion kind named 'beauty'"),
        ("kind=smooth,gain=1", "no field of criterion smooth named 'gain' (valid: kind, time, weight, name)"),
        ("kind=smooth,time=soon", "time: 'soon' is not a number"),
        ("kind=smooth,time=0", "time must be a positive number, not 0.0"),
        ("kind=manipulability,weight=-1", "weight must be a positive number, not -1.0"),
        ("kind=gravity_torque,gravity=1:2", "gravity takes 3 numbers separated by colons, not 2"),
        ("kind=smooth,time=1,time=2", "time is given twice"),
        ('kind=rest_posture,posture={"elbow_of_another": 1}', "elbow_of_another"),
    ],
)
def test_bad_text_is_reported(text: str, message: str) -> None:
    with pytest.raises(RobokinError) as caught:
        parse_criterion(text, MODEL)
    assert message in str(caught.value)


def test_criteria_by_word_in_python() -> None:
    assert isinstance(criterion("smooth", time=0.3), Criterion)
    assert options_of("kinetic_energy") == ("weight", "name")
    with pytest.raises(RobokinError, match="no option of criterion kinetic_energy named 'gain'"):
        criterion("kinetic_energy", gain=1.0)


def test_solve_takes_criteria_and_levels(capsys, tmp_path) -> None:
    """Level 1 is met, of level 2 what it leaves; costs are reported."""
    tasks = [
        "--task",
        "kind=position,tip=panda_hand,target=0.4:0.1:0.5",
        "--task",
        "kind=position,tip=panda_hand,target=0.4:0.1:0.6,priority=2",
    ]
    report = tmp_path / "report.json"
    criteria = ["--criterion", "kind=kinetic_energy", "--criterion", "kind=gravity_torque,name=hold"]
    outcome = run(capsys, "solve", robot("panda"), *tasks, *criteria, "--json", report)
    assert outcome.code == 1  # the second level cannot be met
    told = json.loads(report.read_text("utf-8"))
    assert told["status"] == "TASK_CONFLICT"
    assert told["residuals"][0]["position"] < 1e-5
    assert told["residuals"][1]["position"] == pytest.approx(0.1, abs=1e-4)
    model = load_urdf(robot("panda"))
    torque = gravity_torque(model, model.configuration(told["q"]))
    assert told["costs"]["hold"] == pytest.approx(0.5 * np.sum((torque / model.effort) ** 2), rel=1e-6)
    assert "cost of hold" in outcome.out


def test_a_bad_criterion_is_one_line(capsys) -> None:
    task = "kind=position,tip=panda_hand,target=0.4:0.1:0.5"
    outcome = run(capsys, "solve", robot("panda"), "--task", task, "--criterion", "kind=beauty")
    assert outcome.code == 2
    assert outcome.err.count("\n") == 1
    assert "no criterion kind named 'beauty'" in outcome.err
