"""A platform on two driven wheels, with an arm on it; and how much its wheels slip."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
from robokin_addon.robokin import Drive, Joint, Link, RobotModel, rolling_constraints

from .shapes import at

UP = (0.0, 0.0, 1.0)


def platform(
    seed: int = 0,
    centre: tuple[float, float] = (0.1, 0.0),
    heading: float = 0.0,
    flipped: bool = False,
    rates: dict | None = None,
    **base: object,
) -> RobotModel:
    """A platform with wheels of 0.1 m, 0.4 m apart around `centre`, and an arm of three joints on it. heading: of the
    axle in the base. flipped: the right wheel's axis points the other way. base: fields of the base's joint."""
    c, s = math.cos(heading), math.sin(heading)
    wheels = []
    for name, side in (("left", 0.2), ("right", -0.2)):
        axis = np.array([-s, c, 0.0]) * (-1.0 if flipped and name == "right" else 1.0)
        place = at(centre[0] - s * side, centre[1] + c * side, 0.1)
        wheels.append(Joint(name, "continuous", "platform", f"{name}_wheel", place, axis, **(rates or {})))
    arm = [
        Joint("shoulder", "revolute", "platform", "upper", at(0, 0, 0.4), UP, -2.5, 2.5, **(rates or {})),
        Joint("lift", "revolute", "upper", "lower", at(0, 0, 0.1), (0, 1, 0), -1.5, 1.5, **(rates or {})),
        Joint("elbow", "revolute", "lower", "hand", at(0.3, 0, 0), (0, 1, 0), -2.0, 2.0, **(rates or {})),
        Joint("tip", "fixed", "hand", "tool", at(0.3, 0, 0)),
    ]
    names = ["world", "platform", "left_wheel", "right_wheel", "upper", "lower", "hand", "tool"]
    ground = Joint("base", "wheeled", "world", "platform", drive=Drive("left", "right", 0.1, 0.4), **base)
    return RobotModel(f"platform{seed}", [Link(name, 1.0) for name in names], [ground, *wheels, *arm])


def slip(model: RobotModel, q: np.ndarray, pieces: int = 16) -> float:
    """[m, rad] between where bases are and where rolling_constraints' null space takes them: Runge-Kutta of order 4."""
    worst = 0.0
    for before, after in pairwise(q):
        for base in model.rolling_bases:
            wheels, own = list(base.wheel_q), slice(base.q, base.q + 3)
            turned = (after - before)[wheels] / pieces

            def rate(x: np.ndarray, turned=turned, base=base, own=own, here=before) -> np.ndarray:
                probe = here.copy()
                probe[own] = x
                A = rolling_constraints(model, probe)
                return np.linalg.solve(A[:, base.v : base.v + 3], -A[:, list(base.wheel_v)] @ turned)

            x = before[own].copy()
            for _ in range(pieces):
                k1 = rate(x)
                k2 = rate(x + 0.5 * k1)
                k3 = rate(x + 0.5 * k2)
                x = x + (k1 + 2 * k2 + 2 * k3 + rate(x + k3)) / 6
            worst = max(worst, float(abs(x - after[own]).max()))
    return worst
