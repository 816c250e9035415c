"""Tasks of a tip against something else that moves: a distance, a beam on a surface, another bone."""

from __future__ import annotations

import numpy as np

from ....robokin import forward_kinematics
from ....robokin.spatial.se3 import inverse
from ....solvers import DistanceTask, LaserTask, LoopClosureTask, Plane, RelativePoseTask
from ....solvers.tasks.places.surface import Moved, Surface
from ...animation.frames import rotation_matrices
from .asked import Asked, Form

Array = np.ndarray


def _distance_target(a: Asked) -> tuple[float, Array]:
    """The other point is where the other bone begins, or the target."""
    return a.metres("distance"), np.zeros(3) if a.task.other else a.point


def _distance(a: Asked, target: tuple[float, Array]) -> DistanceTask:
    return DistanceTask(
        a.link,
        target[0],
        a.other if a.task.other else None,
        target[1],
        a.task.relation.lower(),
        weight=a.task.position_weight,
        tolerance=a.near,
        band=a.band,
        **a.common,
    )


def _laser_target(a: Asked) -> tuple[Array, Surface]:
    if a.reading.surface is None:
        return a.point, Plane(a.point, a.z)
    return a.point, Moved(a.reading.shape, a.reading.surface[a.frame])


def _laser(a: Asked, target: tuple[Array, Surface]) -> LaserTask:
    spot, surface = target
    weight = a.task.position_weight
    return LaserTask(a.link, a.axis, spot, surface, weight, tolerance=a.near, beam_tolerance=a.turned, **a.common)


def _relative_target(a: Asked) -> Array:
    T = np.eye(4)
    T[:3, :3] = rotation_matrices(a.number("rotation")[None], "XYZ")[0]
    T[:3, 3] = a.number("location") * a.unit
    return T


def _relative(a: Asked, T_other_tip: Array) -> RelativePoseTask:
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
        **a.common,
    )


def _loop(a: Asked, T_other_tip: Array) -> LoopClosureTask:
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


DISTANCE = Form(_distance_target, _distance)
LASER = Form(_laser_target, _laser)
RELATIVE = Form(_relative_target, _relative)
LOOP = Form(lambda a: np.eye(4), _loop)
