"""Which family a chain belongs to, by its axes alone: no names, no frames, no signs of axes count."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np

from ...robokin.arrays import Array
from .chain import Chain, jacobian
from .family import Arm, Family, FamilyKind

NEAR = 5e-5  # [rad], [sizes of the chain] so nearly parallel axes are parallel, so near ones meet: rounded as 1.5708
ROUNDED = 1e-11  # the same, of a geometry that is the ideal one up to rounding
REGULAR = 1e-5  # a smaller singular value everywhere: joints that do not serve the task
LOOKS = 8  # random poses in which that is looked at


def recognise(chain: Chain, oriented: bool) -> Family | None:
    """The family of a chain for a task on the pose (`oriented`) or the position of its tip; None when it has none."""
    for family in _families(chain, oriented):
        if _is_regular(family, oriented):
            return family
    return None


def _families(chain: Chain, oriented: bool) -> Iterator[Family]:
    turns, slides = int((~chain.slides).sum()), int(chain.slides.sum())
    if slides == 3 and turns <= (3 if oriented else 0):
        yield from _gantries(chain)
    if slides <= 1 and (turns == 2 or (turns == 3 and oriented)):
        yield from _planar(chain)
    if oriented and not slides:
        if turns == 7:
            yield from _spherical_both(chain)
        if turns == 6:
            for is_reversed in (False, True):
                yield from _spherical_wrists(chain, is_reversed)
            for is_reversed in (False, True):
                yield from _three_parallel(chain, is_reversed)


def _is_regular(family: Family, oriented: bool) -> bool:
    """Whether the Jacobian has full rank somewhere: no joint, or with seven joints no direction, is redundant
    everywhere."""
    chain = family.chain
    rng = np.random.default_rng(0)
    is_by_position = not oriented or (family.kind is FamilyKind.PLANAR and (~chain.slides).sum() == 2)
    rows = slice(0, 3) if is_by_position else slice(0, 6)
    largest = 0.0
    for _ in range(LOOKS):
        J = jacobian(chain, rng.uniform(-np.pi, np.pi, chain.joints))[rows]
        J = J * np.where(chain.slides, chain.size, 1.0)
        if chain.joints > len(J) and family.kind is not FamilyKind.SPHERICAL_BOTH:
            return False
        largest = max(largest, float(np.linalg.svd(J, compute_uv=False)[-1]))
    return largest > REGULAR


# -- families --------------------------------------------------------------------------------------------------------


def _spherical_wrists(chain: Chain, is_reversed: bool) -> Iterator[Family]:
    h, o = _solving_order(chain, is_reversed)
    if not _meet_in_order(h, o, (3, 4, 5), chain.size):
        return
    wrist = _centre(h[3:], o[3:])
    offs = [_off(h[3:], o[3:], wrist) / chain.size]
    h, o = h.copy(), o.copy()
    o[3:] = wrist
    first, second = _parallel(h[0], h[1]), _parallel(h[1], h[2])
    arm, mirrored = Arm.GENERAL, False
    if second and not first:
        arm = Arm.PARALLEL
    elif first and not second:
        arm, mirrored = Arm.PARALLEL, True
    elif first and second:
        return
    elif _distance(h[0], o[0], h[1], o[1]) < NEAR * chain.size:
        arm = Arm.INTERSECTING
    elif _distance(h[1], o[1], h[2], o[2]) < NEAR * chain.size:
        arm, mirrored = Arm.INTERSECTING, True
    pair = [0, 1] if mirrored else [1, 2]
    if arm is Arm.PARALLEL:
        offs.append(_make_parallel(h, pair))
    elif arm is Arm.INTERSECTING:
        pair = [1, 2] if mirrored else [0, 1]
        feet = _feet(h[pair[0]], o[pair[0]], h[pair[1]], o[pair[1]])
        offs.append(float(np.linalg.norm(feet[0] - feet[1])) / chain.size)
        o[pair] = 0.5 * (feet[0] + feet[1])
    else:
        o[0], o[1] = _feet(h[0], o[0], h[1], o[1])
    yield Family(FamilyKind.SPHERICAL_WRIST, chain, h, o, arm, is_reversed, mirrored=mirrored, off=_worst(offs))


def _three_parallel(chain: Chain, is_reversed: bool) -> Iterator[Family]:
    for outer_last in (False, True):
        h, o = (each.copy() for each in _solving_order(chain, is_reversed))
        first = 0 if outer_last else 1
        same, (a, b), outer = [first, first + 1, first + 2], (first + 3, first + 4), 5 if outer_last else 0
        if not all(_parallel(h[first], h[i]) for i in same[1:]) or _parallel(h[first], h[a]):
            continue
        offs, meets = [_make_parallel(h, same)], False
        if _parallel(h[a], h[b]):
            if _parallel(h[b], h[outer]):
                continue
            offs.append(_make_parallel(h, [a, b]))
        else:
            feet = _feet(h[a], o[a], h[b], o[b])
            gap = float(np.linalg.norm(feet[0] - feet[1])) / chain.size
            meets = gap < NEAR
        if meets:
            offs.append(gap)
            o[a] = o[b] = 0.5 * (feet[0] + feet[1])
        yield Family(
            FamilyKind.THREE_PARALLEL,
            chain,
            h,
            o,
            reversed=is_reversed,
            outer_last=outer_last,
            meets=meets,
            off=_worst(offs),
        )


def _spherical_both(chain: Chain) -> Iterator[Family]:
    h, o = (each.copy() for each in _solving_order(chain, False))
    offs = []
    for where in ((0, 1, 2), (4, 5, 6)):
        if not _meet_in_order(h, o, where, chain.size):
            return
        own = list(where)
        centre = _centre(h[own], o[own])
        offs.append(_off(h[own], o[own], centre) / chain.size)
        o[own] = centre
    yield Family(FamilyKind.SPHERICAL_BOTH, chain, h, o, off=_worst(offs))


def _planar(chain: Chain) -> Iterator[Family]:
    h, o = (each.copy() for each in _solving_order(chain, False))
    if all(_parallel(h[0], each) for each in h):
        off = _make_parallel(h, list(range(len(h))))
        yield Family(FamilyKind.PLANAR, chain, h, o, off=_worst([off]))


def _gantries(chain: Chain) -> Iterator[Family]:
    h, o = _solving_order(chain, False)
    turns = np.flatnonzero(~chain.slides)
    if not any(_parallel(h[i], h[j]) for i, j in pairwise(turns)):
        yield Family(FamilyKind.GANTRY, chain, h, o)


def _worst(offs: Sequence[float]) -> float:
    worst = max(offs)
    return worst if worst > ROUNDED else 0.0


# -- geometry --------------------------------------------------------------------------------------------------------


def _solving_order(chain: Chain, is_reversed: bool) -> tuple[Array, Array]:
    return (-chain.axis[::-1], chain.point[::-1]) if is_reversed else (chain.axis, chain.point)


def _parallel(a: Array, b: Array) -> bool:
    return float(np.linalg.norm(np.cross(a, b))) < NEAR


def _make_parallel(h: Array, where: Sequence[int]) -> float:
    """Gives these axes one direction, up to signs; by how much the farthest of them turns [rad]."""
    own = list(where)
    signs = np.sign(h[own] @ h[own[0]])
    mean = (signs[:, None] * h[own]).sum(axis=0)
    mean /= np.linalg.norm(mean)
    off = float(np.linalg.norm(np.cross(h[own], mean), axis=1).max())
    h[own] = signs[:, None] * mean
    return off


def _feet(h0: Array, o0: Array, h1: Array, o1: Array) -> tuple[Array, Array]:
    """The points of two axes, not parallel, that are nearest to each other."""
    cosine, between = h0 @ h1, o1 - o0
    s, t = np.linalg.solve([[1.0, -cosine], [cosine, -1.0]], [between @ h0, between @ h1])
    return o0 + s * h0, o1 + t * h1


def _distance(h0: Array, o0: Array, h1: Array, o1: Array) -> float:
    one, other = _feet(h0, o0, h1, o1)
    return float(np.linalg.norm(one - other))


def _centre(h: Array, o: Array) -> Array:
    """(3,) the point that is nearest to all axes."""
    across = np.eye(3) - h[:, :, None] * h[:, None, :]
    return np.linalg.solve(across.sum(axis=0), (across @ o[:, :, None]).sum(axis=0)[:, 0])


def _off(h: Array, o: Array, point: Array) -> float:
    """[m] of the axis that is farthest from a point."""
    return float(np.linalg.norm(np.cross(h, o - point), axis=1).max())


def _meet_in_order(h: Array, o: Array, where: Sequence[int], size: float) -> bool:
    """Whether three axes meet in a point, neighbours being not parallel."""
    a, b, c = where
    own = list(where)
    if _parallel(h[a], h[b]) or _parallel(h[b], h[c]):
        return False
    return _off(h[own], o[own], _centre(h[own], o[own])) < NEAR * size
