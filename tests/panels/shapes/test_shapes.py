"""The geometry of overlays and gizmos against numbers."""

from __future__ import annotations

import numpy as np
import pytest
from robokin_addon.panels.gizmos.handles import KNOB
from robokin_addon.panels.shapes import colors
from robokin_addon.panels.shapes.ellipsoid import semi_axes
from robokin_addon.panels.shapes.joints import (
    GAP,
    KNOB_EDGES,
    arc_fan,
    cone_border,
    limit_arc,
    margins,
    nearness,
    radius_at,
    rail,
    swing_cone,
)
from robokin_addon.panels.shapes.lines import arc, arrow, circle, dashes, rings
from robokin_addon.panels.shapes.polygon import fan, inside
from robokin_addon.robokin.spatial.polygon import convex_hull


def test_an_arc_goes_from_limit_to_limit_about_z():
    segments = arc(-0.5, 2.0, 3.0)
    assert segments[0, 0] == pytest.approx([3.0 * np.cos(-0.5), 3.0 * np.sin(-0.5), 0.0])
    assert segments[-1, 1] == pytest.approx([3.0 * np.cos(2.0), 3.0 * np.sin(2.0), 0.0])
    assert np.array_equal(segments[1:, 0], segments[:-1, 1])
    assert np.linalg.norm(segments[:, 1] - segments[:, 0], axis=1).sum() == pytest.approx(2.5 * 3.0, rel=1e-3)


def test_a_range_of_several_turns_is_a_spiral_on_which_the_needle_ends():
    lower, upper = -2.0 * np.pi, 4.0 * np.pi
    segments = limit_arc(lower, upper)
    first, last = segments[0, 0], segments[-3, 1]  # the marks come last
    assert np.linalg.norm(first) == pytest.approx(1.0 - GAP) and np.linalg.norm(last) == pytest.approx(1.0 + 2.0 * GAP)
    assert radius_at(upper, lower, upper) == pytest.approx(np.linalg.norm(last))
    assert radius_at(1.0, -1.5, 1.5) == 1.0
    marks = np.linalg.norm(segments[-2:], axis=2) - [[1.0 - GAP], [1.0 + 2.0 * GAP]]
    assert np.abs(marks).max() < GAP  # no mark and no knob covers the turn beside its own
    assert np.abs(KNOB_EDGES).max() * KNOB < 0.6 * GAP
    free = limit_arc(-np.inf, np.inf)
    assert np.linalg.norm(free[:, 0], axis=1) == pytest.approx(1.0)


def test_a_rail_ends_at_the_limits_and_an_open_end_has_an_arrow():
    stroke = rail(-0.1, 0.3, 0.2)
    assert stroke[0].tolist() == [[0.0, 0.0, -0.1], [0.0, 0.0, 0.3]]
    assert set(stroke[1:, :, 2].ravel()) == {-0.1, 0.3}
    assert rail(-np.inf, 0.3, 0.2)[0, 0].tolist() == [0.0, 0.0, -0.2]


def test_the_border_of_a_cone_is_at_its_half_angles():
    border = cone_border(0.4, 0.9, np.eye(3))
    assert np.linalg.norm(border, axis=1) == pytest.approx(1.0)
    tilt = np.arccos(border[:, 2])
    assert tilt[0] == pytest.approx(0.4) and tilt[16] == pytest.approx(0.9)
    assert border[0, 1] == pytest.approx(-np.sin(0.4))  # a swing about u leads against w
    assert len(swing_cone(np.inf, np.inf, np.eye(3))) == 0


def test_sectors_have_the_area_of_their_angle():
    def area(triangles):
        return 0.5 * np.linalg.norm(np.cross(*np.moveaxis(triangles[:, 1:] - triangles[:, :1], 1, 0)), axis=1).sum()

    assert area(arc_fan(0.3, 1.8)) == pytest.approx(0.75, rel=2e-3)
    assert area(arc_fan(0.3, 1.8, 0.5)) == pytest.approx(0.75 * 0.75, rel=2e-3)
    assert area(arc_fan(0.0, 30.0)) == pytest.approx(np.pi, rel=2e-3)


def test_an_ellipsoid_is_the_image_of_the_unit_ball():
    A = np.random.default_rng(3).normal(size=(3, 7))
    axes = semi_axes(A)
    assert np.linalg.norm(axes, axis=0)[::-1] == pytest.approx(np.linalg.svd(A)[1])
    inverse = np.linalg.inv(A @ A.T)
    points = rings(axes).reshape(-1, 3)
    assert np.einsum("ij,jk,ik->i", points, inverse, points) == pytest.approx(1.0)
    flat = semi_axes(np.diag([1.0, 2.0, 0.0]))
    assert np.linalg.norm(flat, axis=0) == pytest.approx([0.0, 1.0, 2.0])
    several = semi_axes(np.array([A, np.diag([1.0, 2.0, 0.0, 3.0, 0.0, 0.0, 1.0])[:3]]))
    assert several[0] == pytest.approx(axes) and rings(several).shape == (2, *rings(axes).shape)
    assert rings(several)[1] == pytest.approx(rings(several[1]))


def test_the_hull_holds_all_points_and_turns_left():
    points = np.random.default_rng(5).normal(size=(60, 2))
    hull = convex_hull(points)
    assert all(inside(hull, point * (1.0 - 1e-12)) for point in points)
    assert {tuple(corner) for corner in hull} <= {tuple(point) for point in points}
    assert not inside(hull, hull[0] + (hull[0] - hull.mean(axis=0)))
    x, y = hull.T
    area = 0.5 * (x @ np.roll(y, -1) - y @ np.roll(x, -1))
    triangles = fan(hull)
    first, second = triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0]
    assert 0.5 * (first[:, 0] * second[:, 1] - first[:, 1] * second[:, 0]).sum() == pytest.approx(area)
    assert convex_hull(np.array([[0.0, 0.0], [1.0, 0.0], [0.5, 0.0]])).shape == (2, 2)


def test_only_what_is_near_a_limit_is_coloured():
    values = np.array([0.0, 0.98, 1.0, 0.0])
    bounds = np.array([-1.0, -1.0, -1.0, -np.inf]), np.array([1.0, 1.0, 1.0, np.inf])
    near = nearness(values, *bounds, margins(*bounds, np.ones(4, bool)))
    assert near[[0, 2, 3]].tolist() == [0.0, 1.0, 0.0] and 0.0 < near[1] < 1.0
    wide = np.array([-20.0]), np.array([3.2])
    assert nearness(np.array([3.0]), *wide, margins(*wide, np.zeros(1, bool)))[0] == 0.0


def test_small_shapes():
    assert arrow(np.zeros(3), np.array([0.0, 0.0, 2.0])).shape == (5, 2, 3)
    assert len(arrow(np.ones(3), np.ones(3))) == 0
    dashed = dashes(np.zeros(3), np.array([1.0, 0.0, 0.0]), 4)
    assert dashed[0, 0, 0] == 0.0 and dashed[-1, 1, 0] == 1.0 and len(dashed) == 4
    assert circle(2.0)[0, 0] == pytest.approx(circle(2.0)[-1, 1], abs=1e-12)
    ramp = colors.ramp(np.array([0.0, 1.0, 7.0, np.nan]))
    assert ramp[1].tolist() == ramp[2].tolist() and ramp[1, 0] == 1.0 and tuple(ramp[3]) == colors.PLAIN
