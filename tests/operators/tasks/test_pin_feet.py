"""A legged robot stays on its feet while a hand is led."""

from __future__ import annotations

import bpy
import numpy as np
import pytest
from robokin_addon.panels.tasks import ROBOKIN_PT_tasks
from robokin_addon.properties.bridge import binding, read_configuration
from robokin_addon.robokin import forward_kinematics, library_robot
from support.blender.panels import FakeLayout
from support.blender.scene_robots import build

FEET = ("left_foot", "right_foot")


@pytest.fixture
def humanoid(scene):
    robot = build(library_robot("humanoid", "floating"))
    robot.robokin.live = False
    assert bpy.ops.robokin.target_add(tip=bone(robot, "left_hand")) == {"FINISHED"}
    return robot


def bone(robot, link):
    return binding(robot).bone_of_link[link]


def pin(robot):
    with bpy.context.temp_override(object=robot, active_object=robot):
        return bpy.ops.robokin.pin_feet()


def solve(robot):
    with bpy.context.temp_override(object=robot, active_object=robot):
        bpy.ops.robokin.solve_pose()
    found = binding(robot)
    return forward_kinematics(found.model, read_configuration(robot, found))


def offered(robot):
    layout = FakeLayout()
    ROBOKIN_PT_tasks.draw_robot(None, bpy.context, layout, robot)
    return "robokin.pin_feet" in layout.drawn["operators"]


def test_the_feet_stay_where_they_stand_and_come_first(humanoid):
    (task,) = humanoid.robokin.tasks
    found = binding(humanoid)
    before = forward_kinematics(found.model, read_configuration(humanoid, found))
    task.target.location.z += 5.0  # out of reach of a robot that stands
    loose = solve(humanoid)
    assert min(loose[foot][2, 3] - before[foot][2, 3] for foot in FEET) > 1.0
    assert offered(humanoid) and pin(humanoid) == {"FINISHED"} and not offered(humanoid)
    assert humanoid.robokin.active_task == 0
    assert [(task.kind, task.priority) for task in humanoid.robokin.tasks] == [("POSE", 2), ("PIN", 1), ("PIN", 1)]
    stood = solve(humanoid)
    for foot in FEET:
        np.testing.assert_allclose(stood[foot], loose[foot], atol=1e-4)


def test_it_is_not_offered_where_something_holds_the_feet_or_the_root(humanoid):
    (task,) = humanoid.robokin.tasks
    for link, is_offered in (
        ("left_hand", True),
        ("left_foot", False),
        (binding(humanoid).model.root_link.name, False),
    ):
        task.tip = bone(humanoid, link)
        assert offered(humanoid) is is_offered
    task.tip = bone(humanoid, "left_hand")
    for kind, is_offered in (("CENTER_OF_MASS", True), ("JOINT", False), ("POSTURE", False), ("POSITION", True)):
        task.kind = kind
        assert offered(humanoid) is is_offered
    task.influence = 0.0
    assert not offered(humanoid)
    task.influence, task.enabled = 1.0, False
    assert not offered(humanoid)
    with pytest.raises(RuntimeError, match="has no loose feet"):
        pin(humanoid)


@pytest.mark.parametrize(("name", "root"), [("humanoid", "fixed"), ("panda", "floating")])
def test_robots_that_cannot_come_along_or_have_no_feet(scene, name, root):
    robot = build(library_robot(name, root))
    assert bpy.ops.robokin.target_add(tip=binding(robot).bones[-1]) == {"FINISHED"}
    assert not offered(robot)
