"""A live robot, and a target that it follows."""

from __future__ import annotations

import bpy
import pytest
from support.blender.scene_robots import add_robot, add_target


@pytest.fixture
def robot(scene):
    return add_robot(live=True)


@pytest.fixture
def target(robot):
    found = add_target(robot)
    bpy.context.view_layer.update()
    return found
