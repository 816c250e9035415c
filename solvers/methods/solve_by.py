"""One function for the methods of the papers."""

from __future__ import annotations

from dataclasses import fields
from typing import Protocol

import numpy as np

from ...robokin import RobotModel, TaskError, UnknownNameError, clamp
from ...robokin.arrays import Array, float_array
from ...robokin.errors import shown
from ...robokin.units import counted
from ..tasks.checks import rigid
from .arm import ArmTip
from .goal_oriented import GoalOriented
from .levenberg_marquardt import LevenbergMarquardt
from .newton_raphson import NewtonRaphson
from .result import MethodResult, MethodRun
from .roll_pitch_yaw import RollPitchYaw


class Method(Protocol):
    """What a method does: from q (nq,), inside the limits, towards T_root_tip (4, 4)."""

    def descend(self, arm: ArmTip, q: Array, T_target: Array) -> MethodRun: ...


METHODS: dict[str, type[Method]] = {
    "newton_raphson": NewtonRaphson,
    "levenberg_marquardt": LevenbergMarquardt,
    "goal_oriented": GoalOriented,
    "roll_pitch_yaw": RollPitchYaw,
}


def method_of(name: str, settings: dict[str, object]) -> Method:
    """Raises UnknownNameError for a name or a setting that is not there, TaskError for a value that cannot be."""
    if not isinstance(name, str) or name not in METHODS:
        raise UnknownNameError("method", name, METHODS)
    known = {each.name: each.default for each in fields(METHODS[name])}  # type: ignore[arg-type]
    for setting, value in settings.items():
        if setting not in known:
            raise UnknownNameError(f"setting of {name}", setting, known)
        if isinstance(known[setting], int | float) and setting != "radius":
            _check_positive(value, f"{name}: {setting}")
    try:
        return METHODS[name](**settings)
    except (TypeError, ValueError) as error:
        raise TaskError(f"{name}: {error}") from None


def _check_positive(value: object, what: str) -> None:
    try:
        number = float_array(value)
    except ValueError:
        number = np.array(np.nan)
    if number.shape != () or not 0.0 < number < np.inf:
        raise TaskError(f"{what} must be a number greater than 0, not {shown(value)}")


def solve_by(
    method: str,
    model: RobotModel,
    tip: str,
    T_target: object,
    q0: object = None,
    *,
    offset: object = None,
    **settings: object,
) -> MethodResult:
    """Go for a target, or several in turn, by a method of the papers, and keep every iterate.

    method: "newton_raphson", "levenberg_marquardt", "goal_oriented", "roll_pitch_yaw".   tip: a link.
    T_target: (4, 4) T_root_tip, or (k, 4, 4): the next begins where the last one ended.   q0: (nq,) (mid-range).
    offset: (4, 4) T_link_tip.   settings: fields of the method's class.
    Limits hold at every iterate, and a q0 beyond them is moved in. Raises TaskError for joints that are no angles or
    lengths, UnknownNameError for a wrong method, setting or link, ConfigurationError for a bad q0.
    """
    chosen = method_of(method, settings)
    frame = np.eye(4) if offset is None else rigid(offset, "offset")
    arm = ArmTip(model, tip, frame, method)
    start = model.limits.middle(model.neutral()) if q0 is None else model.check_configuration(q0)
    q = clamp(model, start)
    path, errors, index, said = [q], [], [], []
    goals = _goals(T_target)
    for k, goal in enumerate(goals):
        found = chosen.descend(arm, path[-1], goal)
        first = 1 if k else 0
        each = [arm.error(q, found.goal) for q in found.path[first:]]
        errors += [(np.linalg.norm(e[:3]), np.linalg.norm(e[3:])) for e in each]
        index += [k] * len(each)
        path += found.path[1:]
        if found.reason:
            said.append(f"target {k + 1}: {found.reason}" if len(goals) > 1 else found.reason)
    steps = len(path) - 1
    reason = "; ".join(said) or f"met after {counted(steps, 'iteration')}"
    return MethodResult(method, np.array(path), np.array(errors), np.array(index), not said, reason)


def _goals(T_target: object) -> list[Array]:
    try:
        array = float_array(T_target)
    except ValueError:
        array = np.empty(0)
    if array.ndim == 2:
        array = array[None]
    if array.ndim != 3 or array.shape[1:] != (4, 4) or not len(array):
        raise TaskError("T_target must be (4, 4), or (k, 4, 4)")
    return [rigid(T, "T_target") for T in array]
