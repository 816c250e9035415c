"""The NumPy backend: the readable specification of the C kernel. Vectorised over any leading batch axes.

Every degree of freedom of every node is one column of an expanded robot without mimic joints, with coordinates
x = G v; what is computed for the expanded robot comes back as J G, G' H G and G' tau. Twists are taken about one
point in the axes of the root frame, so that they add up along the tree without further transformations.
Source: Featherstone, "Rigid body dynamics algorithms", 2008, chapters 4 to 6.
"""

from __future__ import annotations

import weakref
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..arrays import Array
from ..model.joint_types import MotionPrimitive
from ..model.tree import ROOT, Tree
from ..spatial import quaternion, se3, so3
from . import STANDARD_GRAVITY, Reference
from .reference_efforts import apply, derivatives, pushed

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

name = "numpy"

_Z = np.array([0.0, 0.0, 1.0])


@dataclass(frozen=True, eq=False)
class _Expanded:
    """What does not depend on q. m columns; index ROOT (-1) of an axis of n + 1 nodes is the root frame.

    node: (m,) node of each column. subspace: (m, 6) its twist in the node's frame, where it is constant.
    G: (m, nv), x = G v. supports: (n + 1, m), 1 where the column moves the node.
    placement: (n, 4, 4). inertia: (n, 6, 6) in the node's frame.
    turns, slides: (n,) nodes whose one coordinate is an angle, a length; is_simple: either. others: the other nodes.
    """

    node: Array
    subspace: Array
    G: Array
    supports: Array
    placement: Array
    frame_placement: Array
    inertia: Array
    turns: Array
    slides: Array
    is_simple: Array
    others: list[int]


_known: weakref.WeakKeyDictionary[Tree, _Expanded] = weakref.WeakKeyDictionary()


def _expanded(tree: Tree) -> _Expanded:
    found = _known.get(tree)
    if found is None:
        found = _known[tree] = _expand(tree)
    return found


def _expand(tree: Tree) -> _Expanded:
    nodes, subspaces, moved, scales = [], [], [], []
    for i, motion in enumerate(map(MotionPrimitive, tree.motion)):
        for k, subspace in enumerate(_subspace(motion, tree.pitch[i])):
            nodes.append(i)
            subspaces.append(subspace)
            moved.append(tree.iv[i] + k)
            scales.append(tree.scale[i] if motion.has_axis else 1.0)
    m = len(nodes)
    node = np.array(nodes, int)
    supports = np.zeros((tree.n_nodes + 1, m))
    for i, parent in enumerate(tree.parent):
        supports[i] = supports[parent] + (node == i)
    G = np.zeros((m, tree.nv))
    G[np.arange(m), np.array(moved, int)] = scales
    is_simple = np.array([MotionPrimitive(motion).has_axis for motion in tree.motion], bool)
    return _Expanded(
        node=node,
        subspace=np.array(subspaces).reshape(m, 6),
        G=G,
        supports=supports,
        placement=se3.unpack(tree.placement),
        frame_placement=se3.unpack(tree.frame_placement),
        inertia=_inertia_matrices(tree.inertia),
        turns=(tree.motion == MotionPrimitive.ROTATION) | (tree.motion == MotionPrimitive.HELICAL),
        slides=tree.motion == MotionPrimitive.TRANSLATION,
        is_simple=is_simple,
        others=np.flatnonzero(~is_simple).tolist(),
    )


def _subspace(motion: MotionPrimitive, pitch: float) -> Array:
    """(nv, 6) twists of a motion in the frame it moves."""
    match motion:
        case MotionPrimitive.ROTATION:
            return np.array([[0, 0, 0, *_Z]])
        case MotionPrimitive.TRANSLATION:
            return np.array([[*_Z, 0, 0, 0]])
        case MotionPrimitive.HELICAL:
            return np.array([[*pitch * _Z, *_Z]])
        case MotionPrimitive.BALL:
            return np.eye(6)[3:]
        case MotionPrimitive.FREE:
            return np.eye(6)


def _inertia_matrices(packed: Array) -> Array:
    """(n, 6, 6) matrices, twist -> momentum, of (n, 10) packed inertias."""
    matrices = np.zeros((len(packed), 6, 6))
    matrices[:, :3, :3] = packed[:, :1, None] * np.eye(3)
    first_moment = so3.hat(packed[:, 1:4])
    matrices[:, :3, 3:], matrices[:, 3:, :3] = -first_moment, first_moment
    row, column = np.triu_indices(3)
    matrices[:, 3 + row, 3 + column] = matrices[:, 3 + column, 3 + row] = packed[:, 4:]
    return matrices


# -- kinematics ----------------------------------------------------------------------------------------------------


def _poses(tree: Tree, q: Array) -> Array:
    """(..., n + 1, 4, 4) T_root_node; the last one is the root frame itself."""
    x = _expanded(tree)
    steps = x.placement @ _motions(tree, q)
    poses = np.empty((*q.shape[:-1], tree.n_nodes + 1, 4, 4))
    poses[..., ROOT, :, :] = np.eye(4)
    for i, parent in enumerate(tree.parent):
        poses[..., i, :, :] = poses[..., parent, :, :] @ steps[..., i, :, :]
    return poses


