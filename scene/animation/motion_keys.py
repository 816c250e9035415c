"""A motion becomes the curves of a robot."""

from __future__ import annotations

import bpy
import numpy as np

from ...properties.bridge import Binding
from ...properties.frame_rate import frame_seconds
from ...robokin import RobokinError, in_limits
from ...solvers.motion.motion import Motion
from .curves import refuse_unwritable, show_curves, write_curves

_SAME_FRAME = 1e-6  # frames
_ROUNDING = 1e-9  # [rad, m]
_LAST_FRAME = 1_048_574  # of Blender's time


def key_motion(
    scene: bpy.types.Scene, obj: bpy.types.Object, motion: Motion, first: int, robot: Binding
) -> tuple[range, list[int]]:
    """Key a motion of the robot from a frame on, a key a frame; the frames, and those in which it had to be moved
    inside the limits. A motion that ends between two frames ends in the later one.

    Raises RobokinError where keys could not be written, or would not be what is seen.
    """
    refuse_unwritable(scene, obj, False, robot)
    step = frame_seconds(scene)
    last = first + np.ceil(motion.duration / step - _SAME_FRAME)
    if last > _LAST_FRAME:
        raise RobokinError(
            f"the motion of {motion.duration:g} s ends after frame {_LAST_FRAME}, where Blender's frames end"
        )
    count = int(last) - first + 1
    times = np.minimum(motion.times[0] + step * np.arange(count), motion.times[-1])
    frames, Q = range(first, first + count), motion.unwrapped().at(times).q
    outside = [frame for frame, q in zip(frames, Q, strict=True) if not in_limits(robot.model, q, _ROUNDING)]
    write_curves(obj, frames, Q, False, robot)
    show_curves(obj, scene.frame_current_final, robot)
    return frames, outside
