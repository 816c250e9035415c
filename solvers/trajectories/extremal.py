"""The motions of one axis that come farthest: from a state to a state in a given time. Twin of
kernel/src/trajectories/extremal.c.

States are [p, v, a], limits [V, A, J] on the sizes of v, a and the jerk; V and A may be infinite. Among all motions of
duration T from a state to a velocity and an acceleration, the one that comes farthest has the jerks +, 0, -, 0, -, 0, +
(Pontryagin): it rises, cruises at V where there is time for it, and falls. A phase may last no time at all. As limits
and dynamics are convex, what lies between the farthest and the least far is reached by a mixture of both.
"""

from __future__ import annotations

import math

Numbers = tuple[float, ...]
SIGNS = (1.0, 0.0, -1.0, 0.0, -1.0, 0.0, 1.0)


def change_of_velocity(v0: float, a0: float, v1: float, A: float, J: float) -> tuple[float, float, float]:
    """Durations of the jerks +, 0, - that lead from v0, a0 to v1 and acceleration 0, where that is a rise."""
    peak = math.sqrt(max(J * (v1 - v0) + 0.5 * a0 * a0, 0.0))
    if peak > A:
        return (A - a0) / J, (v1 - v0 - (2.0 * A * A - a0 * a0) / (2.0 * J)) / A, A / J
    return max(peak - a0, 0.0) / J, 0.0, peak / J


def total(durations: tuple[float, float, float]) -> float:
    """The sum of the durations; that of Python rounds otherwise than the kernel."""
    return durations[0] + durations[1] + durations[2]


class Extremal:
    """The farthest motions from v0, a0 to v1, a1. `at(T)`: phases, how far, and how fast that grows with T."""

    def __init__(self, start: Numbers, end: Numbers, limits: Numbers) -> None:
        self.v0, self.a0, self.v1, self.a1 = start[1], start[2], end[1], end[2]
        self.V, self.A, self.J = limits
        self.cruising = math.inf  # the duration from which on it cruises
        if self.V < math.inf:
            self.rise = change_of_velocity(self.v0, self.a0, self.V, self.A, self.J)
            self.fall = change_of_velocity(self.v1, -self.a1, self.V, self.A, self.J)
            self.cruising = total(self.rise) + total(self.fall)

    def phases(self, T: float) -> tuple[float, ...]:
        if self.cruising <= T:
            return (*self.rise, T - self.cruising, self.fall[2], self.fall[1], self.fall[0])
        v0, a0, v1, a1, A, J = self.v0, self.a0, self.v1, self.a1, self.A, self.J
        change, dv = (a1 - a0) / J, v1 - v0
        middle, outer = 0.5 * (T - change), 0.5 * (T + change)
        if middle <= 0.0:
            return max(outer, 0.0), 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        c = (dv - (a1 * a1 - a0 * a0) / (2.0 * J)) / (2.0 * J)
        first = min(max(0.5 * middle - a0 / J + c / middle, 0.0), outer)
        last = outer - first
        if a0 + J * first <= A and a1 - J * last >= -A:
            return first, 0.0, middle, 0.0, 0.0, 0.0, last
        # Both accelerations are held, or one of them.
        rest = T - (A - a0) / J - 2.0 * A / J - (a1 + A) / J
        more = (dv - (a1 * a1 - a0 * a0) / (2.0 * J)) / A
        upper, lower = 0.5 * (rest + more), 0.5 * (rest - more)
        if upper >= 0.0 and lower >= 0.0:
            return (A - a0) / J, upper, 2.0 * A / J, 0.0, 0.0, lower, (a1 + A) / J
        if upper > lower:
            up, hold, middle, down = _one_held(T, a0, a1, dv, A, J)
            return up, hold, middle, 0.0, 0.0, 0.0, down
        up, hold, middle, down = _one_held(T, -a1, -a0, -dv, A, J)  # the same, back in time
        return down, 0.0, middle, 0.0, 0.0, hold, up

    def at(self, T: float) -> tuple[float, float]:
        """How far it comes in T, and the derivative of that.

        The derivative is the Hamiltonian at the first switch, where the costate of the acceleration is 0 and that of
        the velocity half of what the middle phase lasts.
        """
        p, v, a, slope = 0.0, self.v0, self.a0, self.V
        phases = self.phases(T)
        for i in range(7):
            t, j = phases[i], SIGNS[i] * self.J
            if i == 2 and self.cruising > T:
                slope = v + 0.5 * a * t
            p += t * (v + t * (0.5 * a + t * j / 6.0))
            v += t * (a + 0.5 * j * t)
            a += j * t
        return p, slope

    def turns(self) -> list[float]:
        """Durations, sorted, between which how far it comes is a convex or a concave function; the last one ends what
        is not convex."""
        a0, a1, dv, A, J = self.a0, self.a1, self.v1 - self.v0, self.A, self.J
        change = (a1 - a0) / J
        c = (dv - (a1 * a1 - a0 * a0) / (2.0 * J)) / (2.0 * J)
        middles = [math.sqrt(2.0 * abs(c) / math.sqrt(3.0))]
        found = []
        if math.inf > A:
            for sign in (1.0, -1.0):
                root = A * A / (J * J) - 2.0 * sign * c
                if root >= 0.0:
                    middles += [A / J - math.sqrt(root), A / J + math.sqrt(root)]
                x0, x1, d = (a0, a1, dv) if sign > 0.0 else (-a1, -a0, -dv)
                for low in (0.25 * A, -A):
                    constant = low * low - 2.0 * A * low + A * (2.0 * A - x0 + x1) - A * A + 0.5 * (x0 * x0 - x1 * x1)
                    found.append((constant + J * d) / (J * A))
        found += [2.0 * middle + change for middle in middles]
        return sorted(T for T in found if T < self.cruising)


def _one_held(T: float, a0: float, a1: float, dv: float, A: float, J: float) -> tuple[float, float, float, float]:
    """Durations of +, 0, -, + where the acceleration A is held."""
    K = J * (A * T - dv) - A * (2.0 * A - a0 + a1) + 0.5 * (2.0 * A * A - a0 * a0 + a1 * a1)
    low = min(A - math.sqrt(max(A * A + K, 0.0)), a1, A)
    up, middle, down = (A - a0) / J, (A - low) / J, (a1 - low) / J
    return up, max(T - up - middle - down, 0.0), middle, down
