"""A gesture that is repeated: its pose is that of one robot, and no other takes it."""

from __future__ import annotations

from types import SimpleNamespace

import bpy
import numpy as np
import pytest
from robokin_addon.operators.tools.gesture import Gesture
from robokin_addon.properties.bridge import read_configuration
from robokin_addon.robokin import RobokinError
from support.blender.scene_robots import add_robot


class Kept(Gesture):
    """Blender alone makes operators; their gesture is a plain class."""

    bl_label = "Grab Link"

    def __init__(self, robot, q):
        self._robot, self._is_new, self._snap, self._q = robot, True, False, q

    def pose(self, context, snap):
        return self._q

    def header_text(self, context):
        return ""


@pytest.mark.parametrize("name", ["panda", "ur5_robot"])
def test_another_robot_does_not_take_the_pose(robot, name):
    wanted = read_configuration(robot)
    wanted[3] -= 0.2
    gesture = Kept(robot, wanted)
    assert gesture._keep(SimpleNamespace(area=None, scene=bpy.context.scene)) == {"FINISHED"}
    other = add_robot(name)
    before = read_configuration(other)
    with pytest.raises(RobokinError, match="Grab Link: the pose that was kept is of another robot"):
        gesture.run(bpy.context, other)
    np.testing.assert_array_equal(read_configuration(other), before)
    robot.name = "Renamed"
    assert gesture.run(bpy.context, robot) == {"FINISHED"}
    np.testing.assert_allclose(read_configuration(robot), wanted, atol=1e-6)
