"""What panels show of the present pose that only solvers can compute. The operators' side fills it in when it is
registered, since panels and properties know no solver."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import bpy


@dataclass(frozen=True)
class CriterionReadout:
    """cost: at the present pose, at rest; None where it cannot be computed, `problem` then says why.
    pulls: (joint, how much the cost rises when it moves on by a radian or by the robot's size), strongest first."""

    cost: float | None
    pulls: tuple[tuple[str, float], ...] = ()
    problem: str = ""


def nothing(obj: bpy.types.Object) -> Sequence[CriterionReadout]:
    return ()


criteria: Callable[[bpy.types.Object], Sequence[CriterionReadout]] = nothing
