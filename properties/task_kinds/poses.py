"""Tasks of a tip against a target: its pose, and where it points."""

from __future__ import annotations

from ...solvers import AimTask, AxisTask, OrientationTask, PoseTask, PositionTask, SingularValueTask
from .context import TaskContext
from .kind import ANGLE, AXES, BOTH, OFFSET, ORIENTATION, POSITION, TaskKind


def _pose(a: TaskContext, T: object) -> PoseTask:
    return PoseTask(
        a.link,
        T,
        a.position_weights,
        a.orientation_weights,
        a.task.frame.lower(),
        position_tolerance=a.near,
        orientation_tolerance=a.turned,
        position_band=a.band,
        orientation_band=a.cone,
        **a.on_tip,
    )


def _position(a: TaskContext, T: object) -> PositionTask:
    frame = a.task.frame.lower()
    return PositionTask(a.link, T, a.position_weights, frame, tolerance=a.near, band=a.band, **a.on_tip)


def _orientation(a: TaskContext, T: object) -> OrientationTask:
    frame = a.task.frame.lower()
    return OrientationTask(a.link, T, a.orientation_weights, frame, tolerance=a.turned, band=a.cone, **a.on_tip)


def _axis(a: TaskContext, direction: object) -> AxisTask:
    weight = a.task.orientation_weight
    return AxisTask(a.link, a.axis, direction, weight, tolerance=a.turned, band=a.cone, **a.on_tip)


def _singular_value(a: TaskContext, least: float) -> SingularValueTask:
    return SingularValueTask(a.link, least, a.task.orientation_weight, tolerance=a.turned, **a.on_tip)


def _aim(a: TaskContext, point: object) -> AimTask:
    return AimTask(a.link, a.axis, point, a.task.orientation_weight, tolerance=a.turned, band=a.cone, **a.on_tip)


KINDS = {
    "POSE": TaskKind(
        "Pose",
        "Hold position and orientation",
        "EMPTY_AXIS",
        0,
        (POSITION, ORIENTATION),
        target="POSE",
        pose=BOTH,
        offset=OFFSET,
        axes=AXES,
        has_frame=True,
        target_at=lambda a: a.T,
        build=_pose,
    ),
    "POSITION": TaskKind(
        "Position",
        "Hold the position, any orientation",
        "EMPTY_SINGLE_ARROW",
        1,
        (POSITION,),
        target="POSE",
        pose=("location",),
        offset=OFFSET,
        axes=("use_location",),
        has_frame=True,
        target_at=lambda a: a.point,
        build=_position,
    ),
    "ORIENTATION": TaskKind(
        "Orientation",
        "Hold the orientation, any position",
        "ORIENTATION_GIMBAL",
        2,
        (ORIENTATION,),
        target="POSE",
        pose=("rotation",),
        offset=OFFSET[1:],
        axes=("use_rotation",),
        has_frame=True,
        target_at=lambda a: a.T[:3, :3],
        build=_orientation,
    ),
    "AXIS": TaskKind(
        "Axis",
        "Point one axis of the tip along the target's Z axis",
        "ORIENTATION_NORMAL",
        3,
        (ORIENTATION,),
        target="POSE",
        pose=("rotation",),
        offset=OFFSET[1:],
        fields=("axis",),
        target_at=lambda a: a.z,
        build=_axis,
    ),
    "AIM": TaskKind(
        "Aim",
        "Point one axis of the tip at the target",
        "TRACKER",
        4,
        (("Direction", ANGLE),),
        target="POSE",
        pose=("location",),
        offset=OFFSET,
        fields=("axis",),
        target_at=lambda a: a.point,
        build=_aim,
    ),
    "SINGULAR_VALUE": TaskKind(
        "Away from Singularities",
        "The smallest singular value of the tip's Jacobian is at least so large",
        "FORCE_MAGNETIC",
        23,
        (("Singular value", ANGLE),),
        offset=OFFSET,
        fields=("singular_value",),
        animated=("singular_value",),
        banded=False,
        target_at=lambda a: float(a.number("singular_value")[0]),
        build=_singular_value,
    ),
}
