"""A beam fixed in the tool meets a surface at a given spot."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from ....robokin.arrays import Array
from ...fixed_arrays import Checks, cached_settings
from ...kinematics.state import State
from ..base import Forms, Part, Rows
from ..checks import direction, positive, vector
from ..protocols import KernelTipTask
from ..task_jacobian import TaskJacobian
from ..tip import TipTask
from ..tip_rows import TipForm, TipKind
from ..tips.aim import aim, aim_task_jacobian
from ..tips.frame import PART
from .beam import checked_surface, spot, spot_task_jacobian
from .on_line import across
from .surface import PACKED, Surface, packed


class LaserTask(TipTask, KernelTipTask):
    """The beam from the tip's origin along `axis` (3,) of the tip falls on `surface` at `target` (3,), a moving spot of
    it in the root frame. Parts: spot [m], beam [rad].

    target: (3,), or (that, surface) where the surface moves from frame to frame too.

    e = target - h, h where the beam meets the surface: how it moves says `beam.spot`. What of e is across the surface,
    as of a target beside it, no motion changes: it stays in the residual.
    While the beam is parallel to the surface or misses it, it is turned towards the target: `beam` is the angle that
    is missing, and `spot` the distance from the tip to the target.
    """

    kind: ClassVar[str] = "laser"
    forms: ClassVar[Forms] = {"target": "vector"}
    checks: ClassVar[Checks] = {**TipTask.checks, "weight": positive}
    is_comparable: ClassVar[bool] = False
    has_length_alone: ClassVar[bool] = True

    @cached_settings
    def __init__(
        self,
        link: str,
        axis: object,
        target: object,
        surface: Surface,
        weight: float = 1.0,
        offset: object | None = None,
        tolerance: float = 1e-5,
        beam_tolerance: float = 1e-5,
        name: str = "",
        priority: int = 1,
        influence: float = 1.0,
    ) -> None:
        super().__init__(link, offset, name, priority, influence)
        self.axis = direction(axis, f"{self.name}: axis")
        self.surface = checked_surface(surface, self.name)
        self.weight = weight
        self.parts = (
            Part("spot", "m", positive(tolerance, f"{self.name}: tolerance")),
            Part("beam", "rad", positive(beam_tolerance, f"{self.name}: beam tolerance")),
        )
        self._set_target(target)

    def checked_target(self, target: object) -> tuple[Array, Surface]:
        wanted, surface = target, self.surface
        if isinstance(target, tuple) and len(target) == 2:
            wanted, surface = target[0], checked_surface(target[1], self.name)
        return vector(wanted, f"{self.name}: target spot"), surface

    def rows(self, state: State, target: tuple[Array, Surface]) -> Rows:
        wanted, surface = target
        T, J = self.tip(state), self.tip_jacobian(state)
        found = spot(T[:3, 3], T[:3, :3] @ self.axis, J, surface)
        if found is None:
            J_spot, e_spot = np.zeros((3, J.shape[1])), wanted - T[:3, 3]
            J_beam, e_beam = aim(T, J, self.axis, wanted)
        else:
            J_spot, e_spot = found.J, wanted - found.at
            J_beam, e_beam = np.zeros((3, J.shape[1])), np.zeros(3)
        J, e = np.vstack((J_spot, J_beam)), np.concatenate((e_spot, e_beam))
        return Rows.wanted(J, e, np.full(6, self.weight * self.influence), PART)

    def task_jacobian(self, state: State, target: tuple[Array, Surface]) -> TaskJacobian:
        """The two ways of the spot along the surface; of a beam that misses it those of an aim."""
        wanted, surface = target
        T = self.tip(state)
        hit = surface.hit(T[:3, 3], T[:3, :3] @ self.axis)
        if hit is None:
            return aim_task_jacobian(self, state, across(self.axis), self.axis, wanted)
        return spot_task_jacobian(self, state, self.axis, hit, across(hit[1]))

    def tip_form(self) -> TipForm | None:
        weights = np.full(6, self.weight * self.influence)
        form = TipForm(TipKind.LASER, self.link, self.offset, weights, np.zeros(6), axis=self.axis)
        return form if packed(self.surface, np.zeros(PACKED)) else None

    def tip_target(self, target: tuple[Array, Surface], out: Array) -> bool | None:
        wanted, surface = target
        out[:3] = wanted
        return False if packed(surface, out[3:]) else None
