"""All postures of a pose, the readable twin of postures.c and candidate.c in kernel/src/families.

What a family's solver finds is checked with the robot's own axes, led to the pose by Newton's method where rounding or
a geometry that is not quite ideal leaves it short, brought inside the limits by whole turns, and sorted.
"""

from __future__ import annotations

import math

import numpy as np

from ...robokin.arrays import Array
from ...robokin.spatial import so3
from . import gantry, planar, spherical_both, spherical_wrist, three_parallel
from .candidates import Candidate, Pose
from .chain import Chain, jacobian, placement
from .family import POSTURES, Branch, Family, FamilyKind, SearchFlag

TURN = 2.0 * math.pi
EXACT = 1e-13  # [sizes, rad] residuals that are left alone
AT_LIMIT = 1e-9  # [rad, m] beyond a limit by rounding
SAME = 1e-7  # [rad, sizes] postures nearer to each other are one
MET = 1e-11  # [sizes, rad] residuals of postures, if there are any so good
# A candidate so near to the pose [sizes, rad] is led to it; nearer than so many times the geometry is off the ideal
# one it should get there.
NEAR, OFF = 2e-3, 1e4
ROUNDED = 1e-12  # [sizes, rad] residuals that rounding may keep from becoming less
# Relative, of Newton's steps; what it is multiplied by after a step that leads away, and after a good one.
DAMPING, MORE, LESS = 1e-14, 30.0, 0.1
MOST_TURNS = 1e5  # that q0 may be away: beyond, angles are rounded too much
STEPS, USUAL_STEPS, TRIES = 30, 3, 35

SOLVERS = {
    FamilyKind.SPHERICAL_WRIST: spherical_wrist.solve,
    FamilyKind.THREE_PARALLEL: three_parallel.solve,
    FamilyKind.SPHERICAL_BOTH: spherical_both.solve,
    FamilyKind.PLANAR: planar.solve,
    FamilyKind.GANTRY: gantry.solve,
}


