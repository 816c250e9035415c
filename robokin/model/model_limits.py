"""Limits of the joints as arrays over q and v, narrowed by what mimic joints ask of those that they follow."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..arrays import Array
from ..errors import ModelError
from ..spatial.swing_twist import Cone
from .far_limits import links_length, near_limits
from .joint import Joint
from .joint_types import plane_basis
from .limits import PositionLimits


@dataclass(frozen=True)
class JointSlot:
    """Where a joint's coordinates lie: q[q] and v[v]. For a mimic joint these are the followed joint's."""

    q: slice
    v: slice


@dataclass(frozen=True, eq=False)
class ModelLimits:
    """positions: of q.   of_joints: (lower, upper) of each joint's own coordinates, far ones infinite.
    velocity, effort, acceleration: (nv,), infinite where absent.   unheld_mimics: names of the mimic joints whose own
    position limits are not kept."""

    positions: PositionLimits
    of_joints: tuple[tuple[Array, Array], ...]
    velocity: Array
    effort: Array
    acceleration: Array
    unheld_mimics: tuple[str, ...]


def collect_limits(
    joints: Sequence[Joint], slots: Sequence[JointSlot], laws: Sequence[tuple[float, float]], nq: int, nv: int
) -> ModelLimits:
    """slots, laws: of each joint; a law is (scale, offset) with q_joint = scale * q[slot] + offset.

    Position limits that are far away are none (`far_limits`).
    A range that a mimic joint would leave empty is a fault of the description (several real ones have it); the followed
    joint's own range then stands. Raises ModelError for laws that overflow.
    """
    lower, upper = np.full(nq, -np.inf), np.full(nq, np.inf)
    rates = {name: np.full(nv, np.inf) for name in ("velocity", "effort", "acceleration")}
    cones: list[Cone] = []
    unheld = []
    length = links_length(joints)
    of_joints = tuple(near_limits(joint, length) for joint in joints)
    for joint, slot, near in zip(joints, slots, of_joints, strict=True):
        if joint.nv == 0 or joint.mimic is not None:
            continue
        if joint.kind.has_cone:
            cone = _cone(joint, slot, near)
            cones += [] if cone.is_free else [cone]
        # Position bounds of a free joint concern its three lengths; quaternions have none.
        bounded = joint.nv if joint.nq == joint.nv else min(3, joint.nq - 4)
        lower[slot.q.start : slot.q.start + bounded] = near[0][:bounded]
        upper[slot.q.start : slot.q.start + bounded] = near[1][:bounded]
        for name, array in rates.items():
            array[slot.v] = getattr(joint, name)
    for joint, slot, (scale, offset), own in zip(joints, slots, laws, of_joints, strict=True):
        if joint.mimic is None:
            continue
        if not math.isfinite(scale) or not math.isfinite(offset):
            raise ModelError(f"joint {joint.name!r}: the multipliers of the joints that it mimics overflow", joint)
        if scale == 0.0:
            unheld += [] if own[0][0] <= offset <= own[1][0] else [joint.name]
            continue
        ends = sorted((float(end[0]) - offset) / scale for end in own)
        low, high = max(lower[slot.q][0], ends[0]), min(upper[slot.q][0], ends[1])
        if low <= high:
            lower[slot.q], upper[slot.q] = low, high
        else:
            unheld.append(joint.name)
        for name in ("velocity", "acceleration"):
            rates[name][slot.v] = np.minimum(rates[name][slot.v], float(getattr(joint, name)[0]) / abs(scale))
    for array in (lower, upper, *rates.values()):
        array.flags.writeable = False
    return ModelLimits(PositionLimits(lower, upper, tuple(cones)), of_joints, **rates, unheld_mimics=tuple(unheld))


def _cone(joint: Joint, slot: JointSlot, near: tuple[Array, Array]) -> Cone:
    low, high = near
    a, b = (float(end) for end in high[:2])
    lower, upper = max(float(low[2]), -math.pi), min(float(high[2]), math.pi)
    basis = np.column_stack((*plane_basis(joint.axis), joint.axis))
    return Cone(joint.name, slot.q.start, slot.v.start, basis, a, b, lower, upper)
