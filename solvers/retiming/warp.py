"""A parameter of a path that goes gently to where the robot rests.

From rest a robot goes s = j t³/6 of its path where jerks are limited, a t²/2 where accelerations are. By a parameter
that grows with the cube root or the root of s beside the places of rest, its speed there is neither 0 nor infinite.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...robokin.arrays import Array

# Of the share x of a piece, 0 to 1 as x is: as x^1, x^2, x^3 beside 0, and the same mirrored beside 1.
SHAPES = {
    1: np.polynomial.Polynomial([0.0, 1.0]),
    2: np.polynomial.Polynomial([0.0, 0.0, 3.0, -2.0]),
    3: np.polynomial.Polynomial([0.0, 0.0, 0.0, 10.0, -15.0, 6.0]),
}
HALVINGS = 60


@dataclass(frozen=True, eq=False)
class Warp:
    """borders: (m + 1,) parameters of the path at which the robot rests; the other parameter is the same there.
    order: 1, 2 or 3, with which power of it the path begins."""

    borders: Array
    order: int

    def at(self, r: Array) -> tuple[Array, Array, Array, Array]:
        """The path's parameter at r (...), and its first three derivatives."""
        piece = np.clip(np.searchsorted(self.borders, r, side="right") - 1, 0, len(self.borders) - 2)
        return self.within(piece, r)

    def within(self, piece: Array, r: Array) -> tuple[Array, Array, Array, Array]:
        """What `at` gives, in pieces that are known."""
        start = self.borders[piece]
        length = self.borders[piece + 1] - start
        if self.order == 1:
            return r, np.ones_like(r), np.zeros_like(r), np.zeros_like(r)
        x, f = (r - start) / length, SHAPES[self.order]
        return start + length * f(x), f.deriv(1)(x), f.deriv(2)(x) / length, f.deriv(3)(x) / length**2

    def inverse(self, s: Array) -> Array:
        """The parameter at which the path's is s (...)."""
        piece = np.clip(np.searchsorted(self.borders, s, side="right") - 1, 0, len(self.borders) - 2)
        low, high = self.borders[piece], self.borders[piece + 1]
        for _ in range(HALVINGS):
            middle = 0.5 * (low + high)
            beyond = self.within(piece, middle)[0] > s
            low, high = np.where(beyond, low, middle), np.where(beyond, middle, high)
        return np.where(np.isin(s, self.borders), s, 0.5 * (low + high))
