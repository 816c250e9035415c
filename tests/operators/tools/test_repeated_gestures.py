"""A gesture that is repeated: its pose is that of one robot, and no other takes it."""

from __future__ import annotations

from types import SimpleNamespace

import bpy
import numpy as np
import pytest
from robokin_addon.operators.tools.gesture import Gesture, settle
from robokin_addon.properties.bridge import read_configuration, write_configuration
from robokin_addon.properties.results import readouts
from robokin_addon.robokin import RobokinError
from support.blender.scene_robots import add_robot, add_target


class Kept(Gesture):
    """Blender alone makes operators; their gesture is a plain class."""

    bl_label = "Grab Link"

    def __init__(self, robot, q):
        self._robot, self._is_new, self._snap, self._q = robot, True, SimpleNamespace(is_held=False), q

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


def test_a_pose_by_hand_is_kept_where_the_robot_waits_for_a_target_that_was_deleted(scene):
    """Drag, Turn and Jog end so: no error of Python, the other target stays, and the panel says why the robot waits."""
    robot = add_robot(live=True)
    gone, other = add_target(robot), add_target(robot, kind="POSITION")
    bpy.data.objects.remove(gone)
    bpy.context.view_layer.update()
    wanted, before = read_configuration(robot), other.matrix_world.copy()
    wanted[3] -= 0.2
    write_configuration(robot, wanted)
    settle(bpy.context, robot)
    np.testing.assert_allclose(read_configuration(robot), wanted, atol=1e-6)
    assert other.matrix_world == before and readouts.live(robot).text.startswith("Waits: ")
