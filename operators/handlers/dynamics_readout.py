"""What the motion that is shown takes at the present frame, for the panel: computed while Blender is idle."""

from __future__ import annotations

from collections.abc import Generator

import bpy
import numpy as np

from ...properties.bridge import Binding, binding, read_configuration
from ...properties.frame_rate import frame_seconds
from ...properties.results import readouts
from ...properties.results.readouts import DynamicsReadout
from ...robokin import RobokinError
from ...robokin.arrays import Array
from ...scene.animation.curves import shown_by_keys
from ...scene.criteria.solver_criteria import root_gravity
from ...solvers.motion.dynamics import MotionDynamics
from ...solvers.motion.motion import Motion
from ..idle_work import IdleWork

SAME = 1e-6  # [rad, m] a pose that is no farther from that of the keys is theirs

_work: IdleWork[DynamicsReadout] = IdleWork("computing dynamics", is_finished_first=True)


def dynamics_readout(obj: bpy.types.Object) -> DynamicsReadout | None:
    """What was computed last, of the frame that is shown; None before. A pose that is not that of the keys is held."""
    try:
        robot = binding(obj)
        Q, dt, gravity = _shown(obj, robot), frame_seconds(bpy.context.scene), root_gravity(obj, robot)
    except RobokinError:
        return None
    mark = robot.model, Q.tobytes(), dt, gravity.tobytes()
    return _work.result(obj, "", mark, lambda: _computed(robot, Q, dt, gravity))


def finish_work() -> None:
    """Do all that waits, at once."""
    _work.finish()


def _shown(obj: bpy.types.Object, robot: Binding) -> Array:
    """(3, nq) two frames before the present one, one before, and it: what velocity and acceleration need."""
    q = read_configuration(obj, robot)
    Q = shown_by_keys(obj, bpy.context.scene.frame_current_final - np.arange(2.0, -1.0, -1.0), robot)
    if Q is None or not np.allclose(Q[-1], q, rtol=0.0, atol=SAME):
        return np.tile(q, (3, 1))
    return Q


def _computed(robot: Binding, Q: Array, dt: float, gravity: Array) -> Generator[float, None, DynamicsReadout]:
    yield 0.0
    model = robot.model
    motion = Motion.of(model, dt * np.arange(3.0), Q)
    found = MotionDynamics.of(motion, gravity)
    efforts, powers = {}, {}
    for joint in model.moving_joints:
        own = model.slot(joint.name).v
        efforts[joint.name], powers[joint.name] = tuple(found.effort[-1, own]), tuple(found.power[-1, own])
    return DynamicsReadout(
        efforts,
        powers,
        kinetic_energy=float(found.kinetic_energy[-1]),
        potential_energy=float(found.potential_energy[-1]),
        power=sum(sum(own) for name, own in powers.items() if name != model.joints[0].name),
        center_of_mass=tuple(found.center_of_mass[-1]),
        zero_moment_point=tuple(found.zero_moment_point[-1]),
        impulses={link: tuple(own) for link, own in zip(found.tools, found.impulse[-1].tolist(), strict=True)},
    )


def register() -> None:
    _work.register()
    readouts.dynamics = dynamics_readout


def unregister() -> None:
    readouts.dynamics = readouts.no_dynamics
    _work.unregister()
