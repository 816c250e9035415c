"""Every robot of the library follows a short path: each frame reached, within all limits, as Blender shows it."""

from __future__ import annotations

from itertools import pairwise

import bpy
import numpy as np
import pytest
from mathutils import Matrix
from robokin_addon.properties.bridge import binding, read_configuration, robot_model, to_blender, write_configuration
from robokin_addon.robokin import (
    RobotModel,
    difference,
    forward_kinematics,
    in_limits,
    integrate,
    random_configuration,
    rolling_constraints,
)
from robokin_addon.robokin.library import ROBOTS
from support.blender.scene_robots import add_target, world_error
from support.few import these_slow

FRAMES = 36
FPS = 24.0


def middle(model: RobotModel, rng: np.random.Generator) -> np.ndarray:
    """A configuration well inside the limits: part of the way from the middle of the ranges to a random one."""
    start = model.limits.clamp(model.neutral())
    bounded = np.isfinite(model.lower) & np.isfinite(model.upper)
    start[bounded] = (model.lower[bounded] + model.upper[bounded]) / 2.0
    return integrate(model, start, 0.6 * difference(model, start, random_configuration(model, rng)))


def path(model: RobotModel, start: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """(FRAMES, nq) a smooth way from rest to rest at no more than a third of the speeds, wheels rolling."""
    speeds = np.minimum(model.velocity, 1.0) / 3.0 * rng.uniform(-1.0, 1.0, model.nv)
    for base in model.rolling_bases:
        speeds[list(base.wheel_v)] = 2.0, 2.5
    q, found = start, []
    for share in np.sin(np.linspace(0.0, np.pi, FRAMES)) ** 2:
        v = speeds * share / FPS
        ahead = integrate(model, q, v)
        for base in model.rolling_bases:
            at = slice(base.q, base.q + 3)
            ahead[at] = base.roll(q[at], v[list(base.wheel_v)])
        q = model.limits.clamp(ahead)
        found.append(q)
    return np.array(found)


@pytest.mark.parametrize("name", these_slow(ROBOTS, "humanoid", "puppet"))
def test_a_short_path(scene: bpy.types.Scene, name: str) -> None:
    scene.frame_start, scene.frame_end, scene.render.fps = 1, FRAMES, int(FPS)
    bpy.ops.robokin.add_robot(robot=name)
    obj = bpy.context.object
    model, rng = robot_model(obj), np.random.default_rng(3)
    link = ROBOTS[name].tip
    tip = binding(obj).bone_of_link[link]
    Q = path(model, middle(model, rng), rng)
    write_configuration(obj, Q[0])
    bpy.ops.robokin.store_posture()
    bpy.context.view_layer.update()
    kind = "POSE" if model.nv >= 6 else "POSITION"
    target = add_target(obj, tip, kind)
    target.rotation_mode = "QUATERNION"
    task = obj.robokin.tasks[0]
    for frame, q in enumerate(Q, start=1):
        place: Matrix = to_blender(obj, forward_kinematics(model, q)[link])
        target.location, target.rotation_quaternion = place.translation, place.to_quaternion()
        target.keyframe_insert("location", frame=frame)
        target.keyframe_insert("rotation_quaternion", frame=frame)
    assert bpy.ops.robokin.bake() == {"FINISHED"}
    assert obj.robokin.solver.bake_status == "CONVERGED", obj.robokin.solver.bake_reason
    shown = []
    for frame in range(1, FRAMES + 1):
        scene.frame_set(frame)
        distance, angle = world_error(obj, tip, target)
        assert distance < task.position_tolerance + 2e-5
        assert kind == "POSITION" or angle < task.orientation_tolerance + 1e-4
        q = read_configuration(obj)
        assert in_limits(model, q)
        shown.append(q)
    steps = [difference(model, a, b) for a, b in pairwise(shown)]
    assert (abs(np.array(steps)) * FPS <= model.velocity + 1e-4).all()
    if model.rolling_bases:  # nothing slips: half a step's slip is what the chord of an arc leaves
        for a, v in zip(shown, steps, strict=False):
            mid = integrate(model, a, v / 2.0)
            assert abs(rolling_constraints(model, mid) @ v).max() < 1e-5
        assert np.linalg.norm(shown[-1][:2] - shown[0][:2]) > 0.02
    assert bpy.ops.robokin.check() == {"FINISHED"}
    assert obj.robokin.solver.check_passed, obj.robokin.solver.check_summary
