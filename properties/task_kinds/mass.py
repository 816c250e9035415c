"""Tasks of the centre of mass."""

from __future__ import annotations

from ...solvers import CenterOfMassTask, SupportTask
from ...solvers.tasks.whole_robot.center_of_mass import Edges
from .context import TaskContext
from .kind import DISTANCE, POSITION, TaskKind


def _center(a: TaskContext, point: object) -> CenterOfMassTask:
    return CenterOfMassTask(point, a.position_weights, a.near, a.band, **a.common)


def _support(a: TaskContext, target: object) -> SupportTask:
    """A polygon of its own at each frame: also where the robot is not upright, up is the world's."""
    points = a.reading.shape @ a.T[:3, :3].T + a.T[:3, 3]
    up = a.reading.up[a.frame]
    return SupportTask(points, a.metres("margin"), up, a.task.position_weight, a.near, **a.common)


def _edges(a: TaskContext) -> Edges:
    return _support(a, None).target


KINDS = {
    "CENTER_OF_MASS": TaskKind(
        "Center of Mass",
        "The robot's center of mass is at the target",
        "PIVOT_MEDIAN",
        13,
        (POSITION,),
        tip="",
        target="POSE",
        pose=("location",),
        axes=("use_location",),
        target_at=lambda a: a.point,
        build=_center,
    ),
    "SUPPORT": TaskKind(
        "Support",
        "The center of mass stays above the polygon around a mesh object, so that the robot can stand",
        "MOD_PHYSICS",
        14,
        (DISTANCE,),
        tip="",
        target="MESH",
        fields=("margin",),
        animated=("margin",),
        banded=False,
        target_at=_edges,
        build=_support,
    ),
}
