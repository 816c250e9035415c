"""Rigid bodies of a robot: links that fixed joints hold together, and what moves on what."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from ..model.robot import RobotModel


@dataclass(frozen=True)
class Bodies:
    """A body is named by its first link. of: the body of every link.   movers: how many joints move each body.
    carried: the bodies that move on a body.   frames: links of a body behind which nothing is fixed.
    fingers: bodies with nothing behind them, two or more on one moving body, a hand.   hands: those.
    last: hands, and bodies with nothing behind them that are no fingers."""

    of: dict[str, str]
    movers: dict[str, int]
    carried: dict[str, list[str]]
    frames: dict[str, list[str]]
    hands: frozenset[str]
    fingers: frozenset[str]
    last: tuple[str, ...]


@lru_cache(maxsize=8)
def rigid_bodies(model: RobotModel) -> Bodies:
    root = model.root_link.name
    of, movers = {root: root}, {root: 0}
    carried: dict[str, list[str]] = {root: []}
    frames: dict[str, list[str]] = {root: [root]}
    for joint in model.joints[1:]:
        on = of[str(joint.parent)]
        if joint.nv:
            of[joint.child], movers[joint.child] = joint.child, movers[on] + 1
            carried[joint.child], frames[joint.child] = [], [joint.child]
            carried[on].append(joint.child)
        else:
            of[joint.child] = on
            frames[on] = [link for link in frames[on] if link != joint.parent] + [joint.child]
    hands = {on for on, ends in carried.items() if len(ends) > 1 and movers[on] and not any(map(carried.get, ends))}
    fingers = {end for on in hands for end in carried[on]}
    last = [on for on, ends in carried.items() if movers[on] and on not in fingers and (on in hands or not ends)]
    return Bodies(of, movers, carried, frames, frozenset(hands), frozenset(fingers), tuple(last))
