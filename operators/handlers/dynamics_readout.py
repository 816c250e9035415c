"""What the motion that is shown takes at the present frame, for the panel: computed while Blender is idle."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping

import bpy
import numpy as np

from ...properties.bridge import Binding, binding, read_configuration
from ...properties.frame_rate import frame_seconds
from ...properties.results import readouts
from ...properties.results.readouts import DynamicsReadout, Quantity
from ...robokin import Joint, RobokinError
from ...robokin.arrays import Array
from ...robokin.units import FORCES, freedom_units
from ...scene.animation.curves import shown_by_keys
from ...scene.criteria.solver_criteria import root_gravity
from ...solvers.motion.dynamics import MotionDynamics
from ...solvers.motion.motion import Motion, velocity_names
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
    links = _links(obj, robot)
    mark = robot.model, Q.tobytes(), dt, gravity.tobytes(), *(links or ())
    return _work.result(obj, "", mark, lambda: _computed(robot, Q, dt, gravity, links))


def finish_work() -> None:
    """Do all that waits, at once."""
    _work.finish()


def _shown(obj: bpy.types.Object, robot: Binding) -> Array:
    """(4, nq) three frames before the present one, and it: what velocity, acceleration and jerk need."""
    q = read_configuration(obj, robot)
    Q = shown_by_keys(obj, bpy.context.scene.frame_current_final - np.arange(3.0, -1.0, -1.0), robot)
    if Q is None or not np.allclose(Q[-1], q, rtol=0.0, atol=SAME):
        return np.tile(q, (4, 1))
    return Q


def _links(obj: bpy.types.Object, robot: Binding) -> list[str] | None:
    """The active bone's link; None, for the tools, where there is none."""
    bone = obj.data.bones.active
    return None if bone is None or bone.name not in robot.link_of_bone else [robot.link_of_bone[bone.name]]


def _computed(
    robot: Binding, Q: Array, dt: float, gravity: Array, links: list[str] | None
) -> Generator[float, None, DynamicsReadout]:
    yield 0.0
    model = robot.model
    found = MotionDynamics.of(Motion.of(model, dt * np.arange(4.0), Q), gravity)
    joints = {joint.name: tuple(_of_joint(found, joint)) for joint in model.moving_joints}
    drives = [joint for joint in model.moving_joints if joint is not model.joints[0]]  # nothing drives the root
    power = float(sum(found.power[-1, model.slot(joint.name).v].sum() for joint in drives))
    rows = [Quantity("DRIVES", "Power of All", "W", (power,))]
    for group in ("energy", "mass", "ground"):
        rows += _merged(group, found.columns([group]))
    for link in found.tools:
        rows += _merged("impulses", found.columns(["impulses"]), link)
    for link in found.tools if links is None else links:
        rows += _merged("links", found.columns(["links"], [link]), link)
    return DynamicsReadout(joints, tuple(rows))


def _of_joint(found: MotionDynamics, joint: Joint) -> Iterator[Quantity]:
    motion, units, own = found.motion, freedom_units(joint), found.motion.model.slot(joint.name).v
    rates = (("Velocity", motion.v, "/s"), ("Acceleration", motion.a, "/s\u00b2"), ("Jerk", motion.jerk, "/s\u00b3"))
    for i, (name, unit) in enumerate(zip(velocity_names(joint), units, strict=True)):
        part = name.removeprefix(joint.name)
        for kind, values, per in rates:
            yield Quantity("JOINTS", kind + part, unit + per, (float(values[-1, own][i]),))
        effort, power = (float(values[-1, own][i]) for values in (found.effort, found.power))
        yield Quantity("DRIVES", "Effort" + part, FORCES[unit], (effort,), float(joint.effort[i]))
        yield Quantity("DRIVES", "Power" + part, "W", (power,))


def _merged(group: str, columns: Mapping[str, tuple[str, Array]], link: str = "") -> Iterator[Quantity]:
    """The columns at the present frame, x, y, z of vectors together; those of one link where it is named."""
    vectors: dict[str, tuple[str, list[float]]] = {}
    for name, (unit, values) in columns.items():
        vectors.setdefault(name[:-2] if name[-2:] in (" x", " y", " z") else name, (unit, []))[1].append(values[-1])
    start, end = (f"{link} ", f" of {link}") if link else ("", "")
    for name, (unit, own) in vectors.items():
        if name.startswith(start):
            title = name.removeprefix(start).title().replace(" Of ", " of ")
            yield Quantity(group.upper(), title + end, unit, tuple(map(float, own)))


def register() -> None:
    _work.register()
    readouts.dynamics = dynamics_readout


def unregister() -> None:
    readouts.dynamics = readouts.no_dynamics
    _work.unregister()
