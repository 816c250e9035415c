"""RRT-Connect (Kuffner and LaValle 2000): two trees grow towards random configurations, and towards each other."""

from __future__ import annotations

from collections.abc import Generator

import numpy as np

from ...robokin.arrays import Array
from ...robokin.configuration import beside
from .free_space import FreeSpace
from .samples import Samples

STEPS = 20  # of a tree along the diagonal of what is drawn from


def connected(
    space: FreeSpace, samples: Samples, start: Array, goal: Array, budget: int
) -> Generator[int, None, tuple[list[Array], int]]:
    """Yield the number of configurations drawn now and then; return configurations, free straight paths between them,
    from start to goal, or none; and how many were drawn. budget: how many may be."""
    step = samples.diagonal / STEPS
    trees = [_Tree(space, samples, start, step), _Tree(space, samples, goal, step)]
    for drawn in range(1, budget + 1):
        own, other = trees
        reached = own.extend(samples.draw())
        if reached is not None:
            wanted = own.q[reached]
            met = other.connect(wanted)
            if met is not None:
                there, back = own.path_to(reached), other.path_to(met)
                if drawn % 2:  # own grows from the start
                    return [*there[::-1], *back[1:]], drawn
                return [*back[::-1], *there[1:]], drawn
        trees.reverse()
        yield drawn
    return [], budget


class _Tree:
    """q: its configurations, each with the one that it was reached from."""

    def __init__(self, space: FreeSpace, samples: Samples, root: Array, step: float) -> None:
        self.space, self.samples, self.step = space, samples, step
        self.q, self.parent = root[None].copy(), [-1]

    def extend(self, wanted: Array) -> int | None:
        """One step from the nearest towards a configuration: the new one's number."""
        found, _ = self._step(self._nearest(wanted), wanted)
        return found

    def connect(self, wanted: Array) -> int | None:
        """Extend the tree step by step towards a configuration. Its number in the tree; None where it is not
        reached."""
        at, is_there = self._nearest(wanted), False
        while not is_there:
            found, is_there = self._step(at, wanted)
            if found is None:
                return None
            at = found
        return at

    def path_to(self, number: int) -> list[Array]:
        """From a configuration to the root."""
        found = []
        while number >= 0:
            found.append(self.q[number])
            number = self.parent[number]
        return found

    def _nearest(self, wanted: Array) -> int:
        return int(self.samples.apart(self.q, wanted).argmin())

    def _step(self, at: int, wanted: Array) -> tuple[int | None, bool]:
        own = self.q[at]
        wanted = beside(self.samples.model, own, wanted)
        far = float(self.samples.apart(own, wanted))
        is_there = far <= self.step
        reached = wanted if is_there else self.samples.between(own, wanted, self.step / far)
        if not self.space.is_straight_free(own, reached):
            return None, False
        self.q = np.concatenate((self.q, reached[None]))
        self.parent.append(at)
        return len(self.parent) - 1, is_there
