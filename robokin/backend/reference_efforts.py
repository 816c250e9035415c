"""Derivatives of inverse dynamics in NumPy. Twin of kernel/src/robot/effort_derivatives.c."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..arrays import Array
from ..spatial import se3


def derivatives(
    twists: Array, inertia: Array, node: Array, supports: Array, rates: Sequence[Array], gravity: Array
) -> Array:
    """(..., 6, m, m) what `Backend.effort_derivatives` says, of columns in place of coordinates.

    twists: (..., m, 6) of the columns, each of one node (m,).   inertia: (..., n, 6, 6) of the nodes.   supports: (n,
    m) which columns move them.   rates: v, a and z (..., m).   gravity: (6,)

    z . tau is the sum over the bodies of f . Z: f the wrench that moves one, Z the twist that z gives it. What the
    sum gains per unit of a body's twists is added up towards the root. A displacement turns all that is behind a
    joint, which is as if what comes from the node before it turned the other way: so along one coordinate all that is
    behind it sees the same change of its velocity, and of Z."""
    adds = (node == np.arange(len(supports))[:, None]).astype(float)  # (n, m)
    behind = (supports @ adds.T > 0.0).astype(float)  # (n, n)
    own_v, own_a, own_z = (adds @ (twists * rate[..., None]) for rate in rates)
    velocity, virtual = behind @ own_v, behind @ own_z
    own_a = own_a + apply(se3.bracket(velocity), own_v)
    acceleration = behind @ own_a - gravity
    momentum = apply(inertia, velocity)
    by_a = behind.T @ apply(inertia, virtual)
    by_z = behind.T @ (apply(inertia, acceleration) + pushed(velocity, momentum))
    pulls = pushed(virtual, momentum) + apply(inertia, apply(se3.bracket(velocity), virtual))
    by_v = behind.T @ (pushed(own_v, by_a) - pulls)
    before = velocity - own_v, acceleration - own_a, virtual - own_z
    moved = behind.T[node, :, None]  # (m, n, 1), the nodes behind each column, and those that carry it
    carrying = behind[node, :, None] - adds.T[:, :, None]
    S, inertia = twists[..., None, :], inertia[..., None, :, :, :]
    V, Z = velocity[..., None, :, :], virtual[..., None, :, :]

    def changes(dv: Array, da: Array, dz: Array, turns: bool) -> list[Array]:
        """(..., m, n, 6) twists that change along each column, so in all that is behind it: of the wrenches along v, a
        and z."""
        dv, dz = moved * dv, moved * dz
        da = moved * (da + _crossed(dv, V - before[0][..., node, None, :]))
        of_a, of_v = apply(inertia, dz), apply(inertia, dv)
        of_z = apply(inertia, da) + pushed(dv, momentum[..., None, :, :]) + pushed(V, of_v)
        pulls = apply(inertia, _crossed(dv, Z) + _crossed(V, dz)) + pushed(dz, momentum[..., None, :, :])
        of_v = -pulls - pushed(Z, of_v)
        turned = [turns * carrying * pushed(S, each[..., node, None, :]) for each in (by_v, by_a, by_z)]
        of_a = behind.T @ of_a + turned[1]
        of_v = of_v + pushed(own_v[..., None, :, :], of_a)
        if not turns:
            of_v = of_v + adds.T[:, :, None] * pushed(S, by_a[..., None, :, :])
        return [behind.T @ of_v + turned[0], of_a, behind.T @ of_z + turned[2]]

    def along(wrenches: Array) -> Array:
        """(..., m, m) what wrenches on the nodes do along their columns, by the columns that change."""
        found = (twists[..., None, :, :] * wrenches[..., node, :]).sum(axis=-1)
        return np.swapaxes(found, -1, -2)

    first = [-_crossed(S, each[..., node, None, :]) for each in before]
    turning = changes(first[0], first[1], first[2], True)
    faster = changes(S, _crossed(velocity[..., node, None, :], S), np.zeros_like(S), False)
    first[1] = first[1] + _crossed(first[0], before[0][..., None, :, :] - before[0][..., node, None, :])
    pairs = zip(before, first, (by_v, by_a, by_z), turning, strict=True)
    by_q = [moved * pushed(b, w[..., None, :, :]) + pushed(a[..., None, :, :], d) for a, b, w, d in pairs]
    rest = pushed(moved * first[0], by_a[..., None, :, :]), pushed(moved * S, by_a[..., None, :, :])
    of_v = [each[0] - own - pushed(V, each[1]) for each, own in zip((turning, faster), rest, strict=True)]
    found = turning[2], faster[2], -sum(by_q), of_v[0], turning[1], of_v[1]
    return np.stack([along(each) for each in found], axis=-3)


def _crossed(a: Array, b: Array) -> Array:
    """a x b of twists."""
    return apply(se3.bracket(a), b)


def pushed(twist: Array, wrench: Array) -> Array:
    """How a twist turns a wrench."""
    return -apply(np.swapaxes(se3.bracket(twist), -1, -2), wrench)


def apply(matrix: Array, vector: Array) -> Array:
    # Not by @, whose sums depend on how many matrices there are: a row of a batch has the bits of the row alone.
    return (matrix * vector[..., None, :]).sum(axis=-1)
