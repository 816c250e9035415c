"""The motion that the keys of a robot are, for what is drawn: judged in slices while Blender is idle, never while it
draws. What keys alone do not move is not visited: its frames would have to be shown."""

from __future__ import annotations

import time
from collections.abc import Generator, Iterable
from itertools import pairwise

import bpy
import numpy as np

from ...properties.bridge import robot_model
from ...properties.frame_rate import frame_seconds
from ...properties.handlers import add_handler, going_on, remove_handler
from ...properties.results import readouts
from ...properties.results.readouts import ShownMotion
from ...robokin import RobokinError, RobotModel, difference
from ...robokin.arrays import Array
from ...scene.animation.curves import shown_by_keys
from ...scene.animation.frames import moved_by_keys_only
from ...scene.bake.check import check_steps
from ...scene.tasks.root_frames import metres_per_world_unit
from ...scene.tasks.solver_tasks import enabled_tasks
from ...scene.tasks.targets import places_of
from ..modal import entry_identity

SLICE = 0.008  # [s] of one piece of work
MOST = 1000  # frames that are looked at; of longer ranges every second, third ...
ROOM = 0.25  # of half its range: a joint that is nearer to its limit is coloured
WORST = 100.0  # times its tolerance: a residual that is coloured as the worst

_done: dict[tuple[int, str], tuple[int, ShownMotion | None]] = {}  # of a robot and colour: the mark it was made at
_count = [0]
_work: dict[tuple[int, str], tuple[int, Generator[float, None, ShownMotion | None]]] = {}
_held: dict[tuple[int, str], list[object]] = {}  # by what is worked on: the entries that the work holds


def shown_motion(obj: bpy.types.Object, color: str, mark: int) -> ShownMotion | None:
    """The motion as it was judged last; where that was at another mark, it is soon done anew."""
    key = obj.session_uid, color
    at, motion = _done.get(key, (-1, None))
    if at != mark and (key not in _work or _work[key][0] != mark):
        _work[key] = mark, _judged(bpy.context.scene.name, obj.name, color)
        _held[key] = entry_identity(obj)
        if not bpy.app.background and not bpy.app.timers.is_registered(_go_on):
            bpy.app.timers.register(_go_on, first_interval=0.1)
    return motion


def motion_count() -> int:
    """Another number when any motion was judged anew."""
    return _count[0]


def finish_work() -> None:
    """Do all that waits, at once."""
    while _work:
        _slice(np.inf)


def _go_on() -> float | None:
    _slice(SLICE)
    return 0.01 if _work else None


def _slice(seconds: float) -> None:
    key, (mark, work) = next(iter(_work.items()))
    until = time.perf_counter() + seconds
    motion, is_done = None, True
    with going_on("judging the motion that is drawn"):
        try:
            obj = next((each for each in bpy.data.objects if each.session_uid == key[0]), None)
            if obj is None or entry_identity(obj) != _held[key]:  # what the work holds may be gone
                raise ReferenceError
            while time.perf_counter() < until:
                next(work)
            is_done = False
        except StopIteration as end:
            motion = end.value
        except (RobokinError, ReferenceError):  # a robot that cannot be read, or that is gone
            pass
    if is_done:
        del _work[key], _held[key]
        _done[key] = mark, motion
        _count[0] += 1
        _redraw()


def _redraw() -> None:
    for window in bpy.context.window_manager.windows:
        for area in window.screen.areas:
            if area.type == "VIEW_3D":
                area.tag_redraw()


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
    Q = shown_by_keys(obj, frames)
    if Q is None:
        return None
    yield 0.1
    model = robot_model(obj)
    if color == "LIMIT":
        return ShownMotion(frames, Q, limit_shares(model, Q))
    if color == "TIMING":  # what Retime has said
        return ShownMotion(frames, Q, np.full(len(frames), np.nan))
    if color == "SPEED":
        return ShownMotion(frames, Q, speed_shares(model, Q, frames * frame_seconds(scene)))
    shares = yield from _residual_shares(scene, obj, frames.tolist())
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


def _residual_shares(scene: bpy.types.Scene, obj: bpy.types.Object, frames: list[int]) -> Generator[float, None, Array]:
    unknown = np.full(len(frames), np.nan)
    tasks = enabled_tasks(obj)
    places = {place for task in tasks for place in places_of(task).values()} | {(obj, "")}
    if not tasks or any(bone or not moved_by_keys_only(owner) for owner, bone in places):
        return unknown
    found = yield from check_steps(scene, bpy.context.view_layer, obj, frames, with_collisions=False)
    ratios = np.full(found.residuals.shape, np.nan)
    for i, task in enumerate(tasks):
        for part, tolerance in enumerate(_tolerances(obj, task, found.units[i])):
            ratios[:, i, part] = found.residuals[:, i, part] / tolerance
    worst = np.nan_to_num(ratios, nan=0.0).max(axis=(1, 2), initial=0.0)
    return np.where(np.isnan(ratios).all(axis=(1, 2)), np.nan, residual_share(worst))


def _tolerances(obj: bpy.types.Object, task: bpy.types.PropertyGroup, units: Iterable[str]) -> list[float]:
    near = task.position_tolerance * metres_per_world_unit(obj)
    return [max(near if unit == "m" else task.orientation_tolerance, 1e-12) for unit in units]


def _forget(*_: object) -> None:
    _work.clear()
    _held.clear()
    _done.clear()


_EVENTS = ("load_pre", "undo_pre", "redo_pre")  # what work in progress holds is gone after them


def register() -> None:
    for event in _EVENTS:
        add_handler(event, _forget)
    readouts.motion, readouts.motion_count, readouts.poses = shown_motion, motion_count, shown_by_keys


def unregister() -> None:
    for event in _EVENTS:
        remove_handler(event, _forget)
    readouts.motion, readouts.motion_count = readouts.no_motion, readouts.never
    readouts.poses = readouts.no_poses
    if bpy.app.timers.is_registered(_go_on):
        bpy.app.timers.unregister(_go_on)
    _forget()
