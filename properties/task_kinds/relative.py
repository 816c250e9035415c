"""Tasks of a tip against another bone, or against where it began."""

from __future__ import annotations

import numpy as np
from mathutils import Euler

from ...robokin import forward_kinematics
from ...robokin.arrays import Array
from ...robokin.spatial.se3 import inverse
from ...solvers import AdvanceTask, LoopClosureTask, PinTask, RelativePoseTask
from .context import TaskContext
from .kind import AXES, BOTH, OFFSET, ORIENTATION, POSITION, TaskKind


def _advance(a: TaskContext, vector: Array) -> AdvanceTask:
    return AdvanceTask(a.link, vector, a.position_weights, a.task.frame.lower(), tolerance=a.near, **a.on_tip)


def _pin(a: TaskContext, target: None) -> PinTask:
    return PinTask(
        a.link,
        target,
        a.position_weights,
        a.orientation_weights,
        position_tolerance=a.near,
        orientation_tolerance=a.turned,
        **a.on_tip,
    )


def _relative_target(a: TaskContext) -> Array:
    T = np.eye(4)
    T[:3, :3] = Euler(a.number("rotation")).to_matrix()
    T[:3, 3] = a.number("location") * a.unit
    return T


def _relative(a: TaskContext, T_other_tip: Array) -> RelativePoseTask:
    return RelativePoseTask(
        a.link,
        a.other,
        T_other_tip,
        a.position_weights,
        a.orientation_weights,
        position_tolerance=a.near,
        orientation_tolerance=a.turned,
        position_band=a.band,
        orientation_band=a.cone,
        **a.on_tip,
    )


def _loop(a: TaskContext, T_other_tip: Array) -> LoopClosureTask:
    """Where the bones begin they are one; they are turned against each other as at rest."""
    model = a.robot.model
    at_rest = forward_kinematics(model, model.configuration({}))
    joined = np.eye(4)
    joined[:3, :3] = (inverse(at_rest[a.other]) @ at_rest[a.link])[:3, :3]
    return LoopClosureTask(
        a.link,
        a.other,
        None,
        joined,
        np.array(a.task.use_location).astype(float),
        np.array(a.task.use_rotation).astype(float),
        a.near,
        a.turned,
        name=a.name,
    )


KINDS = {
    "RELATIVE": TaskKind(
        "Relative Pose",
        "The tip takes a pose in the frame of another bone",
        "LINKED",
        10,
        (POSITION, ORIENTATION),
        other="To",
        needs_other=True,
        pose=BOTH,
        offset=OFFSET,
        fields=BOTH,
        animated=BOTH,
        axes=AXES,
        target_at=_relative_target,
        build=_relative,
    ),
    "PIN": TaskKind(
        "Pin",
        "The tip stays as it is where a solve or a motion starts",
        "PINNED",
        11,
        (POSITION, ORIENTATION),
        offset=OFFSET,
        axes=AXES,
        banded=False,
        target_at=lambda a: None,
        build=_pin,
    ),
    "ADVANCE": TaskKind(
        "Advance",
        "The tip moves by a vector from where it stands",
        "FORWARD",
        20,
        (POSITION,),
        offset=OFFSET,
        fields=("location",),
        animated=("location",),
        axes=("use_location",),
        has_frame=True,
        banded=False,
        target_at=lambda a: a.number("location") * a.unit,
        build=_advance,
    ),
    "LOOP": TaskKind(
        "Loop Closure",
        "Two bones are joined where they begin, before all other tasks",
        "MESH_CIRCLE",
        12,
        (POSITION, ORIENTATION),
        other="With",
        needs_other=True,
        axes=AXES,
        weighted=False,
        banded=False,
        is_hard=True,
        target_at=lambda a: np.eye(4),
        build=_loop,
    ),
}
