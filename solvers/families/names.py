"""The names of branches, from their bits (docs/families.md)."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from ...robokin.arrays import Array
from .family import Arm, Branch, Family, FamilyKind

Pair = tuple[str, str]

LEAST = 1e-6  # [sizes], [1] below which a sign says nothing

SHOULDER: Pair = ("shoulder right", "shoulder left")
ELBOW: Pair = ("elbow up", "elbow down")
LYING_ELBOW: Pair = ("elbow left", "elbow right")
BENT_ELBOW: Pair = ("elbow forward", "elbow back")
FOREARM: Pair = ("forearm up", "forearm down")
SIDE_OF_WRIST: Pair = ("wrist right", "wrist left")
WRIST: Pair = ("wrist no flip", "wrist flip")
FLIP_OF_SHOULDER: Pair = ("shoulder no flip", "shoulder flip")
FLIP_OF_FOREARM: Pair = ("forearm no flip", "forearm flip")


class BranchNames:
    """The words of a family member: each bit of a branch has two."""

    def __init__(self, family: Family) -> None:
        self.family = family

    def name(self, branch: int) -> str:
        """The name of a branch, as "shoulder right, elbow up, wrist no flip"; of a pose that has but one posture "the
        only one"."""
        found = [f"{self._root} {1 + (branch // Branch.ROOT & 3)}"] if self._root else []
        for bit, words in self._words.items():
            is_second = bool(branch & bit) != self._turned.get(bit, False)
            if bit is Branch.ELBOW and self._is_upright:
                # What is up where the arm reaches forward is down where it reaches back over itself.
                is_second ^= bool(branch & Branch.SHOULDER)
            found.append(words[is_second])
        return ", ".join(found) or "the only one"

    @cached_property
    def _root(self) -> str:
        """What is counted where there are up to four solutions without names."""
        family = self.family
        if family.kind is FamilyKind.SPHERICAL_WRIST and family.arm is Arm.GENERAL:
            return "arm"
        if family.kind is FamilyKind.THREE_PARALLEL and not family.meets:
            return "wrist" if family.outer_last != family.reversed else "shoulder"
        return ""

    @cached_property
    def _words(self) -> dict[Branch, Pair]:
        family = self.family
        if family.kind is FamilyKind.PLANAR:
            return {Branch.ELBOW: LYING_ELBOW}
        if family.kind is FamilyKind.GANTRY:
            return {Branch.WRIST: WRIST} if (~family.chain.slides).sum() == 3 else {}
        if family.kind is FamilyKind.SPHERICAL_BOTH:
            return {Branch.SHOULDER: FLIP_OF_SHOULDER, Branch.ELBOW: BENT_ELBOW, Branch.WRIST: WRIST}
        if family.kind is FamilyKind.THREE_PARALLEL:
            if self._root:
                return {Branch.ELBOW: ELBOW}
            outer = SIDE_OF_WRIST if family.outer_last != family.reversed else SHOULDER
            if family.outer_last:
                return {Branch.SHOULDER: outer, Branch.ELBOW: LYING_ELBOW, Branch.WRIST: FLIP_OF_FOREARM}
            return {
                Branch.SHOULDER: outer,
                Branch.ELBOW: ELBOW,
                Branch.WRIST: FLIP_OF_SHOULDER if family.reversed else WRIST,
            }
        flip = FLIP_OF_SHOULDER if family.reversed else WRIST
        if self._root:
            return {Branch.WRIST: flip}
        if family.mirrored:
            return {Branch.ELBOW: LYING_ELBOW, Branch.SHOULDER: FOREARM, Branch.WRIST: flip}
        return {
            Branch.SHOULDER: SIDE_OF_WRIST if family.reversed else SHOULDER,
            Branch.ELBOW: ELBOW,
            Branch.WRIST: flip,
        }

    @property
    def _is_upright(self) -> bool:
        """Joint 1 turns an arm of joints 2 and 3: right, left, up and down have their meaning."""
        family = self.family
        is_arm = family.kind is FamilyKind.SPHERICAL_WRIST and family.arm is not Arm.GENERAL and not family.mirrored
        is_arm |= family.kind is FamilyKind.THREE_PARALLEL and family.meets and not family.outer_last
        return is_arm and not family.reversed

    @cached_property
    def _turned(self) -> dict[Branch, bool]:
        """Whether the first word is that of the bit being set."""
        family, h, o = self.family, self.family.h, self.family.o
        found: dict[Branch, bool] = {}
        if self._is_upright:
            # Right: the wrist is on the side of the plane of axes 1 and 2 where it is at zero.
            side = float(np.cross(h[0], h[1]) @ (o[4] - o[0]))
            found[Branch.SHOULDER] = side < -LEAST * family.chain.size
            found[Branch.ELBOW] = _upward(h[0]) * float(h[1] @ h[2]) < 0.0
        if family.kind is FamilyKind.PLANAR:
            turns = np.flatnonzero(~family.slides)
            found[Branch.ELBOW] = _upward(h[turns[0]]) * float(h[turns[0]] @ h[turns[1]]) < 0.0
        for bit, axes in self._three.items():
            found[bit] = _is_flip_first(*h[axes])
        return found

    @property
    def _three(self) -> dict[Branch, list[int]]:
        """The three axes whose turns have two solutions, by their bits."""
        family = self.family
        if family.kind is FamilyKind.SPHERICAL_BOTH:
            return {Branch.SHOULDER: [0, 1, 2], Branch.WRIST: [4, 5, 6]}
        if family.kind is FamilyKind.GANTRY:
            turns = np.flatnonzero(~family.slides).tolist()
            return {Branch.WRIST: turns} if len(turns) == 3 else {}
        if family.kind is FamilyKind.THREE_PARALLEL:
            first = 0 if family.outer_last else 1
            return {Branch.WRIST: [first, first + 3, first + 4]}
        return {Branch.WRIST: [3, 4, 5]} if family.kind is FamilyKind.SPHERICAL_WRIST else {}


def _upward(axis: Array) -> float:
    """1 when the axis points up, along z; of a level one, along the axis of the root that it is nearest to."""
    z = float(axis[2])
    return float(np.sign(z if abs(z) > LEAST else axis[np.argmax(abs(axis[:2]))]))


def _is_flip_first(h0: Array, h1: Array, h2: Array) -> bool:
    """Whether of two solutions with three turns the one with positive det(h0, h1, R1 h2) is the flip. No flip: the sign
    that it has at zero, or, where the outer axes lie on each other at zero, that of a positive middle turn."""
    at_zero = float(h0 @ np.cross(h1, h2))
    if abs(at_zero) > LEAST:
        return at_zero < 0.0
    return float(h0 @ h2 - (h0 @ h1) * (h1 @ h2)) > 0.0
