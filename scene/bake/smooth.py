"""An animation repaired: as near to it as the limits allow, without its shaking."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass

import bpy
import numpy as np

from ...properties.bridge import binding
from ...properties.frame_rate import frame_seconds
from ...robokin import RobokinError, RobotModel
from ...robokin.arrays import Array
from ...robokin.backend import get_backend
from ...robokin.structure.narrow_limits import with_limits_around
from ...robokin.units import counted, freedom_units
from ...scene.animation.curves import refuse_unwritable, sample_configurations, show_curves, write_curves
from ...solvers import Motion, OptimizedMotion
from ...solvers.motion.violation import Violation
from ...solvers.optimal_control.optimize import optimize_steps, until
from ...solvers.optimal_control.sqp import ITERATIONS
from ...solvers.optimal_control.start import TrackedFrames, near_animation
from ...solvers.progress import mapped, scaled
from ..keyed_numbers import models_over, written_check
from .resampling import broken_limits

# What mends what Smooth leaves, which are the steps to the frames beside.
JOIN = "choose a longer range, or Retime"
STILL = 1e-5  # [rad, m] less is shown as 0


@dataclass(frozen=True, eq=False)
class SmoothResult:
    """frames: scene frames. before, after: samples that break a limit, in the animation and in what was written, those
    beside the frames too that these lead to.   deviation: largest change of a joint value [rad, m], which joint's, and
    its unit.   result: of the optimum.   broken: what the samples after break, one line, or none."""

    frames: Sequence[int]
    before: int
    after: int
    deviation: float
    joint: str
    unit: str
    result: OptimizedMotion
    broken: Sequence[str] = ()

    def summary(self) -> str:
        """One line."""
        broke = f"{counted(self.before, 'sample')} broke a limit, now {self.after}"
        moved = f"the farthest from the animation is {self.joint} by {self.deviation:.3g} {self.unit}"
        if not self.before and not self.after:
            broke = "no sample broke a limit"
        if self.deviation < STILL:
            moved = "no joint is off the animation"
        return "; ".join((broke, moved, self.result.note, *self.broken))

    def to_dict(self) -> dict:
        """Plain values for JSON."""
        counts = {"frames": len(self.frames), "broken_before": self.before, "broken_after": self.after}
        own = {"deviation": self.deviation, "joint": self.joint, "broken": list(self.broken)}
        return {**counts, **own, **self.result.to_dict()}


def smooth_steps(
    scene: bpy.types.Scene,
    obj: bpy.types.Object,
    frames: Sequence[int],
    time: float,
    new_action: bool = False,
    is_enough: Callable[[], bool] = bool,
) -> Generator[float, None, SmoothResult]:
    """Yield the share of the work done (0..1) now and then; return what was written.

    The robot's curves over the frames become the motion nearest to them that keeps the limits on position, velocity and
    acceleration at every frame. What it cannot keep towards the frames beside, the result names. time: [s] shaking
    faster than about this is smoothed away. It begins at rest, as Check reads a motion. is_enough: asked after each
    step, whether to end with the best so far. Nothing is written before the last step. Raises RobokinError.
    """
    if len(frames) < 2:
        raise RobokinError("one frame is no motion: choose a range of at least two frames")
    robot = binding(obj)
    refuse_unwritable(scene, obj, new_action, robot)
    step = int(frames[1] - frames[0])
    dt = step * frame_seconds(scene)
    around = list(frames) if new_action else _around(scene, frames, step)
    models = yield from scaled(models_over(scene, obj, around, robot), 0.0, 0.0)
    wild = yield from scaled(sample_configurations(scene, obj, around, robot), 0.0, 0.2)
    own = slice(around.index(frames[0]), around.index(frames[-1]) + 1)
    robot = robot.limited(with_limits_around(robot.model, models, wild))
    model = robot.model
    shown = Motion.of(model, dt * np.arange(len(frames)), wild[own])
    start = yield from scaled(near_animation(model, shown.q, dt), 0.2, 0.4)
    cost = {"animation": 1.0, "acceleration": time**4} if time > 0.0 else "animation"
    parts = [TrackedFrames((), start, np.zeros((len(frames), 0)))]
    steps = until(optimize_steps(model, parts, cost, shown.q, False), lambda _: is_enough())
    steps = mapped(steps, lambda done: done / ITERATIONS)
    (result,) = yield from scaled(steps, 0.4, 0.9)
    written = write_curves(obj, frames, result.q, new_action, robot)
    show_curves(obj, scene.frame_current_final, robot)
    mended = wild.copy()
    mended[own] = written
    before, after = (_broken(models, dt, q, own.start) for q in (wild, mended))
    away = abs(get_backend().difference(model.tree, shown.q, result.q)).max(axis=0)
    return SmoothResult(
        frames,
        len({each.frame for each in before}),
        len({each.frame for each in after}),
        float(away.max(initial=0.0)),
        *_joint_of(model, away),
        result,
        broken_limits(after, around, JOIN),
    )


def _around(scene: bpy.types.Scene, frames: Sequence[int], step: int) -> list[int]:
    """The frames, with up to two on either side in the scene's range that speeds and accelerations there come from."""
    first, last = min(scene.frame_start, frames[0]), max(scene.frame_end, frames[-1])
    before = [frame for frame in (frames[0] - 2 * step, frames[0] - step) if frame >= first]
    return [*before, *frames, *(frame for frame in (frames[-1] + step, frames[-1] + 2 * step) if frame <= last)]


def _broken(models: Sequence[RobotModel], dt: float, q: Array, lead: int) -> list[Violation]:
    """What the samples q (n, nq) break of the limits of a model each, but for the `lead` first ones."""
    check = written_check(Motion.of(models[0], dt * np.arange(len(q)), q), models)
    return [each for each in check.violations if each.frame >= lead]


def _joint_of(model: RobotModel, away: Array) -> tuple[str, str]:
    worst = int(np.argmax(away)) if len(away) else -1
    for joint in model.moving_joints:
        own = model.slot(joint.name).v
        if own.start <= worst < own.stop:
            return joint.name, freedom_units(joint)[worst - own.start]
    return "none", "rad"
