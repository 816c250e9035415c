"""Tasks on the pose of a tip: all of it, its position only, its orientation only."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from ....robokin.arrays import Array
from ....robokin.spatial import so3
from ...fixed_arrays import cached_settings
from ..base import Forms
from ..checks import rigid, rotation, vector
from ..tip import AT_LINK
from .frame import FrameKind, FrameTask


class PoseTask(FrameTask):
    """The tip takes a pose. `target`: (4, 4) T_root_tip. Other arguments: see `FrameTask` and `Task`. Raises TaskError.

    e = [p_d - p; log(R_d R')].
    """

    kind: ClassVar[str] = "pose"
    forms: ClassVar[Forms] = {"target": "pose"}
    record_kind: ClassVar[FrameKind] = FrameKind.POSE

    def target_matrix(self, target: object) -> Array:
        return rigid(target, f"{self.name}: target")

    def tip_rows(self, T_root_tip: Array, target: Array) -> tuple[Array, Array]:
        return pose_error(T_root_tip, target, bool(self.orientation_weights.any()))


class _PosePart(PoseTask):
    """A pose of which one part counts: "position" or "orientation". Its other axes are free."""

    part: ClassVar[str]

    @cached_settings
    def __init__(
        self,
        link: str,
        target: object,
        weights: object = 1.0,
        frame: str = "world",
        offset: object | None = None,
        tolerance: float = 1e-5,
        name: str = "",
        priority: int = 1,
        influence: float = 1.0,
        band: object = 0.0,
    ) -> None:
        own = {"position_weights": 0.0, "orientation_weights": 0.0, f"{self.part}_weights": weights}
        own |= {f"{self.part}_tolerance": tolerance, f"{self.part}_band": band}
        whole = {"frame": frame, "offset": offset, "name": name, "priority": priority, "influence": influence}
        FrameTask.__init__(self, link, target, **own, **whole)  # type: ignore[arg-type]


class PositionTask(_PosePart):
    """The tip's origin takes a position. `target`: (3,) in the root frame. Raises TaskError."""

    kind: ClassVar[str] = "position"
    part: ClassVar[str] = "position"
    forms: ClassVar[Forms] = {"target": "vector"}

    def target_matrix(self, target: object) -> Array:
        T = AT_LINK.copy()
        T[:3, 3] = vector(target, f"{self.name}: target position")
        return T


class OrientationTask(_PosePart):
    """The tip takes an orientation. `target`: (3, 3) rotation R_root_tip. Raises TaskError."""

    kind: ClassVar[str] = "orientation"
    part: ClassVar[str] = "orientation"
    forms: ClassVar[Forms] = {"target": "orientation"}

    def target_matrix(self, target: object) -> Array:
        T = AT_LINK.copy()
        T[:3, :3] = rotation(target, f"{self.name}: target orientation")
        return T


def pose_error(T: Array, target: Array, turns: bool = True) -> tuple[Array, Array]:
    """e (..., 6) and A (..., 6, 6) of poses T and targets (..., 4, 4) (see frame.py); without `turns` position rows
    only. Any leading batch axes."""
    e, A = np.zeros((*T.shape[:-2], 6)), np.zeros((*T.shape[:-2], 6, 6))
    A[...] = np.eye(6)
    e[..., :3] = target[..., :3, 3] - T[..., :3, 3]
    if turns:
        e[..., 3:] = so3.log(target[..., :3, :3] @ np.swapaxes(T[..., :3, :3], -1, -2))
        A[..., 3:, 3:] = so3.right_jacobian_inverse(e[..., 3:])
    return e, A
