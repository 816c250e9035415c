"""A closed loop: two frames on two links are one."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

import numpy as np

from ....robokin.arrays import Array
from ...fixed_arrays import cached_settings
from ..checks import share
from ..tip_rows import TipForm
from .relative import RelativePoseTask


class LoopClosureTask(RelativePoseTask):
    """The tip and a frame of another link stay together: a joint that a tree cannot have. Parts: position [m],
    orientation [rad].

    It is hard: its level is 0, before all tasks, beside the constraints A v = c, and after the limits.
    target: None, the two frames are one; or the pose (4, 4) in which the tip stays in the other frame.
    offset, other_offset: (4, 4) the two frames that are one.   weights: (3,) per axis of the other frame, 0 where the
    closing joint moves: orientation_weights=(1, 1, 0) for a hinge about z, 0 for a ball joint.
    correction: share, 0 to 1, of what has drifted apart that a step takes back (Baumgarte, "Stabilization of
    constraints and integrals of motion in dynamical systems", Comput. Methods Appl. Mech. Eng. 1, 1972).
    """

    kind: ClassVar[str] = "loop closure"

    @cached_settings
    def __init__(
        self,
        link: str,
        other: str,
        offset: object | None = None,
        other_offset: object | None = None,
        position_weights: object = 1.0,
        orientation_weights: object = 1.0,
        position_tolerance: float = 1e-5,
        orientation_tolerance: float = 1e-5,
        correction: float = 1.0,
        name: str = "",
    ) -> None:
        super().__init__(
            link,
            other,
            None,
            position_weights,
            orientation_weights,
            offset,
            other_offset,
            position_tolerance,
            orientation_tolerance,
            name,
        )
        self._keep(priority=0)
        self.correction = share(correction, f"{self.name}: correction")
        self._set_target(None)

    def checked_target(self, target: object | None) -> Array:
        return np.eye(4) if target is None else super().checked_target(target)

    def tip_form(self) -> TipForm:
        return replace(super().tip_form(), correction=self.correction)