def _motions(tree: Tree, q: Array) -> Array:
    """(..., n, 4, 4) what each node's coordinate does, in the node's frame."""
    x = _expanded(tree)
    coordinate = tree.scale * q[..., tree.iq] + tree.offset
    angle = np.where(x.turns, coordinate, 0.0)
    T = np.zeros((*coordinate.shape, 4, 4))
    T[..., 0, 0] = T[..., 1, 1] = np.cos(angle)
    T[..., 1, 0] = np.sin(angle)
    T[..., 0, 1] = -T[..., 1, 0]
    T[..., 2, 2] = T[..., 3, 3] = 1.0
    T[..., 2, 3] = np.where(x.slides, coordinate, tree.pitch * angle)
    for i in x.others:
        position, rotation = _free_coordinates(tree, i, q)
        T[..., i, :, :] = se3.placement(quaternion.to_matrix(rotation), position)
    return T


def _free_coordinates(tree: Tree, node: int, q: Array) -> tuple[Array, Array]:
    """Position (zero for a ball) and quaternion of a BALL or FREE node."""
    start = tree.iq[node]
    if tree.motion[node] == MotionPrimitive.BALL:
        return np.zeros((*q.shape[:-1], 3)), q[..., start : start + 4]
    return q[..., start : start + 3], q[..., start + 3 : start + 7]


def _twists(tree: Tree, poses: Array, about: Array) -> Array:
    """(..., m, 6) twist of each column about the point `about` (..., 3), in the axes of the root frame."""
    x = _expanded(tree)
    T = poses[..., x.node, :, :]
    angular = (T[..., :3, :3] @ x.subspace[:, 3:, None])[..., 0]
    linear = (T[..., :3, :3] @ x.subspace[:, :3, None])[..., 0]
    linear += so3.cross(T[..., :3, 3] - about[..., None, :], angular)
    return np.concatenate((linear, angular), axis=-1)


def node_placements(tree: Tree, q: Array) -> Array:
    return se3.pack(_poses(tree, q)[..., :-1, :, :])


def frame_placements(tree: Tree, q: Array) -> Array:
    return _poses(tree, q)[..., tree.frame_node, :, :] @ _expanded(tree).frame_placement


def frame_jacobian(tree: Tree, q: Array, frame: int, reference: int) -> Array:
    x = _expanded(tree)
    poses = _poses(tree, q)
    node = tree.frame_node[frame]
    T = poses[..., node, :, :] @ x.frame_placement[frame]
    about = np.zeros_like(T[..., :3, 3]) if reference == Reference.WORLD else T[..., :3, 3]
    J = np.swapaxes(_twists(tree, poses, about), -1, -2) @ (x.supports[node][:, None] * x.G)
    if reference == Reference.LOCAL:
        R_inverse = np.swapaxes(T[..., :3, :3], -1, -2)
        J = np.concatenate((R_inverse @ J[..., :3, :], R_inverse @ J[..., 3:, :]), axis=-2)
    return J


# -- mass ----------------------------------------------------------------------------------------------------------


def _about_heaviest(tree: Tree, poses: Array) -> Array:
    """(..., 3) the origin of the heaviest node: twists about it keep their digits wherever the robot stands."""
    return poses[..., int(tree.inertia[:, 0].argmax()) if tree.n_nodes else ROOT, :3, 3]


def _first_moments(tree: Tree, poses: Array, about: Array) -> Array:
    """(..., n, 3) mass times position of each node's body, seen from `about`."""
    position = poses[..., :-1, :3, 3] - about[..., None, :]
    turned = (poses[..., :-1, :3, :3] @ tree.inertia[:, 1:4, None])[..., 0]
    return turned + tree.inertia[:, :1] * position


def _mass(tree: Tree) -> float:
    return tree.inertia[:, 0].sum() + tree.root_inertia[0]


def center_of_mass(tree: Tree, q: Array) -> Array:
    poses = _poses(tree, q)
    moments = _first_moments(tree, poses, np.zeros((*q.shape[:-1], 3)))
    return (moments.sum(axis=-2) + tree.root_inertia[1:4]) / _mass(tree)


def center_of_mass_jacobian(tree: Tree, q: Array) -> Array:
    x = _expanded(tree)
    poses = _poses(tree, q)
    about = _about_heaviest(tree, poses)
    twists = _twists(tree, poses, about)
    moved = x.supports[:-1].T
    momentum = (moved @ tree.inertia[:, 0])[:, None] * twists[..., :3]
    momentum = momentum + so3.cross(twists[..., 3:], moved @ _first_moments(tree, poses, about))
    return np.swapaxes(momentum, -1, -2) @ x.G / _mass(tree)


# -- dynamics ------------------------------------------------------------------------------------------------------


