"""Criteria written on the command line."""

from __future__ import annotations

import json

import numpy as np
import pytest
from robokin_addon.cli.criterion_text import GRAMMAR, parse_criterion
from robokin_addon.robokin import RobokinError, library_robot
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
        ("kind=gravity_torque,gravity=1:2", "gravity takes 3 number(s) separated by colons, not 2"),
        ("kind=smooth,time=1,time=2", "time is given twice"),
        ('kind=rest_posture,posture={"elbow_of_another": 1}', "elbow_of_another"),
    ],
)
def test_bad_text_is_told(text: str, message: str) -> None:
    with pytest.raises(RobokinError) as caught:
        parse_criterion(text, MODEL)
    assert message in str(caught.value)


def test_criteria_by_word_in_python() -> None:
    assert isinstance(criterion("smooth", time=0.3), Criterion)
    assert options_of("kinetic_energy") == ("weight", "name")
    with pytest.raises(RobokinError, match="no option of criterion kinetic_energy named 'gain'"):
        criterion("kinetic_energy", gain=1.0)
