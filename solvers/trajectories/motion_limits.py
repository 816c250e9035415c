"""How fast joints may move: the model's limits, those given, and what is assumed where there are none."""

from __future__ import annotations

import weakref
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ...robokin.arrays import Array, float_array, shown
from ...robokin.errors import ConfigurationError, UnknownNameError
from ...robokin.model.robot import RobotModel, checked_model

KINDS = ("velocity", "acceleration", "jerk")

# What is assumed where neither the model nor the caller says: speeds of usual arms, reached within a time.
TURNING, SLIDING = np.pi, 1.0  # [rad/s], [m/s]
RISE = 0.25  # [s] from rest to the limit on velocity at the limit on acceleration
ONSET = 0.1  # [s] from none to the limit on acceleration at the limit on jerk


@dataclass(frozen=True, eq=False)
class MotionLimits:
    """On the sizes of velocities, accelerations and jerks, (nv,) each: SI per degree of freedom.

    rows: (nv, 3) the three side by side.
    assumed: of which kinds ("velocity", "acceleration", "jerk") some are assumed, by kind a (nv,) bool.
    """

    velocity: Array
    acceleration: Array
    jerk: Array
    rows: Array
    assumed: Mapping[str, Array]

    @classmethod
    def of(cls, model: RobotModel, limits: object = None) -> MotionLimits:
        """limits: of each kind a number, or one for each degree of freedom (nv,); the model's count too, the less of
        both. Absent velocities are π rad/s and 1 m/s; accelerations those that reach the velocity in 0.25 s; jerks
        those that reach the acceleration in 0.1 s.

        Raises ConfigurationError, UnknownNameError, ModelError for what is no robot.
        """
        model = checked_model(model)
        if isinstance(limits, MotionLimits):
            if len(limits.rows) != model.nv:
                raise ConfigurationError(f"limits of {len(limits.rows)} degrees of freedom, not of {model.nv}")
            return limits
        if limits is None and model in _of_models:
            return _of_models[model]
        given = {} if limits is None else limits
        if not isinstance(given, Mapping):
            raise ConfigurationError(f"limits must be a mapping of {', '.join(KINDS)}, not {shown(limits)}")
        for name in given:
            if name not in KINDS:
                raise UnknownNameError("limit", name, KINDS)
        usual = np.where(model.is_length, SLIDING, TURNING)
        own = (model.velocity, model.acceleration, np.full(model.nv, np.inf))
        found: dict[str, Array] = {}
        assumed: dict[str, Array] = {}
        for kind, of_model in zip(KINDS, own, strict=True):
            values = of_model
            if given.get(kind) is not None:
                values = np.minimum(of_model, checked_limit(given[kind], model, kind))
            absent = np.isinf(values)
            if absent.any():
                values = np.where(absent, usual, values)
                assumed[kind] = absent
            found[kind] = values
            usual = values / (RISE if kind == "velocity" else ONSET)
        result = cls(**found, rows=np.stack([found[kind] for kind in KINDS], axis=1), assumed=assumed)
        if limits is None:
            _of_models[model] = result
        return result

    def no_less_than(self, velocity: Array, acceleration: Array) -> MotionLimits:
        """The limits of a motion that has these (nv,): what is assumed stays above them."""
        rows = self.rows.copy()
        for column, (kind, own) in enumerate((("velocity", velocity), ("acceleration", acceleration))):
            is_assumed = self.assumed.get(kind, False)
            rows[:, column] = np.where(is_assumed, np.maximum(rows[:, column], own), rows[:, column])
        return MotionLimits(rows[:, 0], rows[:, 1], rows[:, 2], rows=rows, assumed=self.assumed)

    def slower(self, share: float) -> MotionLimits:
        """The limits of the same motion with its speeds times `share`: accelerations go with its square, jerks with
        its cube."""
        rows = self.rows * np.array([share, share**2, share**3])
        return MotionLimits(rows[:, 0], rows[:, 1], rows[:, 2], rows=rows, assumed=self.assumed)


_of_models: weakref.WeakKeyDictionary[RobotModel, MotionLimits] = weakref.WeakKeyDictionary()


def checked_limit(value: object, model: RobotModel, kind: str) -> Array:
    try:
        array = float_array(value)
    except ValueError:
        raise ConfigurationError(f"{kind} limits must be numbers, not {shown(value)}") from None
    if array.shape not in ((), (model.nv,)):
        raise ConfigurationError(f"{kind} limits of {model.name!r} must be one number or {model.nv}, not {array.shape}")
    if not (array > 0.0).all():
        raise ConfigurationError(f"{kind} limits must be positive, not {shown(value)}")
    return np.broadcast_to(array, (model.nv,))
