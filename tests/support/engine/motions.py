"""What a motion does, told from its configurations: how far links move, how fast joints are, how often they turn."""

from __future__ import annotations

import numpy as np
from robokin_addon.robokin import RobotModel
from robokin_addon.robokin.arrays import Array
from robokin_addon.robokin.backend import get_backend


def link_steps(model: RobotModel, q: Array) -> Array:
    """(frames - 1,) how far the link that moves most goes from each of q (frames, nq) to the next [m or rad]."""
    moved = np.diff(get_backend().frame_placements(model.tree, np.asarray(q)), axis=0)
    turned = np.linalg.norm(moved[..., :3, :3], axis=(-2, -1)) / np.sqrt(2.0)
    return np.maximum(np.linalg.norm(moved[..., :3, 3], axis=-1), turned).max(axis=1)


def velocities(model: RobotModel, q: Array, dt: float) -> Array:
    """(frames - 1, nv) with which each of q (frames, nq) but the first is reached."""
    return get_backend().difference(model.tree, q[:-1], q[1:]) / dt


def reversals(v: Array, floor: Array) -> Array:
    """(nv,) how often each column of v (frames, nv) changes its sign; speeds up to floor (nv,) are as good as 0."""
    signs = np.where(abs(v) > floor, np.sign(v), 0.0)
    columns = [column[column != 0.0] for column in signs.T]
    return np.array([int((column[1:] != column[:-1]).sum()) for column in columns])


def settled(is_off: Array) -> int:
    """The first frame from which on nothing is off; the number of frames when the last one is."""
    off = np.flatnonzero(is_off)
    return int(off[-1]) + 1 if len(off) else 0


def fastest(distance: float, velocity: float, acceleration: float) -> float:
    """[s] of the fastest motion over a distance from rest to rest: speed up, go on at full speed, brake."""
    peak = np.sqrt(distance * acceleration)
    if peak <= velocity:
        return float(2.0 * distance / peak)
    return float(distance / velocity + velocity / acceleration)
