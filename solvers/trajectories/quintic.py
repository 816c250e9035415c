"""Polynomials of fifth degree from state to state, one for each axis, in one duration.

Between rests with accelerations 0 they are the motions of minimum jerk (Flash and Hogan 1985): with u = t / T the way
is 10 u³ - 15 u⁴ + 6 u⁵.
"""

from __future__ import annotations

import numpy as np

from ...robokin.arrays import Array

GROWTH = 1.05  # of durations that are tried one after another
TRIES = 400
HALVINGS = 60
CLOSE = 1e-12
PLACES, NEAR = 17, 1e-9  # where most durations that cannot be are seen to fail, beyond rounding


def coefficients(start: Array, end: Array, T: float | Array) -> Array:
    """(..., n, 6) of the powers of t, with durations of shape (..., 1). start, end: (n, 3) p, v, a."""
    p0, v0, a0 = start.T
    distance = end[:, 0] - p0 - T * (v0 + 0.5 * T * a0)
    rate = (end[:, 1] - v0 - T * a0) * T
    bend = (end[:, 2] - a0) * T * T
    cubic = 10.0 * distance - 4.0 * rate + 0.5 * bend
    quartic = -15.0 * distance + 7.0 * rate - bend
    fifth = 6.0 * distance - 3.0 * rate + 0.5 * bend
    powers = np.broadcast_arrays(p0, v0, 0.5 * a0, cubic / T**3, quartic / T**4, fifth / T**5)
    return np.stack(powers, axis=-1)


def fastest(start: Array, end: Array, limits: Array, bounds: Array, least: float) -> float | None:
    """The shortest duration that is not shorter than `least` and keeps limits (n, 3) and bounds (n, 2); None where
    there is none."""
    if (abs(end - start) <= CLOSE).all() and (least == 0.0 or (abs(start[:, 1:]) <= CLOSE).all()):
        return least
    distance = abs(end[:, 0] - start[:, 0])
    V, A, J = limits.T
    low = max(least, float((distance / V).max()), float((abs(end - start)[:, 1:] / limits[:, 1:]).max()), 1e-6)
    if not start[:, 1:].any() and not end[:, 1:].any():  # what the largest rates of u are: 15/8, 10/√3 and 60
        rests = (1.875 * distance / V, np.sqrt(10.0 / np.sqrt(3.0) * distance / A), np.cbrt(60.0 * distance / J))
        return max(least, *(float(each.max()) for each in rests))
    tried = low * GROWTH ** np.arange(TRIES)
    for i in np.flatnonzero(_may_keep(start, end, limits, bounds, tried)).tolist():
        if keeps(start, end, limits, bounds, float(tried[i])):
            break
    else:
        return None
    short, T = float(tried[max(i - 1, 0)]), float(tried[i])
    for _ in range(HALVINGS if short < T else 0):
        middle = 0.5 * (short + T)
        if keeps(start, end, limits, bounds, middle):
            T = middle
        else:
            short = middle
    return T


def _may_keep(start: Array, end: Array, limits: Array, bounds: Array, T: Array) -> Array:
    """(k,) bool: nothing is passed at some places of the motions of durations T (k,)."""
    c = coefficients(start, end, T[:, None]) * T[:, None, None] ** np.arange(6)
    u, powers, kept = np.linspace(0.0, 1.0, PLACES), np.arange(6), np.ones(len(T), bool)
    for order in range(4):
        value = c @ (u ** np.arange(c.shape[-1])[:, None])
        if order == 0:
            low, high = bounds[:, :1], bounds[:, 1:]
        else:
            high = limits[:, order - 1, None] * T[:, None, None] ** order
            low = -high
        slack = NEAR * (1.0 + abs(value))
        kept &= ((value >= low - slack) & (value <= high + slack)).all(axis=(1, 2))
        c = c[..., 1:] * powers[1 : c.shape[-1]]
    return kept


def keeps(start: Array, end: Array, limits: Array, bounds: Array, T: float) -> bool:
    c = coefficients(start, end, T) * T ** np.arange(6)  # of u = t / T
    speed, bend, jerk = _derivative(c), _derivative(_derivative(c)), _derivative(_derivative(_derivative(c)))
    vertex = _zeros_of_linear(2.0 * jerk[:, 2], jerk[:, 1])
    flat = _zeros_of_quadratic(jerk)
    still = _zeros(bend, np.concatenate((np.zeros((len(c), 1)), flat, np.ones((len(c), 1))), axis=1))
    for row, times, limit, power in (
        (jerk, vertex, limits[:, 2], 3),
        (bend, flat, limits[:, 1], 2),
        (speed, still, limits[:, 0], 1),
    ):
        if (_largest(row, times) > (limit * T**power)[:, None] * (1.0 + CLOSE)).any():
            return False
    turned = _zeros(speed, np.concatenate((np.zeros((len(c), 1)), still, np.ones((len(c), 1))), axis=1))
    places = _value(c, turned)
    slack = CLOSE * (1.0 + abs(places))
    return bool(((places >= bounds[:, :1] - slack) & (places <= bounds[:, 1:] + slack)).all())


def _derivative(c: Array) -> Array:
    return c[:, 1:] * np.arange(1, c.shape[1])


def _value(c: Array, u: Array) -> Array:
    value = np.zeros_like(u)
    for k in range(c.shape[1] - 1, -1, -1):
        value = value * u + c[:, k : k + 1]
    return value


def _largest(c: Array, u: Array) -> Array:
    ends = np.broadcast_to([0.0, 1.0], (len(c), 2))
    return abs(_value(c, np.concatenate((u, ends), axis=1)))


def _zeros_of_linear(a: Array, b: Array) -> Array:
    """(n, 1) where a u + b is 0, within 0 .. 1."""
    return np.clip(np.divide(-b, a, out=np.zeros_like(b), where=a != 0.0), 0.0, 1.0)[:, None]


def _zeros_of_quadratic(c: Array) -> Array:
    """(n, 2), sorted, within 0 .. 1."""
    root = np.sqrt(np.maximum(c[:, 1] ** 2 - 4.0 * c[:, 2] * c[:, 0], 0.0))
    far = -0.5 * (c[:, 1] + np.copysign(root, c[:, 1]))
    first = np.divide(far, c[:, 2], out=np.zeros_like(far), where=c[:, 2] != 0.0)
    second = np.divide(c[:, 0], far, out=np.zeros_like(far), where=far != 0.0)
    return np.sort(np.clip(np.stack((first, second), axis=1), 0.0, 1.0), axis=1)


def _zeros(c: Array, turns: Array) -> Array:
    """(n, k) a zero in each interval between `turns` (n, k + 1), where c is monotone; an end where there is none."""
    low, high = turns[:, :-1], turns[:, 1:]
    falls = _value(c, low) > _value(c, high)
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        is_left = (_value(c, middle) > 0.0) != falls
        low, high = np.where(is_left, low, middle), np.where(is_left, middle, high)
    return high
