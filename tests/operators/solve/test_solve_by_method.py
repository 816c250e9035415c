"""Solve by Method: the robot goes to its first target, its steps are keyed, limits hold, undo is one step."""

from __future__ import annotations

import bpy
import numpy as np
import pytest
from robokin_addon.operators.solve.by_method import METHODS as ITEMS
from robokin_addon.properties.bridge import binding, read_configuration, robot_model
from robokin_addon.scene.animation.curves import shown_by_keys
from robokin_addon.scene.posing.by_method import obstacle_fields
from robokin_addon.solvers.methods.solve_by import METHODS
from support.blender.scene_robots import TOOL, add_robot, add_target, world_error


@pytest.fixture
def robot(scene):
    return add_robot()


def by_method(robot, **options):
    with bpy.context.temp_override(object=robot):
        return bpy.ops.robokin.solve_by_method("EXEC_DEFAULT", **options)


def test_the_choices_are_the_methods():
    assert [name for name, *_ in ITEMS] == list(METHODS)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("scale", [1.0, 2.0])
def test_the_robot_goes_to_its_target_and_keys_its_steps(scene, method, scale):
    robot = add_robot()
    robot.location, robot.scale = (1, -2, 3), (scale,) * 3
    bpy.context.view_layer.update()
    target = add_target(robot)
    target.location.x += 0.05 * scale
    model = robot_model(robot)
    robot.robokin.live = False
    scene.frame_set(11)
    assert by_method(robot, method=method) == {"FINISHED"}
    bpy.context.view_layer.update()
    distance, angle = world_error(robot, TOOL, target)
    assert distance < 1.5e-3 * scale and (angle < 0.02 or method == "goal_oriented")
    assert (model.lower <= read_configuration(robot)).all() and (read_configuration(robot) <= model.upper).all()

    with bpy.context.temp_override(object=robot):
        bpy.ops.robokin.reset_pose(start="REST")
    assert by_method(robot, method=method, key=True) == {"FINISHED"}
    last = int(robot.animation_data.action.frame_range[1])
    Q = shown_by_keys(robot, np.arange(11, last + 0.1, 0.5))
    assert last > 11 and (model.lower <= Q).all() and (Q <= model.upper).all()
    assert scene.frame_current == 11 and read_configuration(robot) == pytest.approx(Q[0], abs=1e-6)


def test_an_obstacle_is_a_field_around_its_box(scene, robot):
    assert obstacle_fields(scene, robot, binding(robot), 0.1) == {}
    bpy.ops.mesh.primitive_cube_add(size=0.2, location=(0.5, 0.1, 0.4))
    bpy.context.object.robokin.is_obstacle = True
    bpy.context.view_layer.update()
    fields = obstacle_fields(scene, robot, binding(robot), 0.1)
    assert np.allclose(fields["obstacles"], [(0.5, 0.1, 0.4)]) and np.allclose(fields["radius"], 0.1 * 3**0.5 + 0.1)


def test_what_cannot_be_is_reported(robot):
    with pytest.raises(RuntimeError, match="no Pose or Position task"):
        by_method(robot)
    target = add_target(robot)
    with pytest.raises(RuntimeError, match="no joint named 'elbo'"):
        by_method(robot, method="levenberg_marquardt", stiff="elbo")
    target.location.x += 9.0
    assert by_method(robot) == {"FINISHED"}  # as near as it comes
