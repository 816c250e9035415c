"""Tasks of a tip on something: a surface, a plane, a line, a curve, a distance."""

from __future__ import annotations

import numpy as np

from ...robokin.arrays import Array
from ...solvers import DistanceTask, LaserTask, OnCurveTask, OnLineTask, OnPlaneTask
from ...solvers.tasks.places.surface import MovedSurface, Surface
from .context import TaskContext
from .kind import ANGLE, BOTH, DISTANCE, LENGTH, OFFSET, TaskKind


def _plane(a: TaskContext, plane: object) -> OnPlaneTask:
    return OnPlaneTask(a.link, plane, a.task.side.lower(), **_near(a))


def _line(a: TaskContext, line: object) -> OnLineTask:
    return OnLineTask(a.link, line, **_near(a))


def _curve_target(a: TaskContext) -> object:
    return (a.curve, a.plane) if a.task.use_spot else a.curve


def _curve(a: TaskContext, target: object) -> OnCurveTask:
    return OnCurveTask(a.link, target, **(_near(a) | a.on_spot))


def _near(a: TaskContext) -> dict:
    return {"weight": a.task.position_weight, "tolerance": a.near, "band": a.band, **a.on_point}


def _distance_target(a: TaskContext) -> tuple[float, Array]:
    """The distance, and the point that it is measured from: where the other bone begins, or the target."""
    return a.metres("distance"), np.zeros(3) if a.task.other else a.point


def _distance(a: TaskContext, target: tuple[float, Array]) -> DistanceTask:
    return DistanceTask(
        a.link,
        target[0],
        a.other if a.task.other else None,
        target[1],
        a.task.relation.lower(),
        weight=a.task.position_weight,
        tolerance=a.near,
        band=a.band,
        **a.on_point,
    )


def _laser_target(a: TaskContext) -> tuple[Array, Surface]:
    if a.reading.surface is None:
        return a.point, a.plane
    return a.point, MovedSurface(a.reading.shape, a.reading.surface[a.frame])


def _laser(a: TaskContext, target: tuple[Array, Surface]) -> LaserTask:
    spot, surface = target
    weight = a.task.position_weight
    return LaserTask(a.link, a.axis, spot, surface, weight, tolerance=a.near, beam_tolerance=a.turned, **a.on_tip)


KINDS = {
    "LASER": TaskKind(
        "Laser",
        "A beam along an axis of the tip falls on a surface at the target",
        "LIGHT_SPOT",
        9,
        (("Spot", LENGTH), ("Beam", ANGLE)),
        target="POSE",
        pose=BOTH,
        offset=OFFSET,
        fields=("axis", "surface"),
        banded=False,
        target_at=_laser_target,
        build=_laser,
    ),
    "PLANE": TaskKind(
        "On Plane",
        "The tip is on the target's XY plane, or on one side of it",
        "MESH_PLANE",
        5,
        (DISTANCE,),
        target="POSE",
        pose=BOTH,
        offset=OFFSET[:1],
        fields=("side",),
        target_at=lambda a: (a.point, a.z),
        build=_plane,
    ),
    "LINE": TaskKind(
        "On Line",
        "The tip is on the target's Z axis",
        "IPO_LINEAR",
        6,
        (DISTANCE,),
        target="POSE",
        pose=BOTH,
        offset=OFFSET[:1],
        target_at=lambda a: (a.point, a.z),
        build=_line,
    ),
    "CURVE": TaskKind(
        "On Curve",
        "The tip is anywhere on a curve object",
        "CURVE_DATA",
        7,
        (DISTANCE,),
        target="CURVE",
        offset=OFFSET,
        fields=("use_spot", "axis"),
        has_spot=True,
        target_at=_curve_target,
        build=_curve,
    ),
    "DISTANCE": TaskKind(
        "Distance",
        "The tip is so far from the target or from another bone",
        "DRIVER_DISTANCE",
        8,
        (DISTANCE,),
        other="From",
        target="POSE",
        pose=("location",),
        offset=OFFSET[:1],
        fields=("relation", "distance"),
        animated=("distance",),
        target_at=_distance_target,
        build=_distance,
    ),
}
