"""A robot's program becomes keys."""

from __future__ import annotations

from collections.abc import Generator

import bpy
import numpy as np

from ...properties.bridge import Binding, binding, read_configuration
from ...properties.frame_rate import frame_seconds
from ...properties.postures import find_posture, posture_values
from ...robokin import RobokinError, clamp
from ...robokin.arrays import Array
from ...robokin.spatial import quaternion
from ...scene.animation.curves import refuse_unwritable
from ...scene.animation.motion_keys import key_motion
from ...scene.tasks.root_frames import roots_from_world
from ...solvers.motion.motion import Motion
from ...solvers.program.moves import Move, program_motion, run_moves
from ...solvers.trajectories.sampled import Sampled


def solver_move(obj: bpy.types.Object, robot: Binding, item: bpy.types.PropertyGroup) -> Move:
    """A move of the list as the solver takes it, with its objects where they are now. Raises RobokinError."""
    name, speed, wait = item.name, item.speed / 100.0, item.wait
    if item.kind == "JOINT":
        if not item.posture:
            raise RobokinError(f"move {name!r} has no posture: choose one")
        values, _ = posture_values(robot.model, find_posture(obj, item.posture))
        return Move(name, joints=values, speed=speed, wait=wait)
    T, via = _placed(obj, robot, item, "target"), None
    if item.kind == "CIRCLE":
        via = _placed(obj, robot, item, "via")[:3, 3].tolist()
    turned = quaternion.from_matrix(T[:3, :3]).tolist()
    return Move(name, item.kind.lower(), None, item.tip, T[:3, 3].tolist(), turned, via, speed, wait)


def moves_steps(scene: bpy.types.Scene, obj: bpy.types.Object, first: int) -> Generator[float, None, Motion]:
    """Yield the share of the work done (0..1) now and then; return the motion that was keyed.

    All moves of the robot one after another, from its present pose, a key a frame from the frame `first` on. Nothing
    is written before the last step. Raises RobokinError, which names the move that cannot be made.
    """
    robot = binding(obj)
    refuse_unwritable(scene, obj, False, robot)
    items = obj.robokin.moves
    if not items:
        raise RobokinError(f"{obj.name!r} has no moves: add one")
    q0 = read_configuration(obj, robot)
    model = robot.model_at(q0)
    moves = [solver_move(obj, robot, item) for item in items]
    q, done = clamp(model, q0), list[tuple[Move, Sampled]]()
    for number, move in enumerate(moves):
        yield number / len(moves)
        done += run_moves(model, [move], q)
        motion = done[-1][1]
        q = motion.sample(motion.duration)[0]
    yield 1.0
    motion = program_motion(done, 1.0 / frame_seconds(scene))
    key_motion(scene, obj, motion, first, robot)
    return motion


def _placed(obj: bpy.types.Object, robot: Binding, item: bpy.types.PropertyGroup, role: str) -> Array:
    """(4, 4) T_root_object [m]."""
    found = getattr(item, role)
    if found is None:
        raise RobokinError(f"move {item.name!r} has no object as its {role}: choose one")
    own, there = (np.array(each.matrix_world, float)[None] for each in (obj, found))
    return roots_from_world(obj, own, there, item.name, robot)[0]
