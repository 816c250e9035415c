"""Factors of velocities by joint: numbers, or expressions of where the joints stand."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from ....robokin.arrays import Array, shown
from ....robokin.errors import RobokinError, TaskError, UnknownNameError
from ....robokin.model.robot import RobotModel
from ....robokin.urdf.xacro.expression import Evaluator
from ....robokin.urdf.xacro.functions import FUNCTIONS, MATH
from ....robokin.urdf.xacro.grammar import parse
from ....robokin.urdf.xacro.values import Budget
from ..checks import numbers

_KNOWN = {**MATH, **{name: FUNCTIONS[name] for name in ("abs", "max", "min", "math")}}
ALL = "q"  # a joint whose name is no word: q["joint 1"]


class Factors(Mapping[str, tuple[float | str, ...]]):
    """One row A(q) as {joint: factor}, a list for a joint with several degrees of freedom. A factor is a number or an
    expression: words are the values of joints [rad, m] (of several coordinates: `joint[0]`), functions those of
    Python's `math`. Nothing of Python is reached from it.   Raises TaskError for what is neither.
    """

    def __init__(self, given: Mapping[str, Any], what: str) -> None:
        self.what = what
        self.by_joint = {str(joint): _each(own, f"{what}: factor of joint {joint!r}") for joint, own in given.items()}
        if not any(factor != 0.0 for own in self.by_joint.values() for factor in own):
            raise TaskError(f"{what}: no joint has a factor")

    def __getitem__(self, joint: str) -> tuple[float | str, ...]:
        return self.by_joint[joint]

    def __iter__(self) -> Iterator[str]:
        return iter(self.by_joint)

    def __len__(self) -> int:
        return len(self.by_joint)

    @property
    def is_constant(self) -> bool:
        return not any(isinstance(factor, str) for own in self.by_joint.values() for factor in own)

    def row(self, model: RobotModel, q: Array) -> Array:
        """(1, nv) at q (nq,). Raises TaskError, UnknownNameError."""
        self.check(model)
        row, values = np.zeros((1, model.nv)), _Values(model, q)
        for name, factors in self.by_joint.items():
            row[0, model.slot(name).v] = [self._value(values, name, factor) for factor in factors]
        return row

    def check(self, model: RobotModel) -> None:
        """Raises TaskError, UnknownNameError for joints that the robot does not have, or which take other factors."""
        own_motion = {joint.name: joint for joint in model.moving_joints if joint.mimic is None}
        for name, factors in self.by_joint.items():
            if name not in own_motion:
                raise UnknownNameError(f"joint with a motion of its own, for {self.what},", name, own_motion)
            if len(factors) != own_motion[name].nv:
                count = own_motion[name].nv
                raise TaskError(f"{self.what}: joint {name!r} takes {count} factors, not {len(factors)}")

    def _value(self, values: _Values, joint: str, factor: float | str) -> float:
        if not isinstance(factor, str):
            return factor
        evaluator = _evaluator(factor)
        evaluator.budget = Budget()
        try:
            value = evaluator.evaluate(factor, values.of)
        except RobokinError as error:
            raise TaskError(f"{self.what}: factor {shown(factor)} of joint {joint!r}: {error}") from None
        if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= 1e30:
            raise TaskError(f"{self.what}: factor {shown(factor)} of joint {joint!r} is {shown(value)}, not a number")
        return float(value)


@lru_cache(maxsize=256)
def _evaluator(expression: str) -> Evaluator:
    """One for each expression: it keeps what it has parsed."""
    return Evaluator(Budget())


class _Values:
    """What the words of an expression stand for."""

    def __init__(self, model: RobotModel, q: Array) -> None:
        self._model, self._q = model, q

    def of(self, name: str) -> object:
        """Raises UnknownNameError."""
        joints = self._joints
        if name == ALL and name not in joints:
            return {joint: self._at(joint) for joint in joints}
        if name in joints:
            return self._at(name)
        if name in _KNOWN:
            return _KNOWN[name]
        raise UnknownNameError("joint or function", name, joints)

    @property
    def _joints(self) -> list[str]:
        return [joint.name for joint in self._model.moving_joints if joint.mimic is None]

    def _at(self, name: str) -> object:
        values = self._q[self._model.slot(name).q].tolist()
        return values[0] if len(values) == 1 else values


def _each(own: Any, what: str) -> tuple[float | str, ...]:
    """The factors of one joint. Raises TaskError for what is no number and can be no expression."""
    return tuple(_one(factor, what) for factor in (own if isinstance(own, list | tuple | np.ndarray) else [own]))


def _one(factor: Any, what: str) -> float | str:
    if not isinstance(factor, str):
        return float(numbers(factor, what))
    try:
        parse(factor)
    except RobokinError as error:
        raise TaskError(f"{what}: {shown(factor)}: {error}") from None
    return factor
