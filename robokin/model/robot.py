"""The robot: links joined by joints into one immutable tree.

Words: the joint frame is fixed in the parent link (`Joint.placement` = T_parent_joint); the child link's frame
coincides with it at q = 0. The first joint of every model is the root joint: its parent is the root frame (the
Blender armature object, or the world), its child the root link; it is `fixed` unless the robot's base moves.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from ..arrays import MOST, Array, check_size, float_array, list_of, shown, text
from ..errors import ConfigurationError, ModelError, UnknownNameError
from .drive import Drive
from .far_limits import far_values
from .joint import SHORTEST, Joint, Mimic
from .link import Link
from .mimics import followed_joint, mimic_law
from .model_limits import JointSlot, collect_limits
from .rolling import RollingBase, rolling_base
from .topology import depth_first, free_name, root_link_name, unique
from .tree import Tree, compile_tree
from .wheels import find_drive, with_wheels

JointValue = float | list[float]

ROOT_JOINT = "root_joint"
ROOT_TYPES = ("fixed", "floating", "planar", "wheeled")
MAX_LINKS = 10_000  # seconds to read
MAX_FREEDOMS = 3_000  # a dense matrix of so many rows and columns takes 72 MB
MAX_SOLVED = 1_000  # degrees of freedom: a solve takes seconds, and grows with their cube


class RobotModel:
    """An immutable robot. `joints[i]` moves `links[i]`; parents come before children; `joints[0]` is the root joint.

    nq, nv: sizes of q and v.   lower, upper: (nq,) position bounds, including those that mimic joints impose
    on the joint they follow, without those that are so far away that they mean none (`far_limits.py`); `limits` holds
    them together with the cones of spherical joints.
    velocity, effort, acceleration: (nv,) bounds; infinite where absent.
    far_limits: names of the joints with such position limits.
    unheld_mimics: names of the mimic joints whose position limits cannot be kept anywhere in the range of the joint
    that they follow; that range stands, and they leave theirs (`robokin/limit_warnings.py` says so in words).
    rolling_bases: the wheeled joints with their wheels.
    locked: names of the joints that `locked_model` holds where they are.
    Raises ModelError for anything that is not one tree with unique names, of at most MAX_LINKS links and MAX_FREEDOMS
    degrees of freedom.
    """

    def __init__(
        self,
        name: str,
        links: Iterable[Link],
        joints: Iterable[Joint],
        root: str = "fixed",
        drive: Drive | None = None,
    ) -> None:
        """`joints`: those between links, in any order; the root joint of type `root` is added here.

        drive: the wheels of the root "wheeled"; when None they are looked for, and two are added where there are none
        (`wheels`).
        """
        self.locked: tuple[str, ...] = ()
        self.name = text(name, "the name of a robot")
        self.root = root
        _check_root(root)
        if drive is not None and root != "wheeled":
            raise ModelError(f"a {root} base has no drive")
        links = list_of(links, Link, "link", "links", ModelError)
        joints = list_of(joints, Joint, "joint", "joints", ModelError)
        check_count(len(links))
        if root == "wheeled" and drive is None:
            links, joints = with_wheels(links, joints)
        by_name = unique("link", links)
        declared = unique("joint", joints)
        root_link = root_link_name(by_name, declared.values())
        ordered = depth_first(root_link, by_name, declared.values())
        root_joint = Joint(free_name(ROOT_JOINT, declared), root, None, root_link, drive=drive)
        self.joints: tuple[Joint, ...] = tuple(
            replace(j, drive=find_drive(j, by_name, ordered)) if j.type == "wheeled" and j.drive is None else j
            for j in (root_joint, *ordered)
        )
        self.links: tuple[Link, ...] = tuple(by_name[j.child] for j in self.joints)
        self._joint_index = {j.name: i for i, j in enumerate(self.joints)}
        self._by_name = {j.name: j for j in self.joints}
        self._link_index = {link.name: i for i, link in enumerate(self.links)}
        self._assign_slots()
        laws = [self.mimic_map(joint.name) for joint in self.joints]
        limits = collect_limits(self.joints, self.slots, laws, self.nq, self.nv)
        self.lower, self.upper = limits.positions.lower, limits.positions.upper
        self.limits = limits.positions
        self.velocity, self.effort, self.acceleration = limits.velocity, limits.effort, limits.acceleration
        self.unheld_mimics, self._joint_limits = limits.unheld_mimics, limits.of_joints
        sides = zip(self.joints, limits.of_joints, strict=True)
        self.far_limits = tuple(joint.name for joint, near in sides if far_values(joint, near))
        slots = dict(zip(self._by_name, self.slots, strict=True))
        wheeled = [joint for joint in self.joints if joint.type == "wheeled"]
        self.rolling_bases: tuple[RollingBase, ...] = tuple(
            rolling_base(joint, self._by_name, slots) for joint in wheeled
        )

    # -- names ---------------------------------------------------------------------------------------------------

    def joint_index(self, name: str) -> int:
        """Index of a joint. Raises UnknownNameError."""
        return _index(self._joint_index, "joint", name)

    def link_index(self, name: str) -> int:
        """Index of a link, which is also its frame in the compiled tree. Raises UnknownNameError."""
        return _index(self._link_index, "link", name)

    def joint(self, name: str) -> Joint:
        return self.joints[self.joint_index(name)]

    def link(self, name: str) -> Link:
        return self.links[self.link_index(name)]

    @property
    def link_names(self) -> tuple[str, ...]:
        return tuple(self._link_index)

    @property
    def root_link(self) -> Link:
        return self.links[0]

    @property
    def drive(self) -> Drive | None:
        """The wheels of the base; None unless the root is "wheeled"."""
        return self.joints[0].drive

    @cached_property
    def moving_joints(self) -> tuple[Joint, ...]:
        """Joints with coordinates of their own, in the order of q."""
        return tuple(j for j in self.joints if j.nq and j.mimic is None)

    def slot(self, name: str) -> JointSlot:
        """Where the coordinates of a joint lie in q and v."""
        return self.slots[self.joint_index(name)]

    def joint_limits(self, name: str) -> tuple[Array, Array]:
        """(lower, upper), each (nv,), of a joint alone: its own numbers, infinite where they are so far away that they
        mean none."""
        return self._joint_limits[self.joint_index(name)]

    # -- quantities ----------------------------------------------------------------------------------------------

    @property
    def total_mass(self) -> float:
        """[kg], the root link included."""
        return float(sum(link.mass for link in self.links))

    @cached_property
    def tree(self) -> Tree:
        """The compiled tree of elementary motions: what the kernel and its NumPy twin work on."""
        return compile_tree(self.joints, self.links, self.slots, self.limits)

    @cached_property
    def is_length(self) -> Array:
        """(nv,) bool: the degrees of freedom that are lengths. What joints do that mimic one does not count."""
        return np.array([each for joint in self.moving_joints for each in joint.kind.lengths], bool)

    def with_root(self, root: str, drive: Drive | None = None) -> RobotModel:
        """This robot on another kind of base ("fixed", "floating", "planar", "wheeled"). drive: see `__init__`."""
        return RobotModel(self.name, self.links, self.joints[1:], root, drive)

    # -- configurations ------------------------------------------------------------------------------------------

    def neutral(self) -> Array:
        """(nq,) zero everywhere, identity quaternions. The pose in which Blender's bones rest."""
        return self.tree.neutral()

    def configuration(self, values: Mapping[str, float | Sequence[float]] | None = None) -> Array:
        """(nq,) configuration from joint values; joints not named are neutral.

        A value is a number, or a list for a joint with several coordinates. A mimic joint may be named: it sets the
        joint it follows, and must agree with it when both are given.
        Raises UnknownNameError, ConfigurationError.
        """
        try:
            values = dict({} if values is None else values)
        except (TypeError, ValueError):
            raise ConfigurationError(f"joint values must be a mapping by joint names, not {shown(values)}") from None
        for name in values:
            if name not in self._joint_index:
                raise UnknownNameError("joint", name, [joint.name for joint in self.joints if joint.nq])
        given = {name: self.joint(name).coordinates(value) for name, value in values.items()}
        q = self.neutral()
        for name, own in given.items():
            joint = self.joint(name)
            if joint.mimic is None:
                q[self.slot(name).q] = own
            elif self._followed(name).name not in given:
                q[self.slot(name).q] = self._followed_value(name, own)
        for name, own in given.items():
            if self.joint(name).mimic is not None:
                self._check_mimic(name, float(own[0]), q)
        return q

    def joint_values(self, q: Array) -> dict[str, JointValue]:
        """Joint values of a configuration, mimic joints included; inverse of `configuration`."""
        q = self.check_configuration(q)
        values: dict[str, JointValue] = {}
        for joint, slot in zip(self.joints, self.slots, strict=True):
            if not joint.nq:
                continue
            own = q[slot.q]
            if joint.mimic is not None:
                scale, offset = self.mimic_map(joint.name)
                own = scale * own + offset
            values[joint.name] = float(own[0]) if joint.nq == 1 else [float(x) for x in own]
        return values

    def mimic_map(self, name: str) -> tuple[float, float]:
        """(scale, offset) with q_joint = scale * q[slot] + offset, through chains of mimic joints; (1, 0) if none."""
        return mimic_law(self.joint(name), self._by_name)

    def check_configuration(self, q: object, name: str = "q") -> Array:
        """`q` as a float64 array (nq,) with unit quaternions; ConfigurationError, which calls it `name`, when it cannot
        be one."""
        try:
            array = float_array(q)
        except ValueError:
            raise ConfigurationError(f"{name} must be {self.nq} numbers, not {shown(q)}") from None
        if array.shape != (self.nq,):
            raise ConfigurationError(f"{name} of {self.name!r} must have shape ({self.nq},), not {array.shape}")
        is_small = np.vdot(array, array) <= MOST * MOST  # of quaternions only the direction counts
        if not is_small and not np.isfinite(array).all():
            raise ConfigurationError(f"{name} of {self.name!r} has entries that are not finite")
        for start in self.tree.quaternions:
            length = math.hypot(*array[start : start + 4])
            if not SHORTEST <= length < math.inf:
                raise ConfigurationError(
                    f"{name} of {self.name!r} has a quaternion of length {length:g} at entries {start}..{start + 3}"
                )
            array[start : start + 4] /= length
        if not is_small:
            check_size(array, f"{name} of {self.name!r}")
        return array

    # -- construction --------------------------------------------------------------------------------------------

    def _assign_slots(self) -> None:
        own: dict[str, JointSlot] = {}
        nq = nv = 0
        for joint in self.joints:
            if joint.mimic is None:
                own[joint.name] = JointSlot(slice(nq, nq + joint.nq), slice(nv, nv + joint.nv))
                nq, nv = nq + joint.nq, nv + joint.nv
        if nv > MAX_FREEDOMS:
            raise ModelError(f"the robot has {nv} degrees of freedom; at most {MAX_FREEDOMS} are possible")
        self.nq, self.nv = nq, nv
        self.slots = tuple(own[self._followed(j.name).name] for j in self.joints)

    def _followed(self, name: str) -> Joint:
        return followed_joint(self.joint(name), self._by_name)

    def _followed_value(self, name: str, own: Array) -> float:
        """Where the followed joint must be for the mimic joint to be at `own`; 0 when it has no part in that."""
        scale, offset = self.mimic_map(name)
        return (float(own[0]) - offset) / scale if scale != 0.0 else 0.0

    def _check_mimic(self, name: str, own: float, q: Array) -> None:
        scale, offset = self.mimic_map(name)
        implied = scale * float(q[self.slot(name).q][0]) + offset
        if not abs(implied - own) <= 1e-6 * max(1.0, abs(own)):
            followed = self._followed(name).name
            raise ConfigurationError(f"joint {name!r} mimics {followed!r} and must be {implied:g}, not {own:g}")

    def __repr__(self) -> str:
        return f"RobotModel({self.name!r}, {len(self.links)} links, nq={self.nq}, nv={self.nv}, root={self.root!r})"


