"""Drags on a screen: what was taken hold of stays under the mouse."""

from __future__ import annotations

import math

import numpy as np
import pytest
from robokin_addon.robokin.spatial import so3
from robokin_addon.solvers.posing.on_screen import ValueDrag, View, along_line, turned_since

SIZE = np.array([800.0, 600.0])


def looking(down: bool = True) -> View:
    """In perspective, from 4 m: along -Z, or along Y."""
    T = np.eye(4)
    if not down:
        T[:3, :3] = so3.exp(np.array([-math.pi / 2.0, 0.0, 0.0]))
    T[2, 3] = -4.0
    near, far = 0.1, 100.0
    P = np.diag([1.5, 2.0, (near + far) / (near - far), 0.0])
    P[2, 3], P[3, 2] = 2.0 * near * far / (near - far), -1.0
    return View(P @ T, SIZE)


def on_circle(angle: float) -> np.ndarray:
    return np.array([math.cos(angle), math.sin(angle), 0.2])


@pytest.mark.parametrize("off", [0.0, 12.0])
def test_a_turned_joint_stays_under_the_mouse_for_more_than_a_turn(off: float) -> None:
    view = looking()
    drag = ValueDrag(view, on_circle, 0.4, view.seen(on_circle(0.4)) + off)
    for angle in np.arange(0.4, 15.0, 0.1):
        assert drag.to(view.seen(on_circle(angle)) + off) == pytest.approx(angle, abs=1e-4)


def test_away_from_the_arc_the_nearest_point_counts_and_limits_hold() -> None:
    view = looking()
    drag = ValueDrag(view, on_circle, 0.4, view.seen(on_circle(0.4)), -1.0, 1.2)
    assert drag.to(view.seen(2.0 * on_circle(0.8))) == pytest.approx(0.8, abs=0.05)
    assert drag.to(view.seen(on_circle(2.0))) == 1.2


def test_an_arc_seen_from_its_edge_and_a_rail() -> None:
    view = looking(down=False)
    drag = ValueDrag(view, on_circle, -1.2, view.seen(on_circle(-1.2)))
    assert drag.to(view.seen(on_circle(-0.9))) == pytest.approx(-0.9, abs=1e-3)

    def rail(x: float) -> np.ndarray:
        return np.array([x, 0.3, 0.1])

    drag = ValueDrag(view, rail, 0.0, view.seen(rail(0.0)), -0.5, 0.5)
    assert drag.to(view.seen(rail(0.35)) + np.array((0.0, 40.0))) == pytest.approx(0.35, abs=1e-3)


def test_a_point_that_does_not_move_on_the_screen_lets_the_mouse_go_sideways() -> None:
    drag = ValueDrag(looking(), lambda angle: np.array([0.0, 0.0, 0.2]), 0.0, np.array([400.0, 300.0]), upper=1.0)
    assert 0.0 < drag.to(np.array([430.0, 300.0])) < 0.5
    assert drag.to(np.array([4000.0, 300.0])) == 1.0


def test_a_line_and_a_turn() -> None:
    at = along_line(
        np.array([1.0, 2.0, 0.0]), np.array([0.0, 0.0, 1.0]), np.array([1.0, 7.0, 0.7]), np.array([0, -2.0, 0])
    )
    assert at == pytest.approx(0.7)
    center = np.array([10.0, 10.0])
    assert turned_since(center, np.array([20.0, 10.0]), np.array([10.0, 30.0])) == pytest.approx(math.pi / 2.0)