class ReferencePostures:
    """A family member, for targets whose rotation counts (`oriented`) or not, met within tolerance [m], [rad]."""

    def __init__(self, family: Family, oriented: bool, tolerance: tuple[float, float]) -> None:
        self.family, self.oriented, self.tolerance = family, oriented, tolerance
        self.chain: Chain = family.chain
        self._doubt = OFF * family.off
        self._near = max(NEAR, self._doubt)
        # Fewer than a pose has numbers: only some poses can be met, and rounded ones by the tolerance alone.
        self._has_few_joints = self.chain.joints < (6 if oriented else 3)
        self._unit = np.where(self.chain.slides, 1.0 / self.chain.size, 1.0)

    def postures(self, targets: Array, q0: Array, threads: int | None = None) -> tuple[Array, Array, Array]:
        """NumPy twin of `native.NativePostures.postures`."""
        q = np.full((len(q0), POSTURES, self.chain.joints), np.nan)
        branch, found = np.zeros((len(q0), POSTURES), np.int32), np.zeros((len(q0), 2), np.int32)
        for i, (target, start) in enumerate(zip(targets, q0, strict=True)):
            own, flags = self._postures_of(target, start)
            for k, (x, bits) in enumerate(own[:POSTURES]):
                q[i, k], branch[i, k] = x, bits
            found[i] = min(len(own), POSTURES), flags
        return q, branch, found

    def _postures_of(self, target: Array, q0: Array) -> tuple[list[tuple[Array, int]], int]:
        target = target.copy()
        R = target[:3, :3]
        target[:3, :3] = R @ (1.5 * np.eye(3) - 0.5 * R.T @ R)  # of what is rounded, the rotation next to it
        target[:3, 3] -= self.chain.centre
        found, flags, is_nearly_met = self._search(target, q0, self._has_few_joints)
        if not found and is_nearly_met and not self._has_few_joints:  # out of reach, but within the tolerance
            found, flags, _ = self._search(target, q0, True)
        return found, flags

    def _search(self, target: Array, q0: Array, is_lenient: bool) -> tuple[list[tuple[Array, int]], int, bool]:
        found: list[tuple[Array, int]] = []
        inside: set[int] = set()
        outside: set[int] = set()
        flags, is_nearly_met = 0, False
        # A turn that may be any is taken from q0; where others are outside the limits with it, the next ones are tried.
        for k in range(TRIES + 1):
            pose = self._pose(target, q0, (1 if k & 1 else -1) * ((k + 1) // 2) * TURN / (TRIES + 1))
            skipped = set(inside)
            for candidate in SOLVERS[self.family.kind](pose):
                if candidate.branch in skipped:
                    continue
                x, residual, is_met, was_far = self._led(candidate, target)
                if not is_met:
                    flags |= SearchFlag.DOUBTFUL if residual[0] < self._doubt else 0
                    continue
                flags |= (
                    SearchFlag.DOUBTFUL if was_far and residual[0] < self._doubt and not self._has_few_joints else 0
                )
                if residual[1] > MET:
                    is_nearly_met = True
                    if not is_lenient:
                        continue
                fitted = self._fitted(candidate, x, q0)
                (outside if fitted is None else inside).add(candidate.branch)
                if fitted is not None:
                    is_any = pose.is_free or candidate.couplings or self.family.kind is FamilyKind.SPHERICAL_BOTH
                    self._insert(found, fitted, candidate.branch | (Branch.CONTINUUM if is_any else 0))
            flags |= SearchFlag.HIDDEN if pose.is_hidden else 0
            if not pose.is_free or outside <= inside:
                break
        else:
            flags |= SearchFlag.HIDDEN
        found.sort(key=lambda each: float(np.sum((self._unit * (each[0] - q0)) ** 2)))
        return found, flags, is_nearly_met

    def _pose(self, target: Array, q0: Array, beyond: float) -> Pose:
        home, is_reversed = self.chain.home, self.family.reversed
        R = target[:3, :3] @ home[:3, :3].T
        p = target[:3, 3] - R @ home[:3, 3]
        if is_reversed:
            R, p = R.T, -R.T @ p
        wanted = q0[::-1] if is_reversed else q0
        fits = lambda joint, angle: self._nearest_turn(self._in_chain(joint), angle, q0) is not None  # noqa: E731
        return Pose(self.family, R, p, home[:3, 3], target[:3, 3], wanted + beyond, fits)

    def _in_chain(self, joint: int) -> int:
        return self.chain.joints - 1 - joint if self.family.reversed else joint

    # -- a candidate ---------------------------------------------------------------------------------------------------

    def _led(self, candidate: Candidate, target: Array) -> tuple[Array, tuple[float, float], bool, bool]:
        """x (n,) in the order of the chain, led to the target; its residual before and after; whether that is within
        the tolerance; whether it was far from there."""
        x = candidate.x[::-1].copy() if self.family.reversed else candidate.x.copy()
        e, position, orientation = self._residual(x, target)
        first = last = max(position / self.chain.size, orientation)
        damping, tried = DAMPING, 0
        while tried < STEPS and last > EXACT and first < self._near:
            tried += 1
            there = x + self._step(x, e, damping)
            e_there, *sizes = self._residual(there, target)
            now = max(sizes[0] / self.chain.size, sizes[1])
            if not now < last:
                if last < ROUNDED:
                    break
                damping *= MORE
                continue
            damping = max(LESS * damping, DAMPING)
            x, e, last, (position, orientation) = there, e_there, now, sizes
        is_met = position <= self.tolerance[0] and orientation <= self.tolerance[1]
        return x, (first, last), is_met, tried > USUAL_STEPS

    def _residual(self, x: Array, target: Array) -> tuple[Array, float, float]:
        """e (6,) over the size, and its sizes [m], [rad]."""
        T = placement(self.chain, x)
        e = np.zeros(6)
        e[:3] = (target[:3, 3] - T[:3, 3]) / self.chain.size
        if self.oriented:
            e[3:] = so3.log(target[:3, :3] @ T[:3, :3].T)
        return e, float(np.linalg.norm(e[:3])) * self.chain.size, float(np.linalg.norm(e[3:]))

    def _step(self, x: Array, e: Array, damping: float) -> Array:
        J = jacobian(self.chain, x)[: 6 if self.oriented else 3]
        H = J.T @ J
        return np.linalg.solve(H + damping * H.diagonal().max() * np.eye(len(H)), J.T @ e[: len(J)])

    def _fitted(self, candidate: Candidate, x: Array, q0: Array) -> Array | None:
        """x inside the limits, None when it cannot be."""
        x, coupled = x.copy(), set()
        for first, last, sign in candidate.couplings:
            pair = self._in_chain(first), self._in_chain(last)
            shared = self._shared(x, q0, *pair, sign)
            if shared is None:
                return None
            x[list(pair)] = shared
            coupled |= set(pair)
        for i, slides in enumerate(self.chain.slides):
            if i in coupled:
                continue
            if not slides:
                turned = self._nearest_turn(i, float(x[i]), q0)
                if turned is None:
                    return None
                x[i] = turned
        lower, upper = self.chain.lower, self.chain.upper
        if ((x < lower - AT_LIMIT) | (x > upper + AT_LIMIT)).any():
            return None
        return np.clip(x, lower, upper)

    def _nearest_turn(self, i: int, angle: float, q0: Array) -> float | None:
        """The angle and whole turns, nearest to q0 inside the limits."""
        lower, upper = float(self.chain.lower[i]), float(self.chain.upper[i])
        turns = math.floor((float(q0[i]) - angle) / TURN + 0.5)
        found = angle + TURN * turns if abs(turns) < MOST_TURNS else angle
        if found > upper + AT_LIMIT:
            found -= TURN * math.ceil((found - upper - AT_LIMIT) / TURN)
        elif found < lower - AT_LIMIT:
            found += TURN * math.ceil((lower - AT_LIMIT - found) / TURN)
        return min(max(found, lower), upper) if lower - AT_LIMIT <= found <= upper + AT_LIMIT else None

    def _shared(self, x: Array, q0: Array, a: int, b: int, sign: float) -> tuple[float, float] | None:
        """The values of two coupled turns that are nearest to q0 inside their limits."""
        lower, upper = self.chain.lower, self.chain.upper
        total = float(x[b] - q0[b] + sign * (x[a] - q0[a]))
        total -= TURN * math.floor(total / TURN + 0.5)
        best, found = math.inf, None
        for turns in range(-2, 3):
            rest = sign * (total + TURN * turns)  # what both are shifted by, in the sense of the first
            ends = sorted((rest - sign * (lower[b] - q0[b]), rest - sign * (upper[b] - q0[b])))
            least, most = max(lower[a] - q0[a], ends[0]), min(upper[a] - q0[a], ends[1])
            if least > most + AT_LIMIT:
                continue
            shift = min(max(0.5 * rest, least), max(least, most))
            if shift**2 + (rest - shift) ** 2 < best:
                best = shift**2 + (rest - shift) ** 2
                found = float(q0[a] + shift), float(q0[b] + sign * (rest - shift))
        return found

    def _insert(self, found: list[tuple[Array, int]], x: Array, branch: int) -> None:
        if all(abs(self._unit * (x - other)).max() >= SAME for other, _ in found):
            found.append((x, branch))
