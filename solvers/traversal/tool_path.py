"""A path of poses through those of the frames."""

from __future__ import annotations

import numpy as np

from ...robokin.arrays import Array
from ...robokin.model.robot import Link, RobotModel
from ...robokin.spatial import quaternion, so3
from ..retiming.path import Path


class ToolPath:
    """poses: (F, 4, 4), passed at 0, 1 ... F - 1 by cubic splines, straight where the poses are on a line."""

    def __init__(self, poses: Array) -> None:
        self.frames = len(poses)
        self._poses = poses
        body = RobotModel("tool path", [Link("tool")], [], "floating")
        turns = quaternion.continuous(np.array([quaternion.from_matrix(T[:3, :3]) for T in poses]))
        self._path = None
        if self.frames > 1:
            self._path = Path.through(body, np.hstack((poses[:, :3, 3], turns)), np.arange(float(self.frames)))

    def at(self, s: Array) -> Array:
        """(n, 4, 4) at parameters (n,) from 0 to F - 1."""
        if self._path is None:
            return np.repeat(self._poses, len(s), axis=0)
        interval = np.clip(np.floor(s).astype(int), 0, self.frames - 2)
        q = self._path.at(interval, s)[0]
        T = np.tile(np.eye(4), (len(s), 1, 1))
        T[:, :3, 3], T[:, :3, :3] = q[:, :3], quaternion.to_matrix(q[:, 3:])
        return T


def deviation(requested: Array, tips: Array) -> Array:
    """(n, 2) [m], [rad] between poses (n, 4, 4)."""
    away = np.linalg.norm(tips[:, :3, 3] - requested[:, :3, 3], axis=1)
    turned = np.swapaxes(requested[:, :3, :3], -1, -2) @ tips[:, :3, :3]
    return np.stack((away, np.linalg.norm(so3.log(turned), axis=-1)), axis=1)
