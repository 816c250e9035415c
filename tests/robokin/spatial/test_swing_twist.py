"""Swing and twist: decomposition, limits, projection and gradients, against Pinocchio's rotations and differences."""

from __future__ import annotations

import math

import numpy as np
import pytest
from robokin_addon.robokin.model.joint_types import plane_basis
from robokin_addon.robokin.spatial import quaternion, swing_twist
from robokin_addon.robokin.spatial.swing_twist import Cone
from support.oracles import cone_oracle

INF = math.inf
CONES = (
    (0.5, 0.5, -1.0, 1.0),
    (1.2, 0.3, 0.2, 2.5),
    (2.9, 0.05, -3.0, -1.0),
    (1e-3, 1e-5, -1e-4, 1e-4),
    (INF, 0.4, -0.5, 0.5),
    (1.0, INF, -math.pi, math.pi),
    (INF, INF, 0.1, 0.2),
    (0.0, 0.7, -1.0, 2.0),
    (0.0, 0.0, -0.5, 0.5),
    (0.6, 0.9, 0.4, 0.4),
    (0.0, 0.0, 0.0, 0.0),
    (4.0, 1.0, -2.0, math.pi),
)


def cone(a: float, b: float, lower: float, upper: float, axis: tuple[float, ...] = (0.3, -0.5, 0.8)) -> Cone:
    axis = np.array(axis) / np.linalg.norm(axis)
    return Cone("ball", 0, 0, np.column_stack((*plane_basis(axis), axis)), a, b, lower, upper)


