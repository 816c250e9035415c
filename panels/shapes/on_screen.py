"""Where handles are on the screen, and which of them is under the mouse."""

from __future__ import annotations

import numpy as np

from ...robokin.arrays import Array


def distance_to(grip: Array, at: tuple[float, float]) -> float:
    """[pixels] from a place to a row of points (n, 2) seen there, NaN those behind the view."""
    points = grip[~np.isnan(grip).any(axis=1)] - np.array(at)
    if len(points) < 2:
        return float(np.linalg.norm(points, axis=1).min(initial=np.inf))
    start, along = points[:-1], np.diff(points, axis=0)
    square = np.maximum((along * along).sum(axis=1), 1e-12)
    share = np.clip(-(start * along).sum(axis=1) / square, 0.0, 1.0)
    return float(np.linalg.norm(start + share[:, None] * along, axis=1).min())


def under(grips: list[Array], at: tuple[float, float], near: float) -> int | None:
    """Index of the grip (n, 2) that is taken hold of at a place [pixels], None where all are farther than `near`: a
    knob, which is one point, before lines, which may pass below it; then the nearest."""
    found = [(len(grip) > 1, distance_to(grip, at), i) for i, grip in enumerate(grips)]
    return min((each for each in found if each[1] < near), default=(False, 0.0, None))[2]


def seen(points: Array, perspective: Array, width: float, height: float) -> Array:
    """(n, 2) pixels of points (n, 3) of the world in a region; NaN behind the view."""
    clip = points @ perspective[:, :3].T + perspective[:, 3]
    w = np.where(clip[:, 3] > 1e-9, clip[:, 3], np.nan)
    return 0.5 * (clip[:, :2] / w[:, None] + 1.0) * np.array([width, height])


def pixel_size(point: Array, perspective: Array, width: float) -> float:
    """[Blender units] of a pixel of a region where a point (3,) of the world is."""
    w = abs(float(perspective[3, :3] @ point + perspective[3, 3]))
    return 2.0 * w / (width * float(np.linalg.norm(perspective[0, :3])))
