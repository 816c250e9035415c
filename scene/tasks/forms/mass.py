"""Tasks of the centre of mass."""

from __future__ import annotations

from ....solvers import CenterOfMassTask, SupportTask
from ....solvers.tasks.whole_robot.center_of_mass import Edges
from .asked import Asked, Form


def _center(a: Asked, point: object) -> CenterOfMassTask:
    return CenterOfMassTask(point, a.position_weights, a.near, a.band, **a.common)


def _support(a: Asked, target: object) -> SupportTask:
    """A polygon of its own at each frame: also where the robot is not upright, up is the world's."""
    points = a.reading.shape @ a.T[:3, :3].T + a.T[:3, 3]
    up = a.reading.up[a.frame]
    return SupportTask(points, a.metres("margin"), up, a.task.position_weight, a.near, **a.common)


def _edges(a: Asked) -> Edges:
    return _support(a, None).target


CENTER_OF_MASS = Form(lambda a: a.point, _center)
SUPPORT = Form(_edges, _support)
