"""The animation of a robot sampled at any rate."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from itertools import pairwise

import bpy
import numpy as np

from ...properties.bridge import binding
from ...properties.frame_rate import frame_seconds
from ...robokin import RobokinError
from ...solvers.motion.check import check_motion
from ...solvers.motion.motion import Motion
from ...solvers.motion.violation import Violation
from ...solvers.progress import scaled
from ...solvers.retiming.smooth_motion import smooth_motion_steps
from ...solvers.trajectories.sampled import sample_times
from .samples import sample_motion

_MOST = 1_000_000  # samples in one file


MOST_SPANS = 3  # that are named
BROKEN = "Smooth or Retime the animation first, or give it more frames"  # what mends it

_AS_LINEAR = 1e-6  # [rad, m] that sub-frames of single precision may be off a straight line


def _is_multiple(rate: float, fps: float) -> bool:
    share = rate / fps
    return share > 0.5 and abs(share - round(share)) < 1e-6


def _check_rate(rate: float, duration: float) -> None:
    """Raises RobokinError."""
    if not (np.isfinite(rate) and rate > 0.0):
        raise RobokinError(f"rate must be a positive number of samples per second, not {rate!r}")
    if duration * rate > _MOST:
        raise RobokinError(
            f"rate {rate:g} Hz over {duration:g} s is more than {_MOST} samples: choose a lower rate, or fewer frames"
        )


def motion_at_rate(
    scene: bpy.types.Scene,
    obj: bpy.types.Object,
    first: int,
    last: int,
    rate: float | None = None,
    smooth: bool | None = None,
    spline: bool = False,
) -> Generator[float, None, Motion]:
    """Yield now and then; return the animation of the frames first..last, sampled every 1/rate seconds (None: every
    frame) and at its end, which may come sooner after the sample before it. Raises RobokinError.

    smooth: the curve of `smooth_motion` in place of the animation between frames; None: where there is a rate.
    spline: that curve, with all its knots, so that the cubics between samples are its own.
    Else positions are those of the animation, at sub-frames too. Where it runs straight from frame to frame, as a bake
    does, velocities and accelerations are those of the frames: differences at a higher rate would put a frame's whole
    change of velocity into one sample.
    """
    fps = 1.0 / frame_seconds(scene)
    if rate is not None:
        _check_rate(rate, (last - first) / fps)
    smooth = spline or (rate is not None if smooth is None else smooth)
    if spline and rate is not None and not _is_multiple(rate, fps):
        raise RobokinError(
            f"rate {rate:g} Hz is no multiple of the {fps:g} frames per second: a spline needs its knots, the frames"
        )
    robot, share = binding(obj), 0.4 if smooth or rate is not None else 1.0
    by_frame = yield from scaled(sample_motion(scene, obj, range(first, last + 1), robot), 0.0, share)
    if smooth:
        return (yield from scaled(smooth_motion_steps(by_frame, rate or fps), share, 1.0))
    if rate is None:
        return by_frame
    straight = by_frame.at(sample_times(by_frame.duration, rate))
    exact = yield from scaled(sample_motion(scene, obj, (first + straight.times * fps).tolist(), robot), share, 1.0)
    if abs(exact.q - straight.q).max(initial=0.0) <= _AS_LINEAR:
        return straight
    return Motion.of(exact.model, straight.times, exact.q)


def broken_in_file(scene: bpy.types.Scene, motion: Motion, first: int) -> list[str]:
    """`broken_limits` of a motion that is exported, from the frame `first` on."""
    frames = first + (motion.times - motion.times[0]) / frame_seconds(scene)
    return broken_limits(check_motion(motion, float32=True).violations, frames.tolist(), BROKEN)


def broken_limits(found: Sequence[Violation], frames: Sequence[float], remedy: str) -> list[str]:
    """One line on limits that samples at these frames break: where, the first, and what mends it; or none."""
    if not found:
        return []
    sampled = sorted({round(frame) for frame in frames})  # those one after the other here are consecutive at any step
    broken = {round(frames[each.frame]) for each in found}
    starts = [b for a, b in pairwise([None, *sampled]) if b in broken and a not in broken]
    ends = [a for a, b in pairwise([*sampled, None]) if a in broken and b not in broken]
    spans = [f"{a} to {b}" if b > a else f"{a}" for a, b in zip(starts, ends, strict=True)]
    where = ", ".join(spans[:MOST_SPANS]) + (f" and {len(spans) - MOST_SPANS} more" if len(spans) > MOST_SPANS else "")
    return [f"limits are broken at frame {where}, first the {found[0].sentence()}: {remedy}"]
