"""What links and joints are given is checked: one error that names the link or joint, and the value."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from robokin_addon.robokin import Joint, Link, ModelError

WRONG_NUMBERS = ["x", None, float("nan"), float("inf"), [1.0, 2.0], 1j, {}, object]


@pytest.mark.parametrize("value", [*WRONG_NUMBERS, -1.0], ids=repr)
def test_a_mass_is_a_number(value: Any) -> None:
    with pytest.raises(ModelError, match=r"^link 'arm': mass must "):
        Link("arm", value)


@pytest.mark.parametrize("name", ["damping", "friction", "rotor_inertia", "stiffness"])
@pytest.mark.parametrize("value", [*WRONG_NUMBERS, -1e-9], ids=repr)
def test_what_resists_is_not_negative(name: str, value: Any) -> None:
    with pytest.raises(ModelError, match=f"^joint 'elbow': {name} must "):
        Joint("elbow", "revolute", "a", "b", **{name: value})


@pytest.mark.parametrize("name", ["pitch", "rest_position"])
@pytest.mark.parametrize("value", WRONG_NUMBERS, ids=repr)
def test_other_numbers_of_a_joint(name: str, value: Any) -> None:
    if name == "rest_position" and value is None:  # mid-range
        return
    with pytest.raises(ModelError, match=f"^joint 'elbow': {name.replace('_', ' ')} must be a finite number"):
        Joint("elbow", "screw", "a", "b", **{name: value})


@pytest.mark.parametrize("name", [7, None, b"arm", ["arm"]], ids=repr)
def test_names_are_texts(name: Any) -> None:
    with pytest.raises(ModelError, match="the name of a link must be a text"):
        Link(name)
    with pytest.raises(ModelError, match="the name of a joint must be a text"):
        Joint(name, "revolute", "a", "b")


@pytest.mark.parametrize("kind", ["hinge", 7, None, ["revolute"]], ids=repr)
def test_types_of_joints_are_known(kind: Any) -> None:
    with pytest.raises(ModelError, match=r"unknown type .*\(valid: fixed, revolute"):
        Joint("elbow", kind, "a", "b")


def test_numbers_of_numpy_become_plain_ones() -> None:
    link = Link("arm", np.float32(2.0))  # type: ignore[arg-type]
    joint = Joint("elbow", "revolute", "a", "b", damping=np.int64(3))  # type: ignore[arg-type]
    assert (link.mass, type(link.mass), joint.damping, type(joint.damping)) == (2.0, float, 3.0, float)
