"""The compiled form of a robot: elementary motions in arrays, as the kernel and its NumPy twin read them.

A node is one elementary motion with the rigid body that follows it (massless inside a joint of several motions).
Links held by fixed joints are merged into the node that carries them; every link stays a frame on its node.
Node frames are chosen so that the motion's axis is z: a node's transform is then placement * Rz(angle) or
placement * Tz(length), which costs the kernel a third of the multiplications of a general axis.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ..arrays import Array, frozen_array
from ..spatial.se3 import pack
from .joint import Joint
from .joint_types import Elementary, MotionPrimitive
from .limits import PositionLimits
from .link import Link
from .mimics import mimic_law
from .model_limits import JointSlot

ROOT = -1  # parent or node index of what is fixed to the root frame


@dataclass(frozen=True, eq=False)
class Tree:
    """Arrays of n nodes and f frames (frame i is link i of the model), C-contiguous; those of a model are read-only.

    parent, motion, iq, iv: (n,) int32; iq, iv point at the node's first entry of q and v. Mimic nodes share them.
    placement: (n, 12), T_parentnode_node at zero coordinate: rotation row-major (9), then translation (3).
    pitch, scale, offset: (n,); the node's coordinate is scale * q[iq] + offset (1-dof motions; mimic joints).
    inertia: (n, 10) in the node frame, about its origin: m, m*c (3), Ixx, Ixy, Ixz, Iyy, Iyz, Izz.
    frame_node: (f,) int32; frame_placement: (f, 12) T_node_frame.
    root_inertia: (10,) of what is fixed to the root frame.   lower, upper: (nq,).
    quaternions: start of each quaternion in q.   node_joint: (n,) index of the joint of the model.
    """

    nq: int
    nv: int
    parent: Array
    motion: Array
    iq: Array
    iv: Array
    placement: Array
    pitch: Array
    scale: Array
    offset: Array
    inertia: Array
    frame_node: Array
    frame_placement: Array
    root_inertia: Array
    lower: Array
    upper: Array
    quaternions: tuple[int, ...]
    node_joint: Array

    @property
    def n_nodes(self) -> int:
        return len(self.parent)

    @property
    def n_frames(self) -> int:
        return len(self.frame_node)

    @property
    def turning(self) -> Array:
        """(nq,) bool, angles of which whole turns do not matter to the links."""
        found = np.ones(self.nq, bool)
        for motion, iq, scale in zip(map(MotionPrimitive, self.motion), self.iq, self.scale, strict=True):
            if motion is not MotionPrimitive.ROTATION or not float(scale).is_integer():
                found[iq : iq + motion.nq] = False
        return found

    def neutral(self) -> Array:
        q = np.zeros(self.nq)
        for start in self.quaternions:
            q[start] = 1.0
        return q


def axis_to_z(axis: Array) -> Array:
    """(3, 3) rotation R with R @ (0, 0, 1) = axis; identity for z, so that usual robots keep their own frames.
    Read-only: one array for all axes alike to the last bit, as the same few are asked for again and again."""
    return _axis_to_z(np.asarray(axis, float).tobytes())


@lru_cache(maxsize=512)
def _axis_to_z(axis: bytes) -> Array:
    z = a, b, c = np.frombuffer(axis).tolist()
    if c > 0.0 and max(abs(a), abs(b)) < 1e-15:  # not by c: its last digit is an angle of 2e-8
        return frozen_array(np.eye(3), (3, 3), "axis")
    sizes = [abs(a), abs(b), abs(c)]
    least = sizes.index(min(sizes))
    x = [-each * z[least] for each in z]
    x[least] += 1.0
    length = math.hypot(*x)
    d, e, f = [each / length for each in x]
    columns = ((d, b * f - c * e, a), (e, c * d - a * f, b), (f, a * e - b * d, c))  # x, z x x, z
    return frozen_array(columns, (3, 3), "axis")


_UPPER_TRIANGLE = np.triu_indices(3)


def spatial_inertia(mass: float, com: Array, inertia: Array, placement: Array) -> Array:
    """(10,) packed inertia about the origin of frame A of a body given in frame B, with placement = T_A_B."""
    rotation = placement[:3, :3]
    c = rotation @ com + placement[:3, 3]
    about_origin = rotation @ inertia @ rotation.T + mass * ((c @ c) * np.eye(3) - c[:, None] * c)
    return np.concatenate(([mass], mass * c, about_origin[_UPPER_TRIANGLE]))


def compile_tree(
    joints: Sequence[Joint], links: Sequence[Link], slots: Sequence[JointSlot], limits: PositionLimits
) -> Tree:
    """Expand every joint into its elementary motions and merge what is fixed. Cost: linear in the joints.

    joints: parents first, joint i moves link i.   slots: of each joint.   limits: of q.
    """
    by_name = {joint.name: joint for joint in joints}
    link_index = {link.name: index for index, link in enumerate(links)}
    rows: list[tuple] = []
    placements: list[Array] = []
    inertias: list[Array] = []
    quaternions: list[int] = []
    root_inertia = np.zeros(10)
    link_node = np.full(len(links), ROOT, np.int32)
    link_placement = np.tile(np.eye(4), (len(links), 1, 1))

    for index, (joint, link) in enumerate(zip(joints, links, strict=True)):
        node, T_node_frame = ROOT, np.eye(4)
        if joint.parent is not None:
            parent = link_index[joint.parent]
            node, T_node_frame = int(link_node[parent]), link_placement[parent]
        T_node_frame = T_node_frame @ joint.placement
        iq, iv = slots[index].q.start, slots[index].v.start
        scale, offset = mimic_law(joint, by_name)
        for step in joint.kind.decompose(joint):
            R_z = _z_frame(step)
            rows.append((node, int(step.motion), iq, iv, step.pitch, scale, offset, index))
            placements.append(pack(T_node_frame @ R_z))
            inertias.append(np.zeros(10))
            if step.motion in (MotionPrimitive.BALL, MotionPrimitive.FREE):
                quaternions.append(iq + step.motion.nq - 4)
            node, T_node_frame = len(rows) - 1, R_z.T
            iq, iv = iq + step.motion.nq, iv + step.motion.nv
        link_node[index], link_placement[index] = node, T_node_frame
        packed = spatial_inertia(link.mass, link.com, link.inertia, T_node_frame)
        if node == ROOT:
            root_inertia += packed
        else:
            inertias[node] += packed

    columns = list(zip(*rows, strict=True)) or [()] * 8
    frame_placement = pack(np.array(link_placement))
    arrays = {
        "parent": np.array(columns[0], np.int32),
        "motion": np.array(columns[1], np.int32),
        "iq": np.array(columns[2], np.int32),
        "iv": np.array(columns[3], np.int32),
        "placement": np.array(placements, float).reshape(-1, 12),
        "pitch": np.array(columns[4], float),
        "scale": np.array(columns[5], float),
        "offset": np.array(columns[6], float),
        "inertia": np.array(inertias, float).reshape(-1, 10),
        "frame_node": link_node,
        "frame_placement": frame_placement,
        "root_inertia": root_inertia,
        "lower": np.array(limits.lower),
        "upper": np.array(limits.upper),
        "node_joint": np.array(columns[7], np.int32),
    }
    for array in arrays.values():
        array.flags.writeable = False
    nv = max(slot.v.stop for slot in slots)
    return Tree(nq=len(limits.lower), nv=nv, quaternions=tuple(quaternions), **arrays)


def _z_frame(step: Elementary) -> Array:
    """(4, 4) rotation into the frame whose z is the motion's axis."""
    R = np.eye(4)
    if step.motion.has_axis:
        R[:3, :3] = axis_to_z(step.axis)
    return R
