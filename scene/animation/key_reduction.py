"""Fewer keys: an animation that goes along Bezier curves, with a bound on what its tools are off."""

from __future__ import annotations

from collections.abc import Collection, Generator, Sequence
from dataclasses import dataclass

import bpy
import numpy as np

from ...properties.bridge import Binding, binding
from ...properties.frame_rate import frame_seconds
from ...robokin import RobokinError, difference
from ...robokin.arrays import Array
from ...robokin.configuration import unit_quaternions
from ...robokin.structure.narrow_limits import with_limits_around
from ...robokin.structure.tool_links import end_links
from ...robokin.units import counted, small_length
from ...solvers import Motion
from ...solvers.motion.key_reduction import ReducedKeys, even_keys, reduce_keys, tool_errors
from ...solvers.progress import finish, scaled
from ..keyed_numbers import models_over, written_check
from .curves import (
    channel_key,
    key_frames,
    refuse_unwritable,
    replace_keys,
    rounded_channels,
    sample_configurations,
    show_curves,
    write_curves,
)
from .frames import fcurves
from .undone import whole_or_undone

_SAME_FRAME = 1e-3
_PARTS = 8  # of a frame that are looked at
_CLOSER = 0.97  # bounds are drawn closer by a little more than what was too much
_ROUNDS = 10  # after as many no closer bounds help: the curves jump or swing within a frame


@dataclass(frozen=True, eq=False)
class ReduceResult:
    """before, after: frames with keys.   broken_before, broken_after: frames that break a limit.   position [m],
    rotation [rad]: what no tool, and no other end of the robot, is off by more at any time, of the curves as they were
    written.   base_kept: a base that rolls has kept its motion, whose keys do not count."""

    before: int
    after: int
    broken_before: int
    broken_after: int
    position: float
    rotation: float
    base_kept: bool = False
    is_as_before: bool = False

    def summary(self) -> str:
        """One line."""
        if self.is_as_before:
            return f"keys in {counted(self.after, 'frame')} stay as they are: other ones do not keep the bounds"
        off = f"{small_length(self.position)} and {np.degrees(self.rotation):.3g}°"
        off += ", the base that rolls keeps keys where it turns or changes speed" if self.base_kept else ""
        limits = f"; frames that break a limit: {self.broken_after}, before {self.broken_before}"
        return f"keys in {counted(self.after, 'frame')}, before in {self.before}; the tool is off by up to {off}" + (
            limits if self.broken_before or self.broken_after else ""
        )

    def to_dict(self) -> dict:
        """Plain values for JSON."""
        keys = {"keys_before": self.before, "keys_after": self.after}
        broken = {"broken_before": self.broken_before, "broken_after": self.broken_after}
        return {**keys, **broken, "position": self.position, "rotation": self.rotation}


class _NotFewerError(RobokinError):
    """No other keys keep the bounds, or only more."""


