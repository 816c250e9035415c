"""The panel of criteria."""

from __future__ import annotations

import bpy
import pytest
from support.blender.panels import draw
from support.blender.scene_robots import add_robot


@pytest.fixture
def panda(scene):
    return add_robot()


def test_criteria_show_costs_and_what_pulls(panda):
    bpy.ops.robokin.criterion_add(kind="GRAVITY_TORQUE")
    drawn = draw()["ROBOKIN_PT_criteria"]
    assert {"mode", "kind", "weight", "gain"} <= set(drawn["props"]) and "time" not in drawn["props"]
    assert any(label.startswith("panda_joint") for label in drawn["labels"])
    assert any(label.startswith(("+", "-")) for label in drawn["labels"])
    bpy.ops.robokin.criterion_add(kind="SMOOTH")
    assert "time" in draw()["ROBOKIN_PT_criteria"]["props"]


def test_a_criterion_that_costs_nothing_shows_no_sign(panda):
    bpy.ops.robokin.criterion_add(kind="MANIPULABILITY")  # of tasks, of which there are none
    labels = draw()["ROBOKIN_PT_criteria"]["labels"]
    assert "0" in labels and "-0" not in labels
