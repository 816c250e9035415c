"""Which singularity of a family's arm is near: wrist, elbow or shoulder.

The determinant of the Jacobian of such an arm is a product: each factor is 0 where axes lie as they should not (Pieper
1968; of three parallel axes, their motion in the plane is divided out). The factors, made sines of angles or shares of
the arm's size, show which it is. Axes do not care from which end an arm is counted.
"""

from __future__ import annotations

import numpy as np

from ...robokin.arrays import Array
from ..families.chain import placed
from ..families.family import Arm, Family, FamilyKind

TINY = 1e-12


def factors(family: Family, x: Array) -> dict[str, float]:
    """Name -> how far from it, 0 where it is singular; at joint values x (n,) in the order of the chain. Empty of what
    has no names, as sliding joints."""
    chain = family.chain
    axis, point, tip = placed(chain, x)
    if family.reversed:
        axis, point = axis[::-1], point[::-1]
    match family.kind:
        case FamilyKind.SPHERICAL_WRIST:
            return _spherical_wrist(family, axis, point)
        case FamilyKind.THREE_PARALLEL:
            return _three_parallel(family, axis, point)
        case FamilyKind.SPHERICAL_BOTH:
            return _spherical_both(axis, point, chain.size)
        case FamilyKind.PLANAR if not chain.slides.any():
            points = [*point, tip][:3]
            return {"elbow": _bend(points[1] - points[0], points[2] - points[1], axis[0])}
        case FamilyKind.GANTRY if (~chain.slides).sum() == 3:
            return {"wrist": _turns(*axis[~family.slides]), "slides": abs(float(np.linalg.det(axis[family.slides])))}
    return {}


def _spherical_wrist(family: Family, axis: Array, point: Array) -> dict[str, float]:
    centre = _centre(axis[3:], point[3:])
    wrist = "shoulder" if family.reversed else "wrist"
    found = {wrist: _turns(*axis[3:])}
    order = [2, 1, 0] if family.mirrored else [0, 1, 2]
    (a, b, c), (o, p, r) = axis[order], point[order]
    shoulder = "forearm" if family.mirrored else "wrist" if family.reversed else "shoulder"
    if family.arm is Arm.PARALLEL:  # b and c are, and bend the arm
        outer = r if not family.mirrored else p
        inner = p if not family.mirrored else r
        found["elbow"] = _bend(outer - inner, centre - outer, b)
        found[shoulder] = abs(float(b @ np.cross(a, centre - o))) / family.chain.size
    elif family.arm is Arm.INTERSECTING:  # a and b do
        meet = _centre(np.array([a, b]), np.array([o, p]))
        away = centre - meet
        found[shoulder] = _share(away, np.cross(a, b), family.chain.size)
        found["elbow"] = _share(away, np.cross(c, centre - r), family.chain.size)
    else:
        moves = [np.cross(axis[i], centre - point[i]) for i in range(3)]
        found["arm"] = abs(float(np.linalg.det(moves))) / max(float(np.prod(np.linalg.norm(moves, axis=1))), TINY)
    return found


def _three_parallel(family: Family, axis: Array, point: Array) -> dict[str, float]:
    first = 0 if family.outer_last else 1
    outer = 5 if family.outer_last else 0
    plane, a, b = axis[first], first + 3, first + 4
    found = {"elbow": _bend(point[first + 1] - point[first], point[first + 2] - point[first + 1], plane)}
    is_last = family.outer_last != family.reversed
    if family.meets:
        centre = _centre(axis[a : b + 1], point[a : b + 1])
        size = abs(float(plane @ np.cross(axis[outer], centre - point[outer]))) / family.chain.size
        turned = "forearm" if family.outer_last else "shoulder" if family.reversed else "wrist"
        return found | {"wrist" if is_last else "shoulder": size, turned: _turns(plane, axis[a], axis[b])}
    across = np.linalg.svd(plane[None])[2][1:]  # what the parallel axes do not turn about
    others = [outer, a, b]
    rows = [[*(across @ axis[i]), plane @ np.cross(point[i], axis[i]) / family.chain.size] for i in others]
    return found | {"wrist" if is_last else "shoulder": abs(float(np.linalg.det(rows)))}


def _spherical_both(axis: Array, point: Array, size: float) -> dict[str, float]:
    """Factors of arms with seven joints. Each is two conditions that hold at once (Kreutz-Delgado, Long and Seraji,
    IJRR 11, 1992)."""
    shoulder, wrist = _centre(axis[:3], point[:3]), _centre(axis[4:], point[4:])
    root, hand = _turns(*axis[:3]), _turns(*axis[4:])
    return {
        "elbow": _share(wrist - shoulder, np.cross(axis[3], wrist - point[3]), size),
        "shoulder": float(np.hypot(root, axis[1] @ axis[3])),
        "wrist": float(np.hypot(hand, axis[5] @ axis[3])),
        "shoulder and wrist": float(np.hypot(root, hand)),
    }


def _turns(a: Array, b: Array, c: Array) -> float:
    """0 when three axes lie in a plane; of right angles between neighbours the sine of the middle turn."""
    return abs(float(a @ np.cross(b, c))) / max(_size(np.cross(a, b), np.cross(b, c)), TINY)


def _bend(inner: Array, outer: Array, axis: Array) -> float:
    """The sine between two parts of an arm, across its parallel axes."""
    inner, outer = (each - (each @ axis) * axis for each in (inner, outer))
    return abs(float(axis @ np.cross(inner, outer))) / _size(inner, outer)


def _share(away: Array, direction: Array, size: float) -> float:
    """How far away something is along a direction, in sizes of the arm."""
    return abs(float(away @ direction)) / max(float(np.linalg.norm(direction)) * size, TINY)


def _size(a: Array, b: Array) -> float:
    return max(float(np.linalg.norm(a) * np.linalg.norm(b)), TINY)


def _centre(axis: Array, point: Array) -> Array:
    """(3,) the point that is nearest to all axes."""
    across = np.eye(3) - axis[:, :, None] * axis[:, None, :]
    total = across.sum(axis=0)
    return np.linalg.lstsq(total, (across @ point[:, :, None]).sum(axis=0)[:, 0], rcond=None)[0]
