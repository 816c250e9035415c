"""A pose that looks natural, for a robot that has just been made: elbows bent, away from limits and singularities."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from ...robokin import RobotModel, clamp, difference, forward_kinematics, frame_jacobian, integrate
from ...robokin.arrays import Array
from ...robokin.mirror import mirrored_configuration
from ...robokin.model.model_limits import JointSlot
from ...robokin.structure.bodies import Bodies, rigid_bodies
from ...robokin.structure.natural_root import legs, up_axis, wheels
from ...robokin.structure.tool_links import tool_links
from .natural_legs import standing_configuration

STEP = math.radians(15.0)
REACH = 9  # steps of an angle to either side; of a slide this many tenths of its range
SWEEPS = 4
SHOULDER = 3  # degrees of freedom of one
ARM = 4  # degrees of freedom of an arm on a trunk, or with a hand, at least
FLOOR = 0.03  # singular values below it are all the same
MARGIN = 0.15  # of a joint's range from its ends, which are avoided
SIMPLE = 0.05  # how much a radian away from the neutral pose counts
FORWARD = 0.5  # how much a tool before its arm, and none beside the robot, counts
BESIDE = 2.0  # how much the tool of an arm on a trunk counts that is beside its shoulder
RAISED = 3.0  # how much the height of an arm counts that stands on its own, in the middle of its links
HANGING = 0.75  # how much the height of an arm on a trunk counts, in the middle of its links, which is to be low
BELOW = 20.0  # how much links count that come nearer to the ground than CLEAR, or below it
CLEAR = 0.1  # of the robot's size


def natural_configuration(model: RobotModel, corners: Mapping[str, Array] = {}) -> Array:
    """(nq,) inside the limits. Trunk, neck and fingers stay as near to the neutral pose as they may. corners: (n, 3) of
    the links that are feet, in their frames [m], where they are known."""
    q = standing_configuration(model, corners)
    bodies, standing = rigid_bodies(model), {body for leg in legs(model) for body in leg}
    tools = [link for link in reversed(tool_links(model)) if bodies.of[link] not in standing]
    found = [limb for link in tools for limb in _limbs(model, bodies, link)]
    trunks = {on for _, _, on in found}
    posed: set[str] = set()
    for own, (tip, on) in {own: (tip, on) for own, tip, on in found if tip not in trunks}.items():
        joints = {joint.name for joint in model.joints for i in _own(model.slot(joint.name)) if i in own}
        image = mirrored_configuration(model, q)
        mirrored = {name for name in joints if image.other.get(name) in posed and name not in image.clamped}
        for slot in map(model.slot, mirrored):
            q[slot.q] = image.q[slot.q]
        if mirrored != joints:
            q = _improved(model, q, _Limb(model, q, tip, own, bool(on)))
        posed |= joints
    return q


def _limbs(model: RobotModel, bodies: Bodies, link: str) -> Iterator[tuple[tuple[int, ...], str, str]]:
    """The limb that a tool ends, and those that carry it, as an arm carries a hand: the degrees of freedom of each, its
    tip, and the body it is on, which carries other limbs too; "" where there is none. Wheels, necks and fingers are no
    limbs."""
    moved_by = {joint.child: joint for joint in model.joints[1:]}
    own: tuple[int, ...] = ()
    tip, fewest, on = link, 2, bodies.of[link]
    while on in moved_by:
        joint = moved_by[on]
        if joint.mimic is None:
            slot = model.slot(joint.name)
            own = (*(i for i in _own(slot) if not _is_endless_slide(model, slot, i)), *own)
        on = bodies.of[str(joint.parent)]
        if sum(bool(bodies.carried[body]) for body in bodies.carried[on]) > 1:
            if len(own) >= ARM:
                yield own, tip, on
            own, tip, fewest = (), on, ARM
    if len(own) >= fewest:
        yield own, tip, ""


def _is_endless_slide(model: RobotModel, slot: JointSlot, freedom: int) -> bool:
    """Which has no range to be in the middle of: it stays. Also of a planar or a cylindrical joint."""
    at = _coordinate(slot, freedom)
    return bool(model.is_length[freedom]) and not np.isfinite(model.upper[at] - model.lower[at])


def _improved(model: RobotModel, q: Array, limb: _Limb) -> Array:
    """The best pose that changes of single degrees of freedom, in steps, lead to."""
    best, score = q, limb.score(q)
    for _ in range(SWEEPS):
        before = score
        for i in limb.freedoms:
            start = best
            for count in sorted(range(-REACH, REACH + 1), key=abs):
                v = np.zeros(model.nv)
                v[i] = count * limb.step(i)
                tried = clamp(model, integrate(model, start, v))
                found = limb.score(tried)
                if found > score + 1e-9:
                    best, score = tried, found
        if score <= before:
            break
    return best


class _Limb:
    """A limb with its tool. freedoms: the degrees of freedom that move it.   on_trunk: it does not stand on its own."""

    def __init__(self, model: RobotModel, q: Array, tool: str, freedoms: Sequence[int], on_trunk: bool) -> None:
        self.model, self.tool, self.freedoms = model, tool, list(freedoms)
        self._lengths = model.is_length[self.freedoms]
        self._up = up_axis(model)
        owner = {i: (joint, slot) for joint, slot in zip(model.joints, model.slots, strict=True) for i in _own(slot)}
        self._at = [_coordinate(owner[i][1], i) for i in self.freedoms]
        turning = [i for i in self.freedoms if not model.is_length[i]] or self.freedoms
        self._first = owner[turning[0]][0].child  # what slides below it carries all along, and brings nothing forward
        placed = forward_kinematics(model, q)
        points = np.array([placed[link.name][:3, 3] for link in model.links])
        self._size = float(np.linalg.norm(np.ptp(points, axis=0))) or 1.0
        self._neutral = clamp(model, model.neutral())
        self._raised, self._beside, self._side = RAISED, FORWARD, 0.0
        if on_trunk:
            shoulder = (owner[i][0].child for i in self.freedoms[:SHOULDER])
            self._raised, self._beside = -HANGING, BESIDE
            self._side = max((self._before(placed, link)[3 - self._up] for link in shoulder), key=abs)
        moved = {owner[i][0].child for i in self.freedoms[1:]}
        self._links = [*moved, tool]
        self._ground = min(0.0, *self._heights(q, wheels(model) or [link.name for link in model.links]))

    def step(self, freedom: int) -> float:
        at = self.freedoms.index(freedom)
        if not self._lengths[at]:
            return STEP
        return 0.1 * float(self.model.upper[self._at[at]] - self.model.lower[self._at[at]])

    def score(self, q: Array) -> float:
        model, size = self.model, self._size
        J = frame_jacobian(model, q, self.tool)[: 3 if len(self.freedoms) <= 3 else 6, self.freedoms]
        J[:3] /= size  # turns and moves count alike
        J[:, self._lengths] *= size
        strong = np.linalg.svd(J, compute_uv=False)
        lower, width = model.lower[self._at], (model.upper - model.lower)[self._at]
        bounded = (width > 0.0) & np.isfinite(width)
        share = (q[self._at] - lower)[bounded] / width[bounded]
        crowded = np.maximum(MARGIN - np.minimum(share, 1.0 - share), 0.0) / MARGIN
        away = difference(model, self._neutral, q)[self.freedoms] / np.where(self._lengths, size, 1.0)
        placed = forward_kinematics(model, q)
        tool, first = self._before(placed, self.tool), self._before(placed, self._first)
        heights = np.array(self._heights(q, self._links)) - self._ground
        deep = np.maximum(CLEAR - heights / size, 0.0)
        return (
            float(np.log(strong + FLOOR).sum())
            - float(crowded @ crowded)
            - SIMPLE * float(away @ away)
            + FORWARD * (tool[0] - first[0]) / size
            - self._beside * abs(tool[3 - self._up] - self._side) / size
            + self._raised * float(heights.mean()) / size
            - BELOW * float(deep.max())
        )

    def _before(self, placed: Mapping[str, Array], link: str) -> Array:
        """(3,) of a link's origin, from the root link's, along its axes."""
        base = placed[self.model.root_link.name]
        return base[:3, :3].T @ (placed[link][:3, 3] - base[:3, 3])

    def _heights(self, q: Array, links: Sequence[str]) -> list[float]:
        """[m] of the links' origins over the root link's, along its axis upward."""
        placed = forward_kinematics(self.model, q)
        base = placed[self.model.root_link.name]
        return [float(base[:3, self._up] @ (placed[link][:3, 3] - base[:3, 3])) for link in links]


def _own(slot: JointSlot) -> range:
    return range(slot.v.start, slot.v.stop)


def _coordinate(slot: JointSlot, freedom: int) -> int:
    """Index in q of a degree of freedom; of a ball, whose coordinates have no bounds, of any."""
    return slot.q.start + min(freedom - slot.v.start, slot.q.stop - slot.q.start - 1)
