"""Tasks told from where a motion starts, and velocities."""

from __future__ import annotations

import numpy as np

from ....solvers import AdvanceTask, AlongCurveTask, PinTask, TwistTask
from .asked import Asked, Form

Array = np.ndarray


def _advance(a: Asked, vector: Array) -> AdvanceTask:
    return AdvanceTask(a.link, vector, a.position_weights, a.task.frame.lower(), tolerance=a.near, **a.common)


def _pin(a: Asked, target: None) -> PinTask:
    return PinTask(
        a.link,
        target,
        a.position_weights,
        a.orientation_weights,
        position_tolerance=a.near,
        orientation_tolerance=a.turned,
        **a.common,
    )


def _along_target(a: Asked) -> tuple[float, object]:
    return a.metres("speed"), a.reading.shape.moved(a.T)


def _along(a: Asked, target: tuple[float, object]) -> AlongCurveTask:
    speed, curve = target
    return AlongCurveTask(a.link, curve, speed, weight=a.task.position_weight, tolerance=a.near, **a.common)


def _twist_target(a: Asked) -> Array:
    """Told at the target, it is that of a body that moves with it: a hinge stands where the target is."""
    twist = np.concatenate((a.number("linear_velocity") * a.unit, a.number("angular_velocity")))
    return TwistTask.told_in(a.T, twist) if a.task.use_target else twist


def _twist(a: Asked, twist: Array) -> TwistTask:
    return TwistTask(
        a.link,
        twist,
        np.concatenate((a.position_weights, a.orientation_weights)),
        "space" if a.task.use_target else a.task.frame.lower(),
        linear_tolerance=a.near,
        angular_tolerance=a.turned,
        band=np.repeat((a.band, a.cone), 3),
        **a.common,
    )


ADVANCE = Form(lambda a: a.number("location") * a.unit, _advance)
PIN = Form(lambda a: None, _pin)
ALONG_CURVE = Form(_along_target, _along)
TWIST = Form(_twist_target, _twist)
