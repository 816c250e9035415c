"""The grid of a path: where it is split, and how x bends in its cells."""

from __future__ import annotations

import numpy as np
from robokin_addon.solvers.retiming.refinement import PARTS, bends, first_grid, parts, split

EVEN = np.full(10, 0.1)
PLENTY = 1000


def test_the_first_grid_has_all_knots_and_at_least_two_cells_between() -> None:
    for knots in (np.array([0.0, 0.3, 1.0]), np.cumsum(np.random.default_rng(0).uniform(0.01, 1.0, 900))):
        grid, interval = first_grid(knots)
        assert np.isin(knots, grid).all() and (np.diff(grid) > 0.0).all() and len(grid) > 500
        assert (np.bincount(interval) >= 2).all()
        assert (knots[interval] <= grid[:-1]).all() and (grid[1:] <= knots[interval + 1]).all()


def test_cells_are_split_into_equal_parts() -> None:
    grid, interval = split(np.array([0.0, 1.0, 3.0]), np.array([4, 7]), np.array([1, 4]))
    assert grid.tolist() == [0.0, 1.0, 1.5, 2.0, 2.5, 3.0]
    assert interval.tolist() == [4, 7, 7, 7, 7]


def test_a_parabola_has_its_bend_and_no_cell_to_split() -> None:
    places = np.append(0.0, np.cumsum(EVEN))
    x = 2.0 + 3.0 * places - 1.5 * places**2
    found = bends(x, EVEN)
    assert np.allclose(found[1:-1], -1.5)
    found[[0, -1]] = -1.5
    assert (parts(x, EVEN, found, PLENTY) == 1).all()


def test_beside_a_switch_nothing_bends_and_cells_are_split_the_worst_first() -> None:
    x = 1.0 + np.minimum(np.arange(11), 10 - np.arange(11)) * 0.2
    assert (bends(x, EVEN) == 0.0).all()
    into = parts(x, EVEN, np.zeros(10), PLENTY)
    assert into.tolist() == [1] * 4 + [PARTS] * 2 + [1] * 4
    assert (parts(x, EVEN, np.zeros(10), 10) == 1).all()
    x[3] -= 0.05
    assert parts(x, EVEN, np.zeros(10), 10 + 2 * (PARTS - 1)).sum() == 10 + 2 * (PARTS - 1)


def test_a_place_of_rest_is_no_switch() -> None:
    x = abs(np.arange(11) - 5.0)
    assert (parts(x, EVEN, np.zeros(10), PLENTY) == 1).all()