def _inertias(tree: Tree, poses: Array, about: Array) -> Array:
    """(..., n, 6, 6) inertia of each node's body about `about`, in the axes of the root frame."""
    T = poses[..., :-1, :, :].copy()
    T[..., :3, 3] -= about[..., None, :]
    to_node = se3.adjoint(se3.inverse(T))
    return np.swapaxes(to_node, -1, -2) @ _expanded(tree).inertia @ to_node


def mass_matrix(tree: Tree, q: Array) -> Array:
    """Composite rigid bodies: H_kl = S_k . I_l S_l, I_l being all that column l moves and k a column that moves l."""
    x = _expanded(tree)
    poses = _poses(tree, q)
    about = _about_heaviest(tree, poses)
    composite = _inertias(tree, poses, about)
    for i in reversed(range(tree.n_nodes)):
        if tree.parent[i] != ROOT:
            composite[..., tree.parent[i], :, :] += composite[..., i, :, :]
    twists = _twists(tree, poses, about)
    momenta = (composite[..., x.node, :, :] @ twists[..., None])[..., 0]
    H = twists @ np.swapaxes(momenta, -1, -2)
    above = x.supports[x.node].T
    H = above * H
    same_node = above * above.T
    H = H + np.swapaxes((1.0 - same_node) * H, -1, -2)
    return x.G.T @ H @ x.G


def inverse_dynamics(tree: Tree, q: Array, v: Array, a: Array, gravity: ArrayLike = STANDARD_GRAVITY) -> Array:
    """Newton-Euler, the sums along the tree written as products with the matrix `supports`."""
    x = _expanded(tree)
    poses = _poses(tree, q)
    about = _about_heaviest(tree, poses)
    twists = _twists(tree, poses, about)
    supports = x.supports[:-1]
    own_velocity = twists * (v @ x.G.T)[..., None]
    velocity = supports @ own_velocity
    acceleration = twists * (a @ x.G.T)[..., None] + apply(se3.bracket(velocity[..., x.node, :]), own_velocity)
    # Standing still under gravity feels like being accelerated upwards.
    body_acceleration = supports @ acceleration - np.concatenate((np.asarray(gravity, float), np.zeros(3)))
    inertia = _inertias(tree, poses, about)
    momentum = apply(inertia, velocity)
    wrench = apply(inertia, body_acceleration)
    wrench += pushed(velocity, momentum)
    return (twists * (supports.T @ wrench)).sum(axis=-1) @ x.G


def effort_derivatives(tree: Tree, q: Array, v: Array, a: Array, z: Array, gravity: ArrayLike) -> Array:
    x = _expanded(tree)
    poses = _poses(tree, q)
    about = _about_heaviest(tree, poses)
    rates = [rate @ x.G.T for rate in (v, a, z)]
    down = np.concatenate((np.asarray(gravity, float), np.zeros(3)))
    found = derivatives(
        _twists(tree, poses, about), _inertias(tree, poses, about), x.node, x.supports[:-1], rates, down
    )
    return x.G.T @ found @ x.G


# -- configurations ------------------------------------------------------------------------------------------------


def integrate(tree: Tree, q: Array, v: Array) -> Array:
    x = _expanded(tree)
    result = np.array(np.broadcast_to(q, (*np.broadcast_shapes(q.shape[:-1], v.shape[:-1]), tree.nq)))
    result[..., tree.iq[x.is_simple]] = q[..., tree.iq[x.is_simple]] + v[..., tree.iv[x.is_simple]]
    for i in x.others:
        iq, iv = tree.iq[i], tree.iv[i]
        position, rotation = _free_coordinates(tree, i, q)
        if tree.motion[i] == MotionPrimitive.FREE:
            w = v[..., iv + 3 : iv + 6]
            step = apply(so3.left_jacobian(w), v[..., iv : iv + 3])
            result[..., iq : iq + 3] = position + apply(quaternion.to_matrix(rotation), step)
            iq = iq + 3
        else:
            w = v[..., iv : iv + 3]
        result[..., iq : iq + 4] = quaternion.turned(rotation, w)
    return result


def difference(tree: Tree, q0: Array, q1: Array) -> Array:
    x = _expanded(tree)
    v = np.zeros((*np.broadcast_shapes(q0.shape[:-1], q1.shape[:-1]), tree.nv))
    v[..., tree.iv[x.is_simple]] = q1[..., tree.iq[x.is_simple]] - q0[..., tree.iq[x.is_simple]]
    for i in x.others:
        iv = tree.iv[i]
        position0, rotation0 = _free_coordinates(tree, i, q0)
        position1, rotation1 = _free_coordinates(tree, i, q1)
        w = quaternion.log(quaternion.multiply(quaternion.conjugate(rotation0), rotation1))
        if tree.motion[i] == MotionPrimitive.FREE:
            step = apply(np.swapaxes(quaternion.to_matrix(rotation0), -1, -2), position1 - position0)
            v[..., iv : iv + 3] = apply(so3.left_jacobian_inverse(w), step)
            iv = iv + 3
        v[..., iv : iv + 3] = w
    return v
