"""What a motion costs: efforts, power, energy, momentum and the load on the ground, over its samples."""

from __future__ import annotations

import re
from collections.abc import Collection, Generator, Sequence
from dataclasses import dataclass, fields

import numpy as np

from ...robokin.arrays import Array
from ...robokin.backend import STANDARD_GRAVITY, Reference, get_backend
from ...robokin.configuration import check_vector
from ...robokin.dynamics import Drives
from ...robokin.kinematics import require_mass
from ...robokin.model.joint_types import MotionPrimitive
from ...robokin.model.robot import RobotModel
from ...robokin.spatial import quaternion
from ...robokin.structure.tool_links import tool_links
from ...robokin.units import FORCES, freedom_units
from ..progress import at_once
from .link_motion import link_accelerations_steps, link_twists
from .motion import Motion, checked_motion, velocity_names

RANK = 1e-10  # relative: of mobilities that are none
COLUMNS = ("joints", "drives", "energy", "mass", "ground", "impulses", "links")  # groups of them
COLUMN = re.compile(  # a column's name with its unit, in a file
    r"(.+ (velocity|acceleration|jerk|effort|power)|(kinetic|potential) energy|(center of mass"
    r"|(linear|angular) momentum|base (force|moment)"
    r"|zero-moment point|.+ (impulse|velocity|acceleration)) [xyz]) \[[^\]]+\]"
)
KNOWN = 0.01  # share of a limit to which samples at the rate of a film show efforts and power, at least
LIFTED = 1e-9  # of the weight: with less on the ground there is no zero-moment point