def reduce_steps(
    scene: bpy.types.Scene,
    obj: bpy.types.Object,
    first: int,
    last: int,
    position: float,
    rotation: float,
    new_action: bool = False,
) -> Generator[float, None, ReduceResult]:
    """Yield the share of the work done (0..1) now and then; return what was written.

    The robot's keys of the frames first..last become as few as keep each tool within `position` [m] and `rotation`
    [rad] of where the animation has it, and inside the limits. Nothing is written before the last step.
    Raises RobokinError.
    """
    if last - first < 1:
        raise RobokinError("one frame is no motion: choose a range of at least two frames")
    robot = binding(obj)
    refuse_unwritable(scene, obj, new_action, robot)
    before = _keyed_frames(obj, robot, first, last)
    if not before:
        raise RobokinError(f"{obj.name!r} has no keys in frames {first} to {last}: there is nothing to reduce")
    frames = np.arange(first, last + 1)
    parts = np.arange(_PARTS * (len(frames) - 1) + 1) / _PARTS
    times, whole = parts[:: _PARTS // 2] * frame_seconds(scene), slice(0, len(parts), _PARTS)
    looked = [*(first + parts).tolist(), *sorted(before.difference(frames.tolist()))]
    shown = yield from scaled(_configurations(scene, obj, looked, robot), 0.0, 0.4)
    models = yield from scaled(models_over(scene, obj, frames.tolist(), robot), 0.4, 0.4)
    robot = robot.limited(with_limits_around(robot.model, models, shown[whole]))
    model = robot.model
    smooth = Motion.of(model, parts, shown[: len(parts)]).unwrapped().q
    motion, slopes = Motion.of(model, times, smooth[:: _PARTS // 2]), _slopes(smooth)
    links = end_links(model)
    reduced = yield from scaled(reduce_keys(motion, links, position, rotation, slopes), 0.4, 1.0)
    are_plain, after = _are_plain(obj, robot, before), before
    try:
        with whole_or_undone(obj):
            share = 1.0
            for left in reversed(range(_ROUNDS)):
                # Balls go another way between keys than their model: then closer bounds keep those asked for.
                keys = write_curves(obj, frames[reduced.keys].tolist(), motion.q[::2][reduced.keys], new_action, robot)
                _shape_keys(obj, robot, reduced, first, keys)
                _keep_keys(obj, robot, reduced, frames, motion.q[::2])
                show_curves(obj, scene.frame_current_final, robot)
                written, new_action = finish(_configurations(scene, obj, looked, robot)), False
                off = tool_errors(model, links, written, shown)
                away, turned = (max(_most(each[: len(parts)]), float(each.max())) for each in off)
                over = max(away / position, turned / rotation)
                if over <= 1.0:
                    break
                if not left or len(reduced.keys) == len(frames):
                    at = int(np.argmax(np.maximum(off[0] / position, off[1] / rotation).max(axis=1)))
                    raise _NotFewerError(_unsteady(robot, shown[at], written[at], looked[at]))
                share *= _CLOSER / over
                reduced = finish(reduce_keys(motion, links, share * position, share * rotation, slopes))
            after = _keyed_frames(obj, robot, first, last, reduced.unreduced)
            if are_plain and len(after) > len(before):
                raise _NotFewerError("more keys than before")
    except _NotFewerError:
        # Handles of other lengths than a third turn within a frame as no cubic of time does: these keys are the fewest.
        if not are_plain:
            raise
        written, after, away, turned = shown, before, 0.0, 0.0
    both = (Motion.of(model, times[::2], q[whole]) for q in (shown, written))
    broken = [written_check(each, models).frames_broken for each in both]
    as_it_was = bool(len(reduced.unreduced)), written is shown
    return ReduceResult(len(before), len(after), broken[0], broken[1], away, turned, *as_it_was)


def _configurations(
    scene: bpy.types.Scene, obj: bpy.types.Object, frames: Sequence[float], robot: Binding
) -> Generator[float, None, Array]:
    """`sample_configurations`, with quaternions of length 1, which those between keys have not."""
    return unit_quaternions(robot.model, (yield from sample_configurations(scene, obj, frames, robot)))


def _slopes(q: Array) -> Array:
    """(F, nq) per frame at whole frames, of q at parts of frames: the mean of those before and after, each that of the
    cubic through four samples, as Bezier keys may turn much within a frame. At the ends they go on as they jump."""
    weights = _PARTS / 6.0 * np.array([-11.0, 18.0, -9.0, 2.0])
    after, before = (np.einsum("k,kfi->fi", weights, each) for each in (_four(q), -_four(q[::-1])[:, ::-1]))
    jumps = after[1:] - before[:-1]
    start, end = after[:1] - 0.5 * jumps[:1].sum(axis=0), before[-1:] + 0.5 * jumps[-1:].sum(axis=0)
    return np.vstack((start, before[:-1] + 0.5 * jumps, end))


def _four(q: Array) -> Array:
    """(4, F - 1, nq) the first samples from each frame on."""
    return np.stack([q[k::_PARTS][: (len(q) - 1) // _PARTS] for k in range(4)])


def _unsteady(robot: Binding, shown: Array, written: Array, frame: float) -> str:
    off = abs(difference(robot.model, shown, written))
    joint = max(robot.model.moving_joints, key=lambda joint: off[robot.model.slot(joint.name).v].max())
    q = robot.model.slot(joint.name).q
    bone = next(channel.bone for channel in robot.written_channels if q.start <= channel.q < q.stop)
    return (
        f"no keys at whole frames keep the bounds: bone {bone!r} is off most, at frame {frame:g}, where it jumps or "
        "swings: choose Bezier or Linear as Interpolation of its keys, put them on whole frames, or take wider bounds"
    )


def _most(off: Array) -> float:
    """What the distances (S, links) stay below between the samples too: where they bend down within a frame they rise
    above their samples by an eighth of the second difference at most. A third more is for bends that are uneven."""
    within = np.stack([off[part : len(off) - _PARTS + part : _PARTS] for part in range(_PARTS + 1)])
    down = np.maximum(-np.diff(within, 2, axis=0), 0.0) / 6.0
    return float((np.maximum(within[1:-1], np.maximum(within[:-2], within[2:])) + down).max(initial=0.0))


def _keep_keys(obj: bpy.types.Object, robot: Binding, reduced: ReducedKeys, frames: Array, Q: Array) -> None:
    """Keys for the coordinates that are unreduced, straight between: in those frames in which they do not go on so."""
    unreduced, found = set(reduced.unreduced.tolist()), fcurves(obj)
    pairs = zip(robot.written_channels, rounded_channels(obj, Q, robot), strict=True)
    own = [(found[channel_key(channel)], values) for channel, values in pairs if channel.q in unreduced]
    if own:
        keys = even_keys(np.column_stack([values for _, values in own]))
        for curve, values in own:
            replace_keys(curve, frames[keys].astype(np.float32), values[keys])


def _keyed_frames(
    obj: bpy.types.Object, robot: Binding, first: int, last: int, unreduced: Collection[int] = ()
) -> set[float]:
    found, frames = fcurves(obj), set()
    for channel in robot.written_channels:
        if channel.q in unreduced:
            continue
        curve = found.get(channel_key(channel))
        at = np.zeros(0) if curve is None else key_frames(curve)
        frames.update(at[(at >= first) & (at <= last)].tolist())
    return frames


def _are_plain(obj: bpy.types.Object, robot: Binding, keyed: Collection[float]) -> bool:
    """Whether the robot's curves alone, straight or Bezier between keys, all on whole frames, make its motion."""
    found = fcurves(obj)
    own = [found[key] for key in map(channel_key, robot.written_channels) if key in found]
    kinds = {point.interpolation for curve in own for point in curve.keyframe_points}
    on_frames = all(abs(frame - round(frame)) <= _SAME_FRAME for frame in keyed)
    return on_frames and kinds <= {"BEZIER", "LINEAR"} and not any(len(curve.modifiers) for curve in own)


def _shape_keys(obj: bpy.types.Object, robot: Binding, reduced: ReducedKeys, first: int, written: Array) -> None:
    """Handles a third of the way to the next key, along the slopes: between them Bezier curves are cubics of time.
    written: (k, nq) the keys as they are; quaternions may have the other sign."""
    found = fcurves(obj)
    places = {first + int(key): place for place, key in enumerate(reduced.keys)}
    spans, slopes = np.diff(reduced.keys), reduced.slopes.copy()
    for start in robot.model.tree.quaternions:
        own = slice(start, start + 4)
        same = np.einsum("ij,ij->i", written[:, own], reduced.q[::2][reduced.keys, own])
        slopes[same < 0.0, own] *= -1.0
    for channel in robot.written_channels:
        curve, scale = found[channel_key(channel)], channel.scale / channel.factor
        for point in curve.keyframe_points:
            place = places.get(round(point.co.x))
            if place is None or abs(point.co.x - round(point.co.x)) > _SAME_FRAME:
                continue
            x, y, slope = *point.co, scale * float(slopes[place, channel.q])
            point.handle_left_type = point.handle_right_type = "FREE"
            if place > 0:
                third = spans[place - 1] / 3.0
                point.handle_left = (x - third, y - third * slope)
            if place < len(spans):
                third = spans[place] / 3.0
                point.handle_right = (x + third, y + third * slope)
                point.interpolation = "LINEAR" if reduced.straight[place] else "BEZIER"
        curve.update()
