"""A robot's program becomes keys."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import bpy
import numpy as np

from ...properties.bridge import Binding, read_configuration
from ...properties.frame_rate import frame_seconds
from ...properties.postures import find_posture, posture_values
from ...robokin import RobokinError, RobotModel, clamp
from ...robokin.arrays import Array
from ...robokin.spatial import quaternion
from ...scene.animation.curves import refuse_unwritable
from ...scene.animation.frames import fcurves
from ...scene.animation.motion_keys import key_motion
from ...scene.bake.retime import binding_rows, keyed_limits
from ...scene.criteria.solver_criteria import root_gravity
from ...scene.tasks.root_frames import metres_per_world_unit, roots_from_world
from ...scene.tasks.shapes import curve_of
from ...solvers.motion.motion import Motion
from ...solvers.program.bindings import binding_labels
from ...solvers.program.moves import Move
from ...solvers.program.run import Parts, program_motion, run_moves_steps
from ...solvers.singularities.tool import moves_without_turning
from ..keyed_numbers import kept_to_its_end, narrowest

SAME_FRAME = 1e-6  # frames
MOST_FRAMES = 100_000  # of one move


@dataclass(frozen=True)
class MovesResult:
    """duration [s] of what was keyed.   rows: first and last frame, kind and joint of the limit that keeps the moves
    from being faster there."""

    duration: float
    rows: tuple[tuple[int, int, str, str], ...]


def solver_move(obj: bpy.types.Object, robot: Binding, item: bpy.types.PropertyGroup) -> Move:
    """A move of the list as the solver takes it, with its objects where they are now. Raises RobokinError."""
    name, metres = item.name, metres_per_world_unit(obj, robot)
    own: dict[str, Any] = {"speed": item.speed / 100.0, "wait": item.wait, "blend": item.blend * metres}
    progress = keyed_progress(obj, item)
    if progress is not None:
        own["progress"] = progress
    if item.kind == "JOINT" and (item.posture or item.target is None):
        if not item.posture:
            raise RobokinError(f"move {name!r} has no posture and no target: choose one")
        values, _ = posture_values(robot.model, find_posture(obj, item.posture))
        return Move(name, joints=values, **own)
    if item.tool_speed > 0.0 and item.kind != "JOINT":
        own["tool_speed"] = item.tool_speed * metres
    if item.kind == "CURVE":
        return Move(name, "curve", tip=item.tip, points=_curve_points(obj, robot, item), **own)
    T, via = _placed(obj, robot, item, "target"), None
    if item.kind == "CIRCLE":
        via = _placed(obj, robot, item, "via")[:3, 3].tolist()
    turned = quaternion.from_matrix(T[:3, :3]).tolist()
    return Move(name, item.kind.lower(), None, item.tip, T[:3, 3].tolist(), turned, via, **own)


def led_move(obj: bpy.types.Object, robot: Binding, item: bpy.types.PropertyGroup) -> Move:
    """`solver_move`, but that rotation is left to an arm of five joints, which cannot have the place and it."""
    move = solver_move(obj, robot, item)
    is_free = move.quaternion is not None and not moves_without_turning(robot.model, move.tip)
    return replace(move, quaternion=None) if is_free else move


def keyed_progress(obj: bpy.types.Object, item: bpy.types.PropertyGroup) -> Array | None:
    """(n, 2) times [s] since the first key of a move's progress, and its value, frame by frame; None without two keys.
    Raises RobokinError."""
    curve = fcurves(obj).get((f"{item.path_from_id()}.progress", 0))
    if curve is None or len(curve.keyframe_points) < 2:
        return None
    first, last = (float(curve.keyframe_points[i].co.x) for i in (0, -1))
    if last - first > MOST_FRAMES:
        raise RobokinError(f"move {item.name!r}: its progress is keyed over more than {MOST_FRAMES} frames")
    frames = np.unique(np.append(np.arange(first, last), last))
    shares = np.array([curve.evaluate(frame) for frame in frames]).clip(0.0, 1.0)
    return np.column_stack(((frames - first) * frame_seconds(bpy.context.scene), shares))


def moves_steps(
    scene: bpy.types.Scene,
    obj: bpy.types.Object,
    robot: Binding,
    first: int,
    efforts: bool = False,
    limits: Mapping[str, object] | None = None,
    which: slice = slice(None),
) -> Generator[float, None, MovesResult]:
    """Yield the share of the work done (0..1) now and then; return what was keyed.

    Moves of the robot one after another, from its present pose, a key a frame from the frame `first` on. Each knows
    its frames then, and the action has a pose marker where it begins. efforts: whether those of the drives are limited
    too, under the scene's gravity. limits: "jerk", "power" and "tools" as `retime` takes them. which: of the list.
    Of limits that are animated the narrowest of these frames are kept. Nothing is written before the last step. Raises
    RobokinError, which names the move that cannot be made.
    """
    refuse_unwritable(scene, obj, False, robot)
    items = obj.robokin.moves[which]
    if not items:
        raise RobokinError(f"{obj.name!r} has no moves: add one")
    q0 = read_configuration(obj, robot)
    moves = [led_move(obj, robot, item) for item in items]
    gravity = drives_gravity(obj, robot, efforts, limits or {})
    step = frame_seconds(scene)

    def made(models: Sequence[RobotModel]) -> Generator[float, None, tuple[tuple[Parts, Motion, Binding], int]]:
        kept = narrowest(models, robot)
        model = kept.model_at(q0)
        done = yield from run_moves_steps(model, moves, clamp(model, q0), keyed_limits(model, limits, step), gravity)
        yield 1.0
        motion = program_motion(done, 1.0 / step)
        return (done, motion, kept), first + int(np.ceil(motion.duration / step - SAME_FRAME))

    (done, motion, kept), _ = yield from kept_to_its_end(scene, obj, [first], robot, made)
    key_motion(scene, obj, motion, first, kept)
    _mark_moves(obj, which, [part.duration + move.wait for move, part in done], first, step)
    labels = binding_labels(done, np.arange(0.0, motion.duration, step))
    return MovesResult(motion.duration, tuple(binding_rows(labels, first)))


def drives_gravity(obj: bpy.types.Object, robot: Binding, efforts: bool, limits: Mapping[str, object]) -> Array | None:
    """(3,) [m/s^2] in the root frame, where efforts or powers are limited; else None."""
    return root_gravity(obj, robot) if efforts or "power" in limits else None


def _mark_moves(obj: bpy.types.Object, which: slice, durations: Sequence[float], first: int, step: float) -> None:
    """Each move's frames, and pose markers of the action by the moves' names in place of those of before."""
    markers, items = obj.animation_data.action.pose_markers, obj.robokin.moves[which]
    names = {item.name for item in items}
    for marker in [marker for marker in markers if marker.name in names]:
        markers.remove(marker)
    ends = first + np.cumsum(durations) / step
    for item, start, end in zip(items, np.append(first, ends[:-1]), ends, strict=True):
        item.first, item.last = int(np.round(start)), int(np.ceil(end - SAME_FRAME))
        markers.new(item.name).frame = item.first


def _curve_points(obj: bpy.types.Object, robot: Binding, item: bpy.types.PropertyGroup) -> Array:
    """(n, 3) [m] of the target's first line, in the root frame."""
    if item.target is None or item.target.type != "CURVE":
        raise RobokinError(f"move {item.name!r} has no curve object as its target: choose one")
    line = curve_of(obj, item.target, f"move {item.name!r}").lines[0].moved(_placed(obj, robot, item, "target"))
    return np.vstack((line.segments["origin"], line.at(line.length)[0]))


def _placed(obj: bpy.types.Object, robot: Binding, item: bpy.types.PropertyGroup, role: str) -> Array:
    """(4, 4) T_root_object [m]."""
    found = getattr(item, role)
    if found is None:
        raise RobokinError(f"move {item.name!r} has no object as its {role}: choose one")
    own, there = (np.array(each.matrix_world, float)[None] for each in (obj, found))
    return roots_from_world(obj, own, there, item.name, robot)[0]
