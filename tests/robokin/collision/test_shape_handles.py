"""Handles of collision shapes: each goes as far as its value grows, and comes back with it."""

from __future__ import annotations

import numpy as np
import pytest
from robokin_addon.robokin.collision.shape_handles import LEAST, shape_handles, value_of, with_value
from robokin_addon.robokin.errors import UnknownNameError
from robokin_addon.robokin.model.geometry import Box, Capsule, Cylinder, Geometry, Hull, Mesh, RoundedBox, Sphere
from robokin_addon.robokin.spatial import se3

SHAPES = (
    Sphere(0.3),
    Capsule(0.1, 0.4),
    Cylinder(0.2, 0.5),
    Box((0.2, 0.4, 0.6)),
    RoundedBox((0.2, 0.4, 0.6), 0.05),
    Hull(np.random.default_rng(3).normal(size=(12, 3)), 0.02),
    Mesh("body.stl"),
)
HANDLES = [(shape, each.name) for shape in SHAPES for each in shape_handles(shape)]
T = se3.exp(np.array([0.3, -0.2, 0.5, 0.4, 0.1, -0.3]))


def points_of(geometry):
    """{handle: (where it is, which way it goes)} in the link."""
    R, at = geometry.placement[:3, :3], geometry.placement[:3, 3]
    return {each.name: (at + R @ each.point, R @ each.direction) for each in shape_handles(geometry.shape)}


@pytest.mark.parametrize(("shape", "name"), HANDLES)
@pytest.mark.parametrize("by", [0.03, -0.015])
def test_a_handle_goes_along_and_comes_back(shape, name, by):
    before = Geometry(shape, T, name="mine")
    value = value_of(before, name)
    by = abs(by) if value == 0.0 else by
    after = with_value(before, name, value + by)
    point, way = points_of(before)[name]
    assert points_of(after)[name][0] == pytest.approx(point + by * way, abs=1e-12)
    assert value_of(after, name) == pytest.approx(0.0 if name.startswith("MOVE") else value + by)
    back = with_value(after, name, -by if name.startswith("MOVE") else value)
    assert back.placement == pytest.approx(T, abs=1e-12) and back.name == "mine"
    if not isinstance(shape, Mesh):
        for field in set(vars(shape)) | set(vars(back.shape)):
            default = 0.0 if field == "radius" else None  # of a box that was round for a while
            assert getattr(back.shape, field, default) == pytest.approx(getattr(shape, field, default), abs=1e-12)


@pytest.mark.parametrize(("name", "opposite"), [("TOP", "BOTTOM"), ("X_NEGATIVE", "X_POSITIVE")])
def test_the_other_end_stays(name, opposite):
    for shape in SHAPES:
        before = Geometry(shape, T)
        if name in points_of(before):
            after = with_value(before, name, value_of(before, name) + 0.1)
            assert points_of(after)[opposite][0] == pytest.approx(points_of(before)[opposite][0], abs=1e-12)


def test_rounder_corners_leave_the_faces_where_they_are():
    before = Geometry(Box((0.2, 0.4, 0.6)), T)
    after = with_value(before, "RADIUS", 0.07)
    assert isinstance(after.shape, RoundedBox) and after.shape.size == pytest.approx((0.06, 0.26, 0.46))
    for name, (point, _) in points_of(before).items():
        assert name == "RADIUS" or points_of(after)[name][0] == pytest.approx(point, abs=1e-12)
    assert type(with_value(after, "RADIUS", -1.0).shape) is Box


def test_no_shape_turns_inside_out():
    for shape, name in HANDLES:
        if not name.startswith("MOVE"):
            found = value_of(with_value(Geometry(shape), name, -5.0), name)
            assert found == pytest.approx(max(found, 0.0)) and found <= max(LEAST, 2.0 * getattr(shape, "radius", 0.0))
    assert value_of(with_value(Geometry(Box((0.2, 0.4, 0.6))), "RADIUS", 5.0), "RADIUS") == pytest.approx(0.1)


def test_a_handle_that_is_not_there_is_named():
    with pytest.raises(UnknownNameError, match="'TOP'"):
        value_of(Geometry(Sphere(0.1)), "TOP")
