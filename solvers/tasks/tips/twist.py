"""A link moves with a prescribed velocity."""

from __future__ import annotations

from dataclasses import replace
from itertools import compress
from typing import ClassVar

import numpy as np

from ....robokin.arrays import Array
from ....robokin.spatial import se3, so3
from ...fixed_arrays import cached_settings
from ...kinematics.state import State
from ..base import Forms, Part, Rows
from ..checks import axis_weights, choice, direction, number, per_axis, positive, rigid, slow, vector
from ..protocols import Displacement, KernelTipTask, VelocityTask
from ..task_jacobian import TaskJacobian
from ..tip import TipTask
from ..tip_rows import TipForm, TipKind
from .frame import PART

FRAMES = ("world", "tip", "space")
NEARING = 4  # steps to the nearest place on the path


class TwistTask(TipTask, VelocityTask, KernelTipTask):
    """The tip moves with a twist. Parts: linear [m/s], angular [rad/s].

    target: (6,) linear part first.   frame: "world": of the tip's origin, in root axes; "tip": in tip axes; "space": of
    the body's point at the root's origin, in root axes, which is a screw that stands still: a hinge (`about`).
    weights: (6,) or one for all, per root axis ("world", "space") or tip axis, 0 leaves it free.   band: as weights
    [m/s, rad/s], what does not count.
    Rows: what the finite motion of the step, exp(twist dt), moves the tip's origin and turns it by, so that a hinge is
    followed along its circle. This motion is the path, if nothing is in a band: where limits allow no more, the tip
    goes slower, on the same path.
    """

    kind: ClassVar[str] = "twist"
    forms: ClassVar[Forms] = {"target": "twist", "weights": "six", "band": "six"}

    @cached_settings
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
        self.weights = axis_weights(weights, f"{self.name}: weights", 6)
        self.band = per_axis(band, f"{self.name}: band", 6)
        self.parts = (
            Part("linear", "m/s", positive(linear_tolerance, f"{self.name}: linear tolerance")),
            Part("angular", "rad/s", positive(angular_tolerance, f"{self.name}: angular tolerance")),
        )
        self._set_target(target)

    @staticmethod
    def about(point: object, axis: object, speed: float, pitch: float = 0.0) -> Array:
        """(6,) the target, in the frame "space", of turning at `speed` [rad/s] about an axis (3,) through a point (3,)
        of the root frame, and along it by `pitch` [m/rad]: a hinge, a screw. Raises TaskError."""
        a = direction(axis, "axis of the hinge")
        through, rate = vector(point, "point of the hinge"), number(speed, "speed about the hinge")
        return rate * np.concatenate((np.cross(through, a) + number(pitch, "pitch of the hinge") * a, a))

    @staticmethod
    def expressed_in(T_root_body: object, twist: object) -> Array:
        """(6,) the target, in the frame "space", of moving with a body at T (4, 4) whose origin has this twist (6,), in
        its own axes. Raises TaskError."""
        return se3.adjoint(rigid(T_root_body, "T_root_body")) @ vector(twist, "twist of the body", 6)

    def checked_target(self, target: object) -> Array:
        what = f"{self.name}: target twist"
        return slow(vector(target, what, 6), what)

    @property
    def has_path(self) -> bool:  # type: ignore[override]
        return not any(self.band.tolist())

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
        return self._towards(J, e, e if self.is_going(target) else None, state.dt)

    def task_jacobian(self, state: State, target: Array) -> TaskJacobian:
        return self.axes_task_jacobian(state, self.frame, (self.weights > 0.0) & (self.band == 0.0))

    def is_going(self, target: Array) -> bool:
        """Whether the motion has a path in the rows, wherever the tip is."""
        speeds = target.tolist()
        if self.frame != "world":
            v, w = target[:3], target[3:]
            along = (
                abs(np.cross(w, v)) + abs(np.cross(w, np.cross(w, v))) if self.frame == "tip" else abs(w).sum() - abs(w)
            )
            speeds[:3] = (abs(v) + along).tolist()
        return self.has_path and any(compress(speeds, (self.influence * self.weights).tolist()))

    def tip_form(self) -> TipForm:
        weights = self.influence * self.weights
        return TipForm(TipKind.TWIST, self.link, self.offset, weights, self.band, axes=self.frame)

    def tip_target(self, target: Array, out: Array) -> bool:
        out[:6] = target
        return False

    def rows_after(self, moved: Displacement, target: Array) -> Rows:
        """The motion so far as d: where the origin has moved and by what the tip has turned, in its axes of the start
        ("tip") or those of the root."""
        before, T, J = self.tip(moved.start), self.tip(moved.end), self.tip_jacobian(moved.end)
        step, axes = target * moved.start.dt, before[:3, :3].T if self.frame == "tip" else np.eye(3)
        turned = so3.log(T[:3, :3] @ before[:3, :3].T)
        d = np.concatenate((axes @ (T[:3, 3] - before[:3, 3]), axes @ turned))
        J = np.vstack((axes @ J[:3], axes @ so3.left_jacobian_inverse(turned) @ J[3:]))
        share, used = 1.0, self.weights != 0.0
        for _ in range(NEARING):
            e, path_direction = self._path(step, share, before[:3, 3])
            slope = float(path_direction[used] @ path_direction[used])
            share = min(max(share + float(path_direction[used] @ (d - e)[used]) / slope, 0.0), 1.0) if slope else 1.0
        e, path_direction = self._path(step, share, before[:3, 3])
        e = e - d + (1.0 - share) * path_direction
        return self._towards(J, e, path_direction if self.is_going(target) else None, moved.start.dt)

    def start_jacobian(self, moved: Displacement, target: Array) -> Array:
        before, T, J = self.tip(moved.start), self.tip(moved.end), self.tip_jacobian(moved.start)
        turned, shift = so3.log(T[:3, :3] @ before[:3, :3].T), T[:3, 3] - before[:3, 3]
        linear, angular = -J[:3], -so3.left_jacobian_inverse(-turned) @ J[3:]
        if self.frame == "tip":  # its axes turn with where it begins
            R = before[:3, :3].T
            linear, angular = R @ (linear + so3.hat(shift) @ J[3:]), R @ (angular + so3.hat(turned) @ J[3:])
        elif self.frame == "space":  # the screw carries it
            linear = se3.exp(target * moved.start.dt)[:3, :3] @ linear
        return np.vstack((linear, angular))[self.influence * self.weights > 0.0]

    def _path(self, step: Array, share: float, origin: Array) -> tuple[Array, Array]:
        """(6,) where a share of the step leads, and its derivative."""
        if self.frame == "world":
            return share * step, step
        moved, origin = se3.exp(share * step), origin if self.frame == "space" else np.zeros(3)
        place = moved[:3, :3] @ origin + moved[:3, 3]
        along = step[:3] + np.cross(step[3:], place)
        return np.concatenate((place - origin, share * step[3:])), np.concatenate((along, step[3:]))

    def _towards(self, J: Array, e: Array, path_direction: Array | None, dt: float) -> Rows:
        weights = self.influence * self.weights
        rows = Rows.wanted(J, e, weights, PART, self.band * dt)
        return rows if path_direction is None else replace(rows, path_direction=path_direction[weights > 0.0])
