"""What a robot stands on: the lowest corners of the boxes around its feet, of every size and unit, and whether it
tips on them."""

from __future__ import annotations

import bpy
import numpy as np
import pytest
from robokin_addon.properties.bridge import binding, read_configuration
from robokin_addon.robokin import Joint, Link, RobotModel
from robokin_addon.scene.animation.curves import write_curves
from robokin_addon.scene.check.check import check_steps
from robokin_addon.scene.contacts import contacts_over
from robokin_addon.scene.tasks.targets import targets_over
from robokin_addon.solvers import Motion
from robokin_addon.solvers.progress import finish
from support.blender.scene_robots import build, placed

LAST, G = 12, np.array([0.0, 0.0, -9.81])
HALF = np.array([0.1, 0.05, 0.02])  # of a foot's box
SIDES = {"left": 0.15, "right": -0.15}


def at(x, y, z):
    T = np.eye(4)
    T[:3, 3] = x, y, z
    return T


def biped():
    """A trunk on two legs, 1 m above its soles."""
    links, joints = [Link("trunk", 10.0, inertia=0.5 * np.eye(3))], []
    for side, y in SIDES.items():
        links += [Link(f"{side}_{part}", 1.0, inertia=0.01 * np.eye(3)) for part in ("thigh", "foot")]
        for name, above, below, place in (
            ("hip", "trunk", f"{side}_thigh", at(0, y, -0.1)),
            ("knee", f"{side}_thigh", f"{side}_foot", at(0, 0, -0.45)),
        ):
            joints.append(
                Joint(
                    f"{side}_{name}", "revolute", above, below, place, (0, 1, 0), lower=-1.5, upper=1.5, velocity=50.0
                )
            )
    return RobotModel("biped", links, joints)


@pytest.fixture(params=[1.0, 0.5])
def robot(scene, request):
    """Its feet are boxes 0.45 m below the knees, one of them turned; it stands somewhere, in another size."""
    scene.frame_start, scene.frame_end = 1, LAST
    obj = placed(build(biped()), (1.0, -2.0, 0.5), (0.0, 0.0, 0.7), request.param)
    obj.robokin.live = False
    for side in SIDES:
        bpy.ops.mesh.primitive_cube_add(size=2.0)
        foot = bpy.context.object
        foot.parent, foot.parent_type, foot.parent_bone = obj, "BONE", f"{side}_knee"
        own = np.eye(4)
        own[:3, :3], own[:3, 3] = np.diag(HALF), (0.03, SIDES[side], -1.0 + HALF[2])
        foot.matrix_world = obj.matrix_world @ foot.matrix_world.__class__(own.tolist())
    bpy.context.view_layer.objects.active = obj
    bpy.context.view_layer.update()
    return obj


def stood_on(obj, q, gravity=G):
    scene, own = bpy.context.scene, binding(obj)
    frames = range(1, len(q) + 1)
    motion = Motion.of(own.model, np.arange(len(q)) / 24.0, q)
    targets = finish(targets_over(scene, bpy.context.view_layer, obj, [], frames, robot=own))
    return contacts_over(obj, own, motion, [], targets, gravity)


def rows(points):
    return sorted(np.round(points, 4).tolist())


def test_the_soles_of_both_feet_and_of_one_where_the_other_is_lifted(robot):
    names = binding(robot).model
    q = np.zeros((2, names.nq))
    q[1, names.slot("left_knee").q] = 0.8
    both, one = stood_on(robot, q)
    soles = {
        side: [[0.03 + x, y + dy, -1.0] for x in (-HALF[0], HALF[0]) for dy in (-HALF[1], HALF[1])]
        for side, y in SIDES.items()
    }
    assert rows(both) == rows([*soles["left"], *soles["right"]])
    assert rows(one) == rows(soles["right"])


def leaned(obj):
    """Both hips swing fast: where they turn round the robot tips."""
    q = np.tile(read_configuration(obj), (LAST, 1))
    model = binding(obj).model
    for side in SIDES:
        q[:, model.slot(f"{side}_hip").q] = 0.1 * np.sin(np.arange(LAST) * 0.9)[:, None]
    write_curves(obj, range(1, LAST + 1), q, False, binding(obj))
    steps = check_steps(bpy.context.scene, bpy.context.view_layer, obj, binding(obj), range(1, LAST + 1), tipping=True)
    return {(v.frame, round(v.value, 9)) for v in finish(steps).limits.violations if v.kind == "tipping"}


def test_limits_with_keys_change_nothing_about_tipping(robot):
    found = leaned(robot)
    assert 0 < len(found) < LAST
    joint = robot.data.bones["left_hip"].robokin
    for frame, velocity in ((1, 40.0), (LAST, 50.0)):
        joint.velocity = velocity
        robot.data.keyframe_insert('bones["left_hip"].robokin.velocity', frame=frame)
    assert leaned(robot) == found


def test_without_gravity_nothing_tips(robot):
    bpy.context.scene.gravity = (0.0, 0.0, 0.0)
    with np.errstate(all="raise"):
        assert leaned(robot) == set()
