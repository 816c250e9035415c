"""New timing for an animation: the path stays, inside its limits."""

from __future__ import annotations

import itertools
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass

import bpy
import numpy as np

from ...properties.bridge import Binding
from ...properties.frame_rate import frame_seconds
from ...robokin import RobokinError, RobotModel, clamp
from ...robokin.arrays import Array
from ...robokin.structure.narrow_limits import with_limits_around
from ...robokin.structure.tool_links import tool_links
from ...scene.animation import frames as animation
from ...scene.animation.curves import own_keys, refuse_unwritable
from ...scene.animation.motion_keys import key_motion
from ...scene.criteria.solver_criteria import root_gravity
from ...scene.tasks.root_frames import metres_per_world_unit
from ...solvers.limits.viability import keyed_velocity
from ...solvers.motion.motion import Motion
from ...solvers.progress import scaled
from ...solvers.retiming.retime import retime_steps as timing_steps
from ...solvers.retiming.timing import Retimed
from ...solvers.trajectories.motion_limits import MotionLimits
from ..keyed_numbers import kept_to_its_end
from .samples import sample_motion

_ROUNDING = 1e-6  # [rad, m] of keys in single precision
_SAME_FRAME = 1e-6  # frames
OUTSIDE = "is outside its position limits; Smooth brings it inside"


@dataclass(frozen=True, eq=False)
class RetimeResult:
    """first, last: frames in which the motion begins and ends. before: [s] it took. result: what it became.
    rows: first and last frame, kind and joint of the limit that keeps it from being faster there.   is_as_animated: it
    is no faster than it was."""

    first: int
    last: int
    before: float
    result: Retimed
    rows: tuple[tuple[int, int, str, str], ...] = ()
    is_as_animated: bool = False

    def summary(self) -> str:
        """One line."""
        notes = [f"frames {self.first} to {self.last}: {self.result.duration:.3f} s, before {self.before:.3f} s"]
        limit = next((limit for limit in self.result.bindings if limit.joint), None)
        if limit is not None:
            notes.append(f"the first limit that binds is the {limit.kind} of {limit.joint}")
        assumed = [kind for kind in ("velocity", "acceleration") if kind in self.result.limits.assumed]
        if assumed:
            taken = "usual ones" + (", or what the animation has," if self.is_as_animated else "")
            notes.append(f"some joints have no limit on {' and '.join(assumed)}: {taken} were assumed")
        return "; ".join(notes)


def retime_steps(
    scene: bpy.types.Scene,
    obj: bpy.types.Object,
    robot: Binding,
    first: int,
    last: int,
    mode: str = "FASTEST",
    duration: float = 0.0,
    efforts: bool = False,
    limits: Mapping[str, object] | None = None,
) -> Generator[float, None, RetimeResult]:
    """Yield the share of the work done (0..1) now and then; return what was written.

    The animation of the frames first..last keeps its path and gets new timing from its first frame on, a key a frame.
    Where it gets shorter the robot rests until the last frame. mode: FASTEST; AS_ANIMATED, as fast as it was;
    DURATION, as fast as `duration` [s] asks. efforts: whether those of the drives are limited too, under the scene's
    gravity.   limits: "jerk", "power" and "tools" as `retime` takes them. Of limits on rates that are animated the
    narrowest of these frames are kept, and of those that it takes more. Nothing is written before the last step.

    Raises RobokinError where there is no motion, it leaves the position limits of a frame, a duration is too short, or
    it would run into later keys.
    """
    refuse_unwritable(scene, obj, False, robot)
    frames = range(first, last + 1)
    shown = yield from scaled(sample_motion(scene, obj, frames, robot), 0.0, 0.2)
    if not np.ptp(shown.q, axis=0).any():
        raise RobokinError(f"the robot stands still in frames {first} to {last}: there is no motion to retime")
    gravity = root_gravity(obj, robot) if efforts or (limits and "power" in limits) else None
    wanted = duration if mode == "DURATION" else None
    step = frame_seconds(scene)

    def made(models: Sequence[RobotModel]) -> Generator[float, None, tuple[tuple[Retimed, Binding], int]]:
        own = zip(models, shown.q, strict=False)
        q = np.array([inside(model, each, first + k) for k, (model, each) in enumerate(own)])
        kept = robot.limited(with_limits_around(robot.model, models, q))
        bound, motion = keyed_limits(kept.model, limits, step), Motion.of(kept.model, shown.times, q)
        timing = timing_steps(kept.model, motion, bound, wanted, as_animated=mode == "AS_ANIMATED", gravity=gravity)
        found = yield from timing
        yield 1.0  # before anything is written, also where the timing took long
        return (found, kept), first + int(np.ceil(found.duration / step - _SAME_FRAME))

    (found, kept), models = yield from scaled(kept_to_its_end(scene, obj, frames, robot, made), 0.2, 0.95)
    keyed = _rested(found.motion(1.0 / step), shown.duration)
    if set(models) != {robot.model}:
        for k, q in enumerate(keyed.at(np.minimum(step * np.arange(len(models)), keyed.duration)).q):
            inside(models[k], q, first + k, "would be outside its position limits there, which are animated")
    end = first + int(np.ceil(found.duration / step - _SAME_FRAME))
    refuse_later_keys(obj, robot, last, end)
    key_motion(scene, obj, keyed, first, kept)
    rows = tuple(_rows(found, first, end, step))
    return RetimeResult(first, end, shown.duration, found, rows, mode == "AS_ANIMATED")