def check_count(links: int) -> None:
    """Raises ModelError when there are more links than a robot may have."""
    if links > MAX_LINKS:
        raise ModelError(f"the robot has {links} links; at most {MAX_LINKS} are possible")


def checked_model(model: object) -> RobotModel:
    """Raises ModelError for what is not a robot, such as the path of its file."""
    if not isinstance(model, RobotModel):
        raise ModelError(f"a RobotModel is needed, as load_urdf and library_robot return it, not {shown(model)}")
    return model


def solvable_model(model: object) -> RobotModel:
    """A robot that solvers take. Raises ModelError as `checked_model`, and beyond MAX_SOLVED degrees of freedom."""
    found = checked_model(model)
    if found.nv > MAX_SOLVED:
        raise ModelError(f"{found.name!r} has {found.nv} degrees of freedom; solvers take at most {MAX_SOLVED}")
    return found


def _index(indices: Mapping[str, int], kind: str, name: object) -> int:
    if not isinstance(name, str) or name not in indices:
        raise UnknownNameError(kind, name, indices)
    return indices[name]


def _check_root(root: object) -> None:
    if not isinstance(root, str) or root not in ROOT_TYPES:
        raise UnknownNameError("root", root, ROOT_TYPES)


__all__ = [
    "ROOT_JOINT",
    "ROOT_TYPES",
    "Joint",
    "JointSlot",
    "Link",
    "Mimic",
    "RobotModel",
    "check_count",
    "checked_model",
    "solvable_model",
]