def random_quaternions(seed: int, count: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    q = quaternion.normalize(rng.normal(size=(count, 4)))
    near = quaternion.exp(rng.normal(size=(count // 2, 3)) * 10.0 ** rng.uniform(-12, 0, (count // 2, 1)))
    q[: count // 2] = near * rng.choice([-1.0, 1.0], (count // 2, 1))
    return q


@pytest.mark.parametrize("axis", [(0, 0, 1), (1, 0, 0), (0, -1, 0), (0.3, -0.5, 0.8)])
def test_decomposition_agrees_with_pinocchio_and_composes_back(axis):
    basis = cone(1, 1, 0, 1, axis).basis
    for q in random_quaternions(0, 400):
        swing, twist = swing_twist.swing_and_twist(q, basis)
        room = math.cos(0.5 * math.hypot(*swing))  # what rounding is divided by
        expected = cone_oracle.swing_and_twist(basis[:, 2], q)
        np.testing.assert_allclose(swing, expected[:2], atol=1e-13 / room)
        turned = (twist - expected[2] + math.pi) % (2 * math.pi) - math.pi
        assert abs(turned) < 1e-13 / room and -math.pi < twist <= math.pi
        back = swing_twist.from_swing_and_twist(swing, twist, basis)
        assert abs(abs(back @ q) - 1.0) < 4e-15
        np.testing.assert_allclose(back * np.sign(back @ q), q, atol=2e-15)


def test_half_turns_have_a_swing_and_no_twist():
    basis = np.eye(3)
    swing, twist = swing_twist.swing_and_twist(np.array([0.0, 0.6, 0.8, 0.0]), basis)
    np.testing.assert_allclose(swing, math.pi * np.array([0.6, 0.8]), atol=1e-15)
    assert twist == 0.0
    assert swing_twist.swing_and_twist(np.array([0.0, 0.0, 0.0, -1.0]), basis)[1] == math.pi


@pytest.mark.parametrize("limits", CONES)
def test_projection_is_inside_nearest_and_leaves_alone_what_is_inside(limits):
    limited, rng = cone(*limits), np.random.default_rng(1)
    locked = min(limits[:2]) == 0.0 or limits[2] == limits[3]
    for q in random_quaternions(2, 300):
        p = swing_twist.project(limited, q)
        assert swing_twist.contains(limited, p) and swing_twist.contains(limited, -p)
        np.testing.assert_array_equal(swing_twist.project(limited, p), p)
        (rx, ry), (px, py) = (swing_twist.swing_and_twist(x, limited.basis)[0] for x in (q, p))
        away = math.hypot(rx - px, ry - py)
        if not locked:
            outside = cone_oracle.swing_and_twist(limited.basis[:, 2], p)
            assert math.hypot(outside[0] / limits[0], outside[1] / limits[1]) <= 1.0 + 1e-15
        # Nothing inside the ellipse is nearer.
        angles, sizes = rng.uniform(0, 2 * math.pi, 200), np.sqrt(rng.random(200))
        sizes[:150] = 1.0
        a, b = min(limits[0], 9.0), min(limits[1], 9.0)
        distances = np.hypot(a * sizes * np.cos(angles) - rx, b * sizes * np.sin(angles) - ry)
        assert away <= distances.min() + 1e-9


@pytest.mark.parametrize("limits", CONES)
def test_what_is_well_inside_is_told_in_short(limits, monkeypatch):
    """And the projection is the same to the bit as without the short way."""
    limited = cone(*limits)
    drawn = [swing_twist.drawn(limited, *np.random.default_rng(k).random(3)) for k in range(100)]
    balls = [*random_quaternions(4, 300), *drawn]
    well = [swing_twist._is_well_inside(limited, q) for q in balls]
    projected = [swing_twist.project(limited, q) for q in balls]
    monkeypatch.setattr(swing_twist, "_is_well_inside", lambda cone, q: False)
    for q, is_well, p in zip(balls, well, projected, strict=True):
        np.testing.assert_array_equal(swing_twist.project(limited, q), p)
        assert not is_well or (swing_twist.contains(limited, q) and p is q)
    if limits[3] > limits[2] and min(limits[:2]) > 1e-9:
        assert sum(well[-100:]) > 80


@pytest.mark.parametrize("limits", CONES)
def test_draws_fill_the_limits_and_the_middle_is_inside(limits):
    limited, rng = cone(*limits), np.random.default_rng(3)
    drawn = np.array([swing_twist.drawn(limited, *rng.random(3)) for _ in range(500)])
    assert swing_twist.contains(limited, drawn).all() and swing_twist.contains(limited, swing_twist.middle(limited))
    swing, twist = swing_twist.swing_and_twist(drawn, limited.basis)
    assert np.ptp(twist) >= 0.9 * (limits[3] - limits[2]) - 1e-12
    for k in range(2):
        assert abs(swing[:, k]).max() >= 0.9 * min(limits[k], math.pi) - 1e-12


@pytest.mark.parametrize("limits", [limits for limits in CONES if min(limits[:2]) > 1e-4])
def test_the_local_coordinates_are_the_gradients(limits):
    """c[0] moves the cone's measure and c[1] does not, c[2] is the rate of the twist: central differences."""
    limited, rng, step = cone(*limits), np.random.default_rng(4), 1e-6
    for _ in range(40):
        q = swing_twist.drawn(limited, *rng.random(3))
        measure, twist = swing_twist.measures(limited, q)
        B, lo, hi = swing_twist.local_coordinates(limited, q)
        assert (lo <= 0.0).all() and (hi >= 0.0).all() and np.linalg.det(B) == pytest.approx(1.0, abs=1e-12)
        if math.hypot(*swing_twist.swing_and_twist(q, limited.basis)[0]) > 2.5 or measure < 1e-3 * step**0.5:
            continue
        ends = [
            [swing_twist.measures(limited, quaternion.multiply(q, quaternion.exp(s * step * w))) for s in (-1, 1)]
            for w in B.T
        ]
        slopes = np.array([[(high[k] - low[k]) / (2 * step) for low, high in ends] for k in range(2)])
        if np.isfinite(limits[:2]).any():
            assert slopes[0, 0] > 0.0 and abs(slopes[0, 1:]).max() < 1e-5 * max(1.0, slopes[0, 0])
            assert measure + slopes[0, 0] * hi[0] == pytest.approx(1.0, abs=1e-4)
        if limited.has_twist:
            np.testing.assert_allclose(slopes[1], [0, 0, 1], atol=1e-6)
            np.testing.assert_allclose([twist + lo[2], twist + hi[2]], limits[2:], atol=1e-12)


def test_locked_swings_move_along_their_axis_only():
    limited = cone(0.0, 0.7, -1.0, 1.0)
    q = swing_twist.project(limited, swing_twist.from_swing_and_twist(np.array([0.0, 0.3]), 0.4, limited.basis))
    B, lo, hi = swing_twist.local_coordinates(limited, q)
    np.testing.assert_allclose((lo, hi), ([0, -1.0, -1.4], [0, 0.4, 0.6]), atol=1e-12)
    moved = quaternion.multiply(q, quaternion.exp(B @ [0.0, 1e-3, 0.0]))
    swing, twist = swing_twist.swing_and_twist(moved, limited.basis)
    np.testing.assert_allclose([*swing, twist], [0.0, 0.301, 0.4], atol=1e-6)
