"""What panels show of the present pose that only solvers can compute. The operators' side fills it in when it is
registered, since panels and properties know no solver."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import bpy


@dataclass(frozen=True)
class CriterionReadout:
    """cost: of what the robot shows now; None where it cannot be computed, `problem` then says why.
    slope: how steeply the cost rises.   pulls: (joint, how much the cost rises when it moves on by a radian or by the
    robot's size, or when its velocity does, per second), strongest first.   is_present: not of an earlier pose, while
    that of the present one is being computed."""

    cost: float | None
    slope: float = 0.0
    pulls: tuple[tuple[str, float], ...] = ()
    problem: str = ""
    is_present: bool = True


@dataclass(frozen=True)
class LiveReadout:
    """text: what following its targets comes to, in one line.   is_met: nothing is missed.   notes: what else there is
    to know."""

    text: str
    is_met: bool = True
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class TaskReadout:
    """By how much a task is missed now. position: Blender units.   orientation: radians.   reached: it is within its
    tolerances.   problem: why it cannot be asked for at all."""

    position: float
    orientation: float
    reached: bool
    problem: str = ""


def nothing(obj: bpy.types.Object) -> Sequence:
    return ()


def always(obj: bpy.types.Object, result: str) -> bool:
    return True


criteria: Callable[[bpy.types.Object], Sequence[CriterionReadout]] = nothing
tasks: Callable[[bpy.types.Object], Sequence[TaskReadout | None]] = nothing
is_present: Callable[[bpy.types.Object, str], bool] = always  # of the last "solve", "bake" or "check"


def not_live(obj: bpy.types.Object) -> LiveReadout | None:
    return None


live: Callable[[bpy.types.Object], LiveReadout | None] = not_live
