"""Rigid bodies of a robot: links that fixed joints hold together, and what moves on what."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ..model.robot import RobotModel

SHORT = 0.3  # of the way from the root to their joint: fingers are no longer than this
JAWS = {"jaw", "claw", "mover"}  # of a gripper that one joint closes


@dataclass(frozen=True)
class Bodies:
    """A body is named by its first link. of: the body of every link.   movers: how many joints move each body.
    carried: the bodies that move on a body.   frames: links of a body behind which nothing is fixed.
    fingers: the bodies on a hand: a moving body that carries two limbs or more, each one body, or all of them short, or
    what its name says is the jaw of a gripper.
    last: hands, and bodies with nothing behind them that are no fingers."""

    of: dict[str, str]
    movers: dict[str, int]
    carried: dict[str, list[str]]
    frames: dict[str, list[str]]
    fingers: frozenset[str]
    last: tuple[str, ...]


@lru_cache(maxsize=8)
def rigid_bodies(model: RobotModel) -> Bodies:
    root = model.root_link.name
    of, movers = {root: root}, {root: 0}
    carried: dict[str, list[str]] = {root: []}
    frames: dict[str, list[str]] = {root: [root]}
    lengths, reach = {root: 0.0}, {root: 0.0}  # of the way from the root to a link, and to the farthest one behind it
    for joint in model.joints[1:]:
        on = of[str(joint.parent)]
        lengths[joint.child] = lengths[str(joint.parent)] + float(np.linalg.norm(joint.placement[:3, 3]))
        if joint.nv:
            of[joint.child], movers[joint.child] = joint.child, movers[on] + 1
            carried[joint.child], frames[joint.child] = [], [joint.child]
            carried[on].append(joint.child)
        else:
            of[joint.child] = on
            frames[on] = [link for link in frames[on] if link != joint.parent] + [joint.child]
    for joint in reversed(model.joints[1:]):
        farthest = reach[joint.child] = max(reach.get(joint.child, 0.0), lengths[joint.child])
        reach[str(joint.parent)] = max(reach.get(str(joint.parent), 0.0), farthest)
    hands: set[str] = set()
    fingers: set[str] = set()
    for on, ends in carried.items():
        short = all(reach[end] - lengths[end] < SHORT * lengths[end] for end in ends)
        several = len(ends) > 1 and (short or not any(map(carried.get, ends)))
        if (
            on not in fingers
            and movers[on]
            and (several or any(JAWS & words(end) and not carried[end] for end in ends))
        ):
            hands.add(on)
        if on in fingers or on in hands:
            fingers.update(ends)
    last = [on for on, ends in carried.items() if movers[on] and on not in fingers and (on in hands or not ends)]
    return Bodies(of, movers, carried, frames, frozenset(fingers), tuple(last))


def words(name: str) -> set[str]:
    """In lower case: LeftWristIMULink has four."""
    return {word.lower() for word in re.findall(r"[A-Z]+(?![a-z])[0-9]*|[A-Z]?[a-z]+[0-9]*", name)}
