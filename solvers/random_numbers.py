"""The seeded generator of the restarts, the same in the kernel (kernel/src/ik/ik.c)."""

from __future__ import annotations

import math

_MASK = (1 << 64) - 1


class SplitMix64:
    """Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014."""

    def __init__(self, seed: int) -> None:
        self._state = seed & _MASK

    def uniform(self) -> float:
        """In [0, 1), with 53 random bits."""
        self._state = (self._state + 0x9E3779B97F4A7C15) & _MASK
        z = self._state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _MASK
        return ((z ^ (z >> 31)) >> 11) * 2.0**-53

    def quaternion(self) -> tuple[float, float, float, float]:
        """Uniform over the rotations, w first. Source: Shoemake, "Uniform random rotations", Graphics Gems III."""
        u, first, second = self.uniform(), 2.0 * math.pi * self.uniform(), 2.0 * math.pi * self.uniform()
        a, b = math.sqrt(1.0 - u), math.sqrt(u)
        return b * math.cos(second), a * math.sin(first), a * math.cos(first), b * math.sin(second)
