"""The motion that the keys of a robot are, for what is drawn: judged in slices while Blender is idle, never while it
draws. What keys alone do not move is not visited: its frames would have to be shown."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from itertools import pairwise

import bpy
import numpy as np

from ...properties.bridge import Binding, binding
from ...properties.frame_rate import frame_seconds
from ...properties.results import readouts
from ...properties.results.readouts import ShownMotion
from ...robokin import RobotModel, difference
from ...robokin.arrays import Array
from ...scene.animation.curves import shown_by_keys
from ...scene.animation.frames import moved_by_keys_only
from ...scene.check.check import check_steps
from ...scene.tasks.root_frames import metres_per_world_unit
from ...scene.tasks.solver_tasks import enabled_tasks
from ...scene.tasks.targets import places_of
from ..idle_work import IdleWork

MOST = 1000  # frames that are looked at; of longer ranges every second, third ...
ROOM = 0.25  # of half its range: a joint that is nearer to its limit is coloured
WORST = 100.0  # times its tolerance: a residual that is coloured as the worst

_work: IdleWork[ShownMotion] = IdleWork("judging the motion that is drawn")


def shown_motion(obj: bpy.types.Object, color: str, mark: int) -> ShownMotion | None:
    """The motion as it was judged last; where that was at another mark, it is soon done anew."""
    return _work.result(obj, color, mark, lambda: _judged(bpy.context.scene.name, obj.name, color))


def finish_work() -> None:
    """Do all that waits, at once."""
    _work.finish()


def _judged(scene_name: str, name: str, color: str) -> Generator[float, None, ShownMotion | None]:
    scene, obj = bpy.data.scenes.get(scene_name), bpy.data.objects.get(name)
    if scene is None or obj is None or obj.animation_data is None or obj.animation_data.action is None:
        return None
    first, last = (
        (scene.frame_preview_start, scene.frame_preview_end)
        if scene.use_preview_range
        else (scene.frame_start, scene.frame_end)
    )
    frames = np.arange(first, last + 1, max(1, -(-(last + 1 - first) // MOST)))
    robot = binding(obj)
    Q = shown_by_keys(obj, frames, robot)
    if Q is None:
        return None
    yield 0.1
    model = robot.model
    if color == "LIMIT":
        return ShownMotion(frames, Q, limit_shares(model, Q))
    if color == "TIMING":  # what Retime has said
        return ShownMotion(frames, Q, np.full(len(frames), np.nan))
    if color == "SPEED":
        return ShownMotion(frames, Q, speed_shares(model, Q, frames * frame_seconds(scene)))
    shares = yield from _residual_shares(scene, obj, robot, frames.tolist())
    return ShownMotion(frames, Q, shares)


def limit_shares(model: RobotModel, Q: Array) -> Array:
    """(n,) 1 where a joint is at a position limit, 0 where none is near one."""
    wide = model.upper - model.lower
    bounded = np.isfinite(wide) & (wide > 0.0)
    if not bounded.any():
        return np.zeros(len(Q))
    q, lower, upper = Q[:, bounded], model.lower[bounded], model.upper[bounded]
    room = np.minimum(q - lower, upper - q) / (0.5 * ROOM * wide[bounded])
    return np.clip(1.0 - room.min(axis=1), 0.0, 1.0)


def speed_shares(model: RobotModel, Q: Array, times: Array) -> Array:
    """(n,) of its highest speed, of the joint that is nearest to it; NaN for a robot that states none."""
    bounded = np.isfinite(model.velocity) & (model.velocity > 0.0)
    if not bounded.any() or len(Q) < 2:
        return np.full(len(Q), np.nan)
    v = np.array([difference(model, a, b) for a, b in pairwise(Q)]) / np.diff(times)[:, None]
    shares = (abs(v[:, bounded]) / model.velocity[bounded]).max(axis=1)
    return np.concatenate((shares[:1], np.maximum(shares[:-1], shares[1:]), shares[-1:]))


def residual_share(ratios: Array) -> Array:
    """The shares of residuals, as multiples of their tolerances: 0 within them, from 2/3 up where they are missed."""
    missed = 2.0 / 3.0 + np.log10(np.maximum(ratios, 1.0)) / np.log10(WORST) / 3.0
    return np.where(ratios > 1.0, np.minimum(missed, 1.0), 0.0)


def _residual_shares(
    scene: bpy.types.Scene, obj: bpy.types.Object, robot: Binding, frames: list[int]
) -> Generator[float, None, Array]:
    unknown = np.full(len(frames), np.nan)
    tasks = enabled_tasks(obj, robot)
    places = {place for task in tasks for place in places_of(task).values()} | {(obj, "")}
    if not tasks or any(bone or not moved_by_keys_only(owner) for owner, bone in places):
        return unknown
    found = yield from check_steps(scene, bpy.context.view_layer, obj, robot, frames, with_collisions=False)
    ratios = np.full(found.residuals.shape, np.nan)
    for i, task in enumerate(tasks):
        for part, tolerance in enumerate(_tolerances(obj, task, found.units[i])):
            ratios[:, i, part] = found.residuals[:, i, part] / tolerance
    worst = np.nan_to_num(ratios, nan=0.0).max(axis=(1, 2), initial=0.0)
    return np.where(np.isnan(ratios).all(axis=(1, 2)), np.nan, residual_share(worst))


def _tolerances(obj: bpy.types.Object, task: bpy.types.PropertyGroup, units: Iterable[str]) -> list[float]:
    near = task.position_tolerance * metres_per_world_unit(obj)
    return [max(near if unit == "m" else task.orientation_tolerance, 1e-12) for unit in units]


def register() -> None:
    _work.register()
    readouts.motion, readouts.poses = shown_motion, shown_by_keys
    readouts.motion_count = lambda: _work.count


def unregister() -> None:
    readouts.motion, readouts.motion_count = readouts.no_motion, readouts.never
    readouts.poses = readouts.no_poses
    _work.unregister()
