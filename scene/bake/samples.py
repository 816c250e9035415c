"""The animation of a robot as a motion, frame by frame or at any rate."""

from __future__ import annotations

from collections.abc import Generator, Sequence

import bpy
import numpy as np

from ...properties.bridge import Binding
from ...properties.frame_rate import frame_seconds
from ...scene.animation.curves import sample_configurations
from ...solvers.motion.motion import Motion


def sample_motion(
    scene: bpy.types.Scene, obj: bpy.types.Object, frames: Sequence[float], robot: Binding
) -> Generator[float, None, Motion]:
    """The animation at the frames as a motion whose time is 0 at the first of them."""
    Q = yield from sample_configurations(scene, obj, frames, robot)
    return Motion.of(robot.model, (np.asarray(frames, float) - frames[0]) * frame_seconds(scene), Q)