def retime_limits(
    obj: bpy.types.Object, robot: Binding, jerk: bool, power: float, tool_speed: float, tool_acceleration: float
) -> dict[str, object]:
    """What `retime_steps` takes, of settings in which 0 is no limit; lengths in Blender units."""
    model, metres = robot.model, metres_per_world_unit(obj, robot)
    limits: dict[str, object] = {}
    if jerk:
        limits["jerk"] = MotionLimits.of(model).jerk
    if power > 0.0:
        limits["power"] = power
    own = {"speed": tool_speed * metres, "acceleration": tool_acceleration * metres}
    own = {kind: value for kind, value in own.items() if value > 0.0}
    if own:
        limits["tools"] = dict.fromkeys(tool_links(model), own)
    return limits


def keyed_limits(model: RobotModel, limits: Mapping[str, object] | None, step: float) -> dict[str, object]:
    """The limits of a motion that gets a linear key every step [s]."""
    return {**(limits or {}), "velocity": keyed_velocity(model, step)}


def set_limits(obj: bpy.types.Object, robot: Binding) -> dict[str, object]:
    """`retime_limits` of the robot's own settings."""
    own = obj.robokin.solver
    return retime_limits(
        obj, robot, own.retime_jerk, own.retime_power, own.retime_tool_speed, own.retime_tool_acceleration
    )


def _rows(found: Retimed, first: int, end: int, step: float) -> Iterator[tuple[int, int, str, str]]:
    times = np.minimum(np.arange(end - first + 1) * step, found.duration)
    labels = [(each.kind, each.joint) if each is not None else None for each in found.binding_at(times)]
    return binding_rows(labels, first)


def binding_rows(labels: Sequence[tuple[str, str] | None], first: int) -> Iterator[tuple[int, int, str, str]]:
    """First and last of the frames in a row of which the same limit binds, its kind and joint. labels: kind and joint
    at each frame from `first` on."""
    for label, group in itertools.groupby(range(len(labels)), key=lambda i: labels[i]):
        frames = list(group)
        if label is not None:
            yield first + frames[0], first + frames[-1], *label


def inside(model: RobotModel, q: Array, frame: int, problem: str = OUTSIDE) -> Array:
    """(nq,) without what rounding puts outside the position limits. Raises RobokinError for more."""
    clamped = clamp(model, q)
    if abs(clamped - q).max(initial=0.0) > _ROUNDING:
        joint = farthest_joint(model, abs(clamped - q))
        raise RobokinError(f"frame {frame}: {joint!r} {problem}")
    return clamped


def farthest_joint(model: RobotModel, away: Array) -> str:
    """Name of the joint whose coordinates differ most."""
    slots = {joint.name: model.slot(joint.name).q for joint in model.moving_joints}
    return max(slots, key=lambda name: away[slots[name]].max(initial=0.0))


def refuse_later_keys(obj: bpy.types.Object, robot: Binding, last: int, end: int) -> None:
    """Raises RobokinError for keys of the robot after the frame `last`, up to `end`."""
    own = own_keys(robot)
    curves = [curve for key, curve in animation.fcurves(obj).items() if key in own]
    keys = [point.co.x for curve in curves for point in curve.keyframe_points if last < point.co.x <= end]
    if keys:
        raise RobokinError(
            f"the motion would take until frame {end}, over the keys from frame {min(keys):g} on: "
            "move these first, or choose a range that has them"
        )


def _rested(motion: Motion, until: float) -> Motion:
    """The motion, and rest after it until then [s]."""
    if motion.times[-1] >= until:
        return motion
    return Motion.of(motion.model, np.append(motion.times, until), np.concatenate((motion.q, motion.q[-1:])))
