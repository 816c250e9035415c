"""Quaternions in single precision, interpolated linearly: inside the limits at and between the keys."""

from __future__ import annotations

import math

import numpy as np
import pytest
from robokin_addon.robokin import quaternion, swing_twist
from robokin_addon.robokin.quaternion_keys import rotation_keys, sign_continuous
from test_swing_twist import cone


def wandering(limited: swing_twist.Cone, count: int, pace: float) -> np.ndarray:
    """(count, 4) a walk that is often at the limits."""
    rng, w = np.random.default_rng(0), np.zeros(3)
    q = [swing_twist.drawn(limited, *rng.random(3))]
    for _ in range(count - 1):
        w = 0.9 * w + rng.normal(size=3) * pace
        q.append(swing_twist.project(limited, quaternion.multiply(q[-1], quaternion.exp(w))))
    return np.array(q) * rng.choice([-1.0, 1.0], (count, 1))


@pytest.mark.parametrize(
    ("limits", "moved"),
    [((0.5, 0.5, -1.0, 1.0), 2e-3), ((1.2, 0.3, 0.2, 2.5), 2e-3), ((1e-3, 1e-5, -1e-4, 1e-4), 2e-6)],
)
def test_keys_and_what_is_between_them_are_inside(limits, moved):
    limited = cone(*limits)
    q = wandering(limited, 600, 0.02)
    keys = rotation_keys(q, limited)
    assert keys.dtype == np.float32 and (np.einsum("ij,ij->i", keys[1:], keys[:-1]) > 0.0).all()
    share = np.linspace(0.0, 1.0, 41)[:, None, None]
    between = quaternion.normalize((1.0 - share) * keys[:-1].astype(float) + share * keys[1:].astype(float))
    assert swing_twist.contains(limited, between).all()
    off = 2.0 * np.linalg.norm(quaternion.multiply(quaternion.conjugate(q), keys.astype(float))[:, 1:], axis=1)
    assert off.max() < moved and np.median(off) < 4e-7


def test_what_is_inside_is_only_rounded():
    limited = cone(1.0, 1.0, -1.0, 1.0)
    q = wandering(cone(0.5, 0.5, -0.5, 0.5), 50, 0.02)
    expected = q * np.where(q[:, :1] < 0.0, -1.0, 1.0)
    np.testing.assert_array_equal(rotation_keys(q, limited), expected.astype(np.float32))


def test_locked_axes_are_kept_within_single_precision():
    for limits in ((0.0, 0.7, -1.0, 2.0), (0.6, 0.9, 0.4, 0.4), (0.0, 0.0, 0.0, 0.0)):
        limited = cone(*limits)
        keys = rotation_keys(wandering(limited, 60, 0.02), limited).astype(float)
        assert swing_twist.contains(limited, quaternion.normalize(keys), 1e-6).all()


def test_free_rotations_keep_their_sign():
    angles = np.linspace(0.0, 20.0, 100)
    q = np.column_stack((np.cos(angles / 2), np.zeros(100), np.sin(angles / 2), np.zeros(100)))
    flipped = q * np.where(np.arange(100) % 3 == 1, -1.0, 1.0)[:, None]
    np.testing.assert_array_equal(sign_continuous(flipped), q)
    np.testing.assert_array_equal(rotation_keys(flipped), q.astype(np.float32))
    swung = cone(0.5, math.inf, -math.pi, math.pi, (0, 0, 1))
    turning = np.column_stack((np.cos(angles / 2), np.zeros((100, 2)), np.sin(angles / 2)))
    assert (np.diff(np.unwrap(2 * np.arctan2(*rotation_keys(turning, swung)[:, [3, 0]].T))) > 0.0).all()