@dataclass(frozen=True, eq=False)
class MotionDynamics:
    """Dynamics of F samples, with the velocities and accelerations of the motion; SI, vectors in the axes of the root
    frame.

    effort: (F, nv) [N m or N] of the drives: `drive_effort`.   effort_limit: (F, nv) [N m or N].
    power: (F, nv) [W] = effort v.
    kinetic_energy, potential_energy: (F,) [J]; rotors and springs count too; heights are from the root frame's origin.
    center_of_mass: (F, 3) [m].   momentum: (F, 6) linear [kg m/s], then angular about the centre of mass [kg m^2/s].
    base_wrench: (F, 6) force [N], and moment [N m] about the root frame's origin, by which the world carries the robot.
    zero_moment_point: (F, 3) [m] where in the plane through the origin, across gravity, that wrench has no moment but
    about gravity (Vukobratovic and Borovac 2004); NaN where nothing presses on the ground.
    impulse: (F, tools, 6) linear [N s], then angular about its origin [N m s]: what each of the links `tools` would
    have to be struck with, at rest and with its joints loose, to move as it does. These are the Lagrange multipliers of
    the least kinetic energy (Bruyninckx, "Blender for robotics and robotics for Blender", Eq. 10 to 13).
    """

    motion: Motion
    effort: Array
    effort_limit: Array
    power: Array
    kinetic_energy: Array
    potential_energy: Array
    center_of_mass: Array
    momentum: Array
    base_wrench: Array
    zero_moment_point: Array
    impulse: Array
    tools: tuple[str, ...]

    @classmethod
    def of(cls, motion: Motion, gravity: object = STANDARD_GRAVITY) -> MotionDynamics:
        """gravity: (3,) [m/s^2] in the root frame. Raises ConfigurationError for what is no motion or no such vector,
        ModelError when no link has a mass."""
        model, g = checked_motion(motion).model, check_vector(gravity, 3, "gravity")
        require_mass(model)
        backend, tree, q, v = get_backend(), model.tree, motion.q, motion.v
        effort = motion_efforts(motion, g)
        mass, com = model.total_mass, backend.center_of_mass(tree, q)
        moved = np.einsum("fij,fj->fi", backend.mass_matrix(tree, q), v) + Drives.of(model).rotor_inertia * v
        tools = tool_links(model)
        momentum, wrench = _of_root(model, motion, g, com)
        return cls(
            motion=motion,
            effort=effort,
            effort_limit=np.tile(model.effort, (len(motion), 1)),
            power=effort * v,
            kinetic_energy=0.5 * (moved * v).sum(axis=1),
            potential_energy=Drives.of(model).spring_energy(q) - mass * com @ g,
            center_of_mass=com,
            momentum=momentum,
            base_wrench=wrench,
            zero_moment_point=_zero_moment_point(wrench, g, mass),
            impulse=_impulses(motion, tools),
            tools=tools,
        )

    @classmethod
    def joined(cls, motion: Motion, parts: Sequence[MotionDynamics]) -> MotionDynamics:
        """The dynamics of a motion whose parts, one after another, are those of robots with other numbers."""
        arrays = [each.name for each in fields(cls) if each.name not in ("motion", "tools")]
        found = {name: np.concatenate([getattr(part, name) for part in parts]) for name in arrays}
        return cls(motion=motion, tools=parts[0].tools, **found)

    def columns_steps(
        self, groups: Collection[str] = COLUMNS, links: Sequence[str] | None = None
    ) -> Generator[float, None, dict[str, tuple[str, Array]]]:
        """Yield the share of the work done now and then; return name -> unit and values (F,) of the groups (`COLUMNS`)
        that are chosen: of each joint "NAME velocity", "NAME acceleration", "NAME jerk", "NAME effort", "NAME power",
        then those of the robot and of links, in the axes of the root frame. links: whose twists and accelerations are
        reported; the tools unless given. Raises UnknownNameError."""
        joints = self.motion.model.moving_joints
        names = [name for joint in joints for name in velocity_names(joint)]
        units = [unit for joint in joints for unit in freedom_units(joint)]
        found: dict[str, tuple[str, Array]] = {}
        if "joints" in groups:
            for kind, per, values in (("velocity", "s", self.motion.v), ("acceleration", "s\u00b2", self.motion.a)):
                found |= {f"{n} {kind}": (f"{u}/{per}", x) for n, u, x in zip(names, units, values.T, strict=True)}
            found |= {
                f"{n} jerk": (f"{u}/s\u00b3", x) for n, u, x in zip(names, units, self.motion.jerk.T, strict=True)
            }
        if "drives" in groups:
            found |= {f"{n} effort": (FORCES[u], x) for n, u, x in zip(names, units, self.effort.T, strict=True)}
            found |= {f"{n} power": ("W", x) for n, x in zip(names, self.power.T, strict=True)}
        if "energy" in groups:
            found |= {"kinetic energy": ("J", self.kinetic_energy), "potential energy": ("J", self.potential_energy)}
        vectors = yield from self._vectors(groups, self.tools if links is None else links)
        for name, (unit, values) in vectors.items():
            found |= {f"{name} {axis}": (unit, x) for axis, x in zip("xyz", values.T, strict=True)}
        return found

    columns = at_once(columns_steps, dict[str, tuple[str, Array]])

    def _vectors(
        self, groups: Collection[str], links: Sequence[str]
    ) -> Generator[float, None, dict[str, tuple[str, Array]]]:
        found: dict[str, tuple[str, Array]] = {}
        if "mass" in groups:
            found["center of mass"] = "m", self.center_of_mass
            found["linear momentum"] = "kg m/s", self.momentum[:, :3]
            found["angular momentum"] = "kg m\u00b2/s", self.momentum[:, 3:]
        if "ground" in groups:
            found["base force"] = "N", self.base_wrench[:, :3]
            found["base moment"] = "N m", self.base_wrench[:, 3:]
            found["zero-moment point"] = "m", self.zero_moment_point
        if "impulses" in groups:
            for i, link in enumerate(self.tools):
                found[f"{link} impulse"] = "N s", self.impulse[:, i, :3]
                found[f"{link} angular impulse"] = "N m s", self.impulse[:, i, 3:]
        if "links" in groups:
            twists, rates = link_twists(self.motion, links), (yield from link_accelerations_steps(self.motion, links))
            for i, link in enumerate(links):
                found[f"{link} velocity"] = "m/s", twists[:, i, :3]
                found[f"{link} angular velocity"] = "rad/s", twists[:, i, 3:]
                found[f"{link} acceleration"] = "m/s\u00b2", rates[:, i, :3]
                found[f"{link} angular acceleration"] = "rad/s\u00b2", rates[:, i, 3:]
        return found


def motion_efforts(motion: Motion, gravity: Array) -> Array:
    """(F, nv) [N m or N]: `drive_effort` of every sample."""
    links = get_backend().inverse_dynamics(motion.model.tree, motion.q, motion.v, motion.a, gravity)
    return links + Drives.of(motion.model).effort(motion.q, motion.v, motion.a)


def least_efforts(motion: Motion, gravity: Array) -> tuple[LeastReading, LeastReading]:
    """Efforts [N m or N] and powers [W] of every sample, each the less of two readings: with the velocity of the step
    to it, as `motion_efforts` has it, and at the sample before with the mean velocity of the steps beside it, which of
    a smooth motion is nearer, to second order in the step."""
    efforts = motion_efforts(motion, gravity)
    first, second = (efforts, efforts * motion.v), (efforts.copy(), efforts * motion.v)
    if len(motion) > 1:
        v = 0.5 * (motion.v[1:] + motion.v[:-1])
        before = Motion(motion.model, motion.times[:-1], motion.q[:-1], v, motion.a[1:])
        second[0][1:] = motion_efforts(before, gravity)
        second[1][1:] = second[0][1:] * v
    return LeastReading.of(first[0], second[0]), LeastReading.of(first[1], second[1])


