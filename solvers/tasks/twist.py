"""A link moves with a prescribed velocity."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ...robokin import se3
from .base import Part, Rows
from .checks import axis_weights, choice, direction, number, per_axis, positive, vector
from .frame import PART
from .tip import TipTask

if TYPE_CHECKING:
    from ..state import State

Array = np.ndarray

FRAMES = ("world", "tip", "space")


class TwistTask(TipTask):
    """The tip moves with a twist. Parts: linear [m/s], angular [rad/s].

    target: (6,) linear part first.   frame: "world": of the tip's origin, in root axes; "tip": in tip axes; "space": of
    the body's point at the root's origin, in root axes, which is a screw that stands still: a hinge (`about`).
    weights: (6,) or one for all, per root axis ("world", "space") or tip axis, 0 leaves it free.   band: as weights
    [m/s, rad/s], what does not count.
    Rows: what the finite motion of the step, exp(twist dt), moves the tip's origin and turns it by, so that a hinge is
    followed along its circle.
    """

    kind: ClassVar[str] = "twist"
    is_velocity: ClassVar[bool] = True

    def __init__(
        self,
        link: str,
        target: object,
        weights: object = 1.0,
        frame: str = "world",
        offset: object | None = None,
        linear_tolerance: float = 1e-5,
        angular_tolerance: float = 1e-5,
        band: object = 0.0,
        name: str = "",
        priority: int = 1,
        influence: float = 1.0,
    ) -> None:
        super().__init__(link, offset, name, priority, influence)
        self.frame = choice(frame, f"{self.name}: frame", FRAMES)
        self.weights = self.influence * axis_weights(weights, f"{self.name}: weights", 6)
        self.band = per_axis(band, f"{self.name}: band", 6)
        self.parts = (
            Part("linear", "m/s", positive(linear_tolerance, f"{self.name}: linear tolerance")),
            Part("angular", "rad/s", positive(angular_tolerance, f"{self.name}: angular tolerance")),
        )
        self.target = self.checked_target(target)

    @staticmethod
    def about(point: object, axis: object, speed: float, pitch: float = 0.0) -> Array:
        """(6,) the target, in the frame "space", of turning at `speed` [rad/s] about an axis (3,) through a point (3,)
        of the root frame, and along it by `pitch` [m/rad]: a hinge, a screw. Raises TaskError."""
        a = direction(axis, "axis of the hinge")
        through, rate = vector(point, "point of the hinge"), number(speed, "speed about the hinge")
        return rate * np.concatenate((np.cross(through, a) + number(pitch, "pitch of the hinge") * a, a))

    def checked_target(self, target: object) -> Array:
        return vector(target, f"{self.name}: target twist", 6)

    def rows(self, state: State, target: Array) -> Rows:
        T, J = self.tip(state), self.tip_jacobian(state)
        step = target * state.dt
        R = T[:3, :3]
        if self.frame == "tip":
            moved = se3.exp(step)
            J = np.kron(np.eye(2), R.T) @ J
            e = np.concatenate((moved[:3, 3], step[3:]))
        elif self.frame == "space":
            moved = se3.exp(step)
            e = np.concatenate((moved[:3, :3] @ T[:3, 3] + moved[:3, 3] - T[:3, 3], step[3:]))
        else:
            e = step
        return Rows.wanted(J, e, self.weights, PART, self.band * state.dt)
