"""Tasks of a tip against a target: its pose, where it points, what it is on."""

from __future__ import annotations

from ....solvers import (
    AimTask,
    AxisTask,
    OnCurveTask,
    OnLineTask,
    OnPlaneTask,
    OrientationTask,
    PoseTask,
    PositionTask,
)
from .asked import Asked, Form


def _pose(a: Asked, T: object) -> PoseTask:
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
        **a.common,
    )


def _position(a: Asked, T: object) -> PositionTask:
    frame = a.task.frame.lower()
    return PositionTask(a.link, T, a.position_weights, frame, tolerance=a.near, band=a.band, **a.common)


def _orientation(a: Asked, T: object) -> OrientationTask:
    frame = a.task.frame.lower()
    return OrientationTask(a.link, T, a.orientation_weights, frame, tolerance=a.turned, band=a.cone, **a.common)


def _axis(a: Asked, direction: object) -> AxisTask:
    weight = a.task.orientation_weight
    return AxisTask(a.link, a.axis, direction, weight, tolerance=a.turned, band=a.cone, **a.common)


def _aim(a: Asked, point: object) -> AimTask:
    return AimTask(a.link, a.axis, point, a.task.orientation_weight, tolerance=a.turned, band=a.cone, **a.common)


def _plane(a: Asked, plane: object) -> OnPlaneTask:
    return OnPlaneTask(a.link, plane, a.task.side.lower(), **_near(a))


def _line(a: Asked, line: object) -> OnLineTask:
    return OnLineTask(a.link, line, **_near(a))


def _curve(a: Asked, curve: object) -> OnCurveTask:
    return OnCurveTask(a.link, curve, **_near(a))


def _near(a: Asked) -> dict:
    return {"weight": a.task.position_weight, "tolerance": a.near, "band": a.band, **a.common}


POSE = Form(lambda a: a.T, _pose)
POSITION = Form(lambda a: a.point, _position)
ORIENTATION = Form(lambda a: a.T[:3, :3], _orientation)
AXIS = Form(lambda a: a.z, _axis)
AIM = Form(lambda a: a.point, _aim)
PLANE = Form(lambda a: (a.point, a.z), _plane)
LINE = Form(lambda a: (a.point, a.z), _line)
CURVE = Form(lambda a: a.reading.shape.moved(a.T), _curve)