@dataclass(frozen=True, eq=False)
class LeastReading:
    """value: (F, nv), the less of two readings.   apart: (F, nv) how far these are from each other."""

    value: Array
    apart: Array

    @classmethod
    def of(cls, one: Array, other: Array) -> LeastReading:
        return cls(np.where(abs(other) < abs(one), other, one), abs(other - one))

    def sampling_error(self, limit: Array) -> Array:
        """(F, nv) what samples do not show of efforts or powers under limits (nv,): nothing where the readings are
        always the same, as at rest."""
        widest = self.apart.copy()  # of the samples beside it too: readings that cross are as far from the truth
        widest[1:] = np.maximum(widest[1:], self.apart[:-1])
        widest[:-1] = np.maximum(widest[:-1], self.apart[1:])
        return np.minimum(KNOWN * limit, 2.0 * widest)


def effort_rounding(motion: Motion, v_slack: Array, a_slack: Array) -> Array:
    """(F, nv) what velocities and accelerations that are off by the slack (F, nv) can change in the efforts, to first
    order and without the forces of rotation, which are smaller."""
    drives = Drives.of(motion.model)
    M = abs(get_backend().mass_matrix(motion.model.tree, motion.q))
    return np.einsum("fij,fj->fi", M, a_slack) + drives.rotor_inertia * a_slack + drives.damping * v_slack


def _impulses(motion: Motion, tools: Sequence[str]) -> Array:
    """(F, tools, 6) (J M^-1 J')^-1 J v of each; the smallest ones where J has not full rank."""
    model, backend = motion.model, get_backend()
    M = backend.mass_matrix(model.tree, motion.q) + np.diag(Drives.of(model).rotor_inertia)
    inverse = np.linalg.pinv(M, hermitian=True)
    found = np.empty((len(motion), len(tools), 6))
    for i, link in enumerate(tools):
        frame = model.link_index(link)
        J = backend.frame_jacobian(model.tree, motion.q, frame, Reference.LOCAL_WORLD_ALIGNED)
        mobility = J @ inverse @ J.swapaxes(1, 2)
        twist = np.einsum("fij,fj->fi", J, motion.v)
        found[:, i] = np.einsum("fij,fj->fi", np.linalg.pinv(mobility, rcond=RANK, hermitian=True), twist)
    return found


def _of_root(model: RobotModel, motion: Motion, gravity: Array, com: Array) -> tuple[Array, Array]:
    """momentum, base_wrench: what a free root would have to be given for the same motion."""
    free, backend = model.with_root("floating"), get_backend()
    T = backend.frame_placements(model.tree, motion.q)[:, 0]
    own = slice(model.nq - (free.nq - 7), None), slice(model.nv - (free.nv - 6), None)
    q = np.hstack((T[:, :3, 3], quaternion.from_matrix(T[:, :3, :3]), motion.q[:, own[0]]))
    twist, rate = _root_twist(model, motion)
    v, a = np.hstack((twist, motion.v[:, own[1]])), np.hstack((rate, motion.a[:, own[1]]))
    force = backend.inverse_dynamics(free.tree, q, v, a, gravity)[:, :6]
    moved = np.einsum("fij,fj->fi", backend.mass_matrix(free.tree, q)[:, :6], v)
    origin = T[:, :3, 3]
    return _about(T, moved, origin - com), _about(T, force, origin)


def _about(T: Array, wrench: Array, arm: Array) -> Array:
    """(F, 6) in the axes of the root frame, from the axes and the origin of T, which is `arm` away from the new one."""
    linear, angular = (np.einsum("fij,fj->fi", T[:, :3, :3], part) for part in (wrench[:, :3], wrench[:, 3:]))
    return np.hstack((linear, angular + np.cross(arm, linear)))


def _root_twist(model: RobotModel, motion: Motion) -> tuple[Array, Array]:
    """(F, 6) twist of the root link in its own axes, and its rate."""
    J = get_backend().frame_jacobian(model.tree, motion.q, 0, Reference.LOCAL)
    twist, rate = (np.einsum("fij,fj->fi", J, x) for x in (motion.v, motion.a))
    if model.joints[0].kind.motions[:1] == (MotionPrimitive.TRANSLATION,):
        # Its lengths are along axes that stand, which turn in its own: a floating base counts them in its own.
        rate[:, :3] -= np.cross(twist[:, 3:], twist[:, :3])
    return twist, rate


def _zero_moment_point(wrench: Array, gravity: Array, mass: float) -> Array:
    size = float(np.linalg.norm(gravity))
    if size == 0.0:
        return np.full((len(wrench), 3), np.nan)
    up = -gravity / size
    force, moment = wrench[:, :3], wrench[:, 3:]
    pressed = force @ up
    pressed[pressed < LIFTED * mass * size] = np.nan
    return np.cross(up, moment) / pressed[:, None]
