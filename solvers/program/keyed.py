"""A move whose progress along its path is keyed by hand: a share of the path over time, held against the limits."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ...robokin.arrays import Array
from ...robokin.errors import ConfigurationError
from ...robokin.model.robot import RobotModel
from ...robokin.units import FORCES, freedom_units
from ..motion.dynamics import motion_efforts
from ..motion.link_motion import link_accelerations, link_twists
from ..motion.motion import Motion, velocity_names
from ..retiming.path import Path
from ..retiming.path_limits import PathLimits
from ..trajectories.sampled import Sampled
from .moves import Move

LOOKS = 20  # between two keys at which limits are looked at ...
LEAST, MOST = 2000, 40_000  # ... at so many places in all
PIECE = 1000  # of them looked at at once
BEYOND = 1e-6  # of the path: progress outside of it that is rounding
PASSED = 1e-6  # relative: by how much a limit may be passed
_PER = ("s", "s\u00b2", "s\u00b3")


@dataclass(frozen=True, eq=False)
class KeyedMotion(Sampled):
    """path: over 0..1.   times: (k + 1,) [s] of the keys.   cubics: (k, 4) powers of the time since a key, of which the
    progress is the sum: twice continuously differentiable, at rest at both ends."""

    model: RobotModel
    duration: float
    path: Path
    times: Array
    cubics: Array

    def progress(self, t: Array) -> tuple[Array, Array, Array, Array]:
        """Share of the path, and its first three derivatives, at times (...)."""
        k = np.clip(np.searchsorted(self.times, t, side="right") - 1, 0, len(self.times) - 2)
        u, (a, b, c, d) = t - self.times[k], np.moveaxis(self.cubics[k], -1, 0)
        return a + u * (b + u * (c + u * d)), b + u * (2.0 * c + 3.0 * u * d), 2.0 * c + 6.0 * u * d, 6.0 * d

    def states(self, t: Array) -> tuple[Array, Array, Array]:
        return self.rates(t)[:3]

    def rates(self, t: Array) -> tuple[Array, Array, Array, Array]:
        """q (..., nq), v, a and jerks (..., nv) at times (...)."""
        s, *rates = self.progress(t)
        s = np.clip(s, 0.0, 1.0)
        interval = np.clip(np.searchsorted(self.path.knots, s, side="right") - 1, 0, len(self.path.knots) - 2)
        return self.path.along(interval, s, *rates)


def keyed_motion_steps(
    model: RobotModel, move: Move, places: Array, limits: PathLimits
) -> Generator[None, None, KeyedMotion]:
    """Yield between pieces of the work; return a move along places (n, nq), evenly spaced, with the progress that it
    has. Raises ConfigurationError where the progress leaves the path, and where a limit is passed: of joints, drives or
    tools."""
    assert move.progress is not None
    times, shares = np.asarray(move.progress, float).T
    q = np.array(Motion.of(model, np.arange(len(places)), places).unwrapped().q)
    found = KeyedMotion(
        model, float(times[-1]), Path.through(model, q, np.linspace(0.0, 1.0, len(q))), times, _cubics(times, shares)
    )
    count = int(np.clip(LOOKS * len(times), LEAST, MOST))
    t = np.unique(np.concatenate((times, np.linspace(0.0, times[-1], count))))
    s = found.progress(t)[0]
    outside = (s < -BEYOND) | (s > 1.0 + BEYOND)
    if outside.any():
        at = t[int(np.argmax(outside))]
        raise ConfigurationError(f"its progress leaves 0..1 between its keys, at {at:.3g} s: key it more evenly")
    drive, pace = (1.0 + PASSED, ""), (1.0 + PASSED, "")
    for first in range(0, len(t), PIECE):
        yield
        piece = t[first : first + PIECE]
        q, *rates = found.rates(piece)
        drive = max([drive, *_of_drives(found, q, rates, limits, piece)])
        pace = max([pace, *_of_joints(found, rates, move, limits, piece)])
        pace = max([pace, *_of_tools(found, q, rates, move, limits, piece)])
    if drive[1]:
        raise ConfigurationError(f"its progress asks too much of a drive: {drive[1]}")
    if pace[1]:
        raise ConfigurationError(f"its progress is too fast: {pace[1]}: needs {pace[0]:.3g} times more time")
    return found


def _cubics(times: Array, shares: Array) -> Array:
    """(k, 4) of the cubic spline through the keys, flat at both ends (de Boor 1978): a tridiagonal system."""
    h = np.diff(times)
    chord = np.diff(shares) / h
    slopes = np.zeros(len(times))
    pivots, rest = 2.0 * (1.0 / h[:-1] + 1.0 / h[1:]), 3.0 * (chord[:-1] / h[:-1] + chord[1:] / h[1:])
    for k in range(1, len(rest)):
        factor = 1.0 / (h[k] * pivots[k - 1])
        pivots[k] -= factor / h[k]
        rest[k] -= factor * rest[k - 1]
    for k in reversed(range(len(rest))):
        slopes[k + 1] = (rest[k] - slopes[k + 2] / h[k + 1]) / pivots[k]
    bend = (3.0 * chord - 2.0 * slopes[:-1] - slopes[1:]) / h
    turn = (slopes[:-1] + slopes[1:] - 2.0 * chord) / h**2
    return np.column_stack((shares[:-1], slopes[:-1], bend, turn))


# What each limit asks for at times t, at most: how many times more time, of a drive the share of it, and a text.


def _of_joints(
    found: KeyedMotion, rates: Sequence[Array], move: Move, along: PathLimits, t: Array
) -> Iterator[tuple[float, str]]:
    limits, names = along.motion, _names(found.model)
    units = [unit for joint in found.model.moving_joints for unit in freedom_units(joint)]
    kinds = zip(("velocity", "acceleration", "jerk"), rates, limits.slower(move.speed).rows.T, _PER, strict=True)
    for order, (kind, values, limit, per) in enumerate(kinds, 1):
        bound = limit.copy()
        if kind == "jerk" and kind in limits.assumed:
            bound[limits.assumed[kind]] = np.inf
        share = abs(values) / bound
        if share.size:
            k, i = np.unravel_index(int(np.argmax(share)), share.shape)
            size, unit = abs(values[k, i]), f"{units[i]}/{per}"
            text = f"{kind} of {names[i]} is {size:.4g} {unit} at {t[k]:.3g} s, allowed {bound[i]:.4g} {unit}"
            yield float(share[k, i] ** (1.0 / order)), text


def _of_drives(
    found: KeyedMotion, q: Array, rates: Sequence[Array], along: PathLimits, t: Array
) -> Iterator[tuple[float, str]]:
    model, names = found.model, _names(found.model)
    if along.gravity is None or not model.nv:
        return
    units = [FORCES[unit] for joint in model.moving_joints for unit in freedom_units(joint)]
    efforts = motion_efforts(Motion(model, t, q, rates[0], rates[1]), along.gravity)
    powers = np.full(model.nv, np.inf) if along.power is None else along.power
    for kind, values, bound, own in (
        ("effort", efforts, model.effort, units),
        ("power", efforts * rates[0], powers, ["W"] * model.nv),
    ):
        share = abs(values) / bound
        k, i = np.unravel_index(int(np.argmax(share)), share.shape)
        size = f"{abs(values[k, i]):.4g} {own[i]} at {t[k]:.3g} s"
        yield float(share[k, i]), f"{kind} of {names[i]} is {size}, allowed {bound[i]:.4g} {own[i]}"


def _of_tools(
    found: KeyedMotion, q: Array, rates: Sequence[Array], move: Move, along: PathLimits, t: Array
) -> Iterator[tuple[float, str]]:
    moved = Motion(found.model, t, q, rates[0], rates[1])
    for link, order, bound in _tool_bounds(move, along):
        size = np.linalg.norm((link_twists, link_accelerations)[order - 1](moved, [link])[:, 0, :3], axis=1)
        k, unit = int(np.argmax(size)), f"m/{_PER[order - 1]}"
        verb = "goes" if order == 1 else "accelerates"
        text = f"{link} {verb} at {size[k]:.4g} {unit} at {t[k]:.3g} s, allowed {bound:.4g} {unit}"
        yield float((size[k] / bound) ** (1.0 / order)), text


def _names(model: RobotModel) -> list[str]:
    return [name for joint in model.moving_joints for name in velocity_names(joint)]


def _tool_bounds(move: Move, along: PathLimits) -> list[tuple[str, int, float]]:
    """(link, 1 of a speed or 2 of an acceleration, bound on it)."""
    found = [(tool.link, 1, tool.speed) for tool in along.tools] + [(t.link, 2, t.acceleration) for t in along.tools]
    if move.tool_speed is not None:
        found.append((move.tip, 1, move.tool_speed))
    return [each for each in found if np.isfinite(each[2])]
