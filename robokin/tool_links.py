"""Which links of a robot are its tools: where a target belongs when nothing else is said."""

from __future__ import annotations

import re

from .model.robot import RobotModel

STANDARD = "tool0"  # the name of the tool frame in ROS (REP 199)
WORDS = {"tool", STANDARD, "tcp", "ee", "eef", "effector", "grasp", "grasping"}  # what people call one


def tool_links(model: RobotModel) -> tuple[str, ...]:
    """Links that may be the tool, those with the most joints above them first; none for a robot that does not move.

    They are the frames at the ends of moving bodies, and the last bodies themselves. Bodies that each move on one and
    the same body and have nothing behind them are its fingers, and that body is the last one. When some are called
    tools, only these; of several frames on one body the one called `tool0`.
    """
    root = model.root_link.name
    body = {root: root}  # the first link of what is rigidly one
    movers = {root: 0}  # how many joints move each body
    carried: dict[str, list[str]] = {root: []}  # bodies that move on a body
    frames: dict[str, list[str]] = {root: [root]}  # links of a body behind which none is fixed
    carriers = {joint.parent for joint in model.joints}
    for joint in model.joints[1:]:
        on = body[str(joint.parent)]
        if joint.nv:
            body[joint.child], movers[joint.child] = joint.child, movers[on] + 1
            carried[joint.child], frames[joint.child] = [], [joint.child]
            carried[on].append(joint.child)
        else:
            body[joint.child] = on
            frames[on] = [link for link in frames[on] if link != joint.parent] + [joint.child]
    hands = {on for on, ends in carried.items() if len(ends) > 1 and movers[on] and not any(map(carried.get, ends))}
    fingers = {end for on in hands for end in carried[on]}
    found = []
    for on in sorted(movers.keys() - fingers - {root}, key=lambda on: (-movers[on], model.link_index(on))):
        last = on in hands or not carried[on]
        own = [link for link in frames[on] if last or link not in carriers]
        found += [STANDARD] if STANDARD in own else own
    called = [link for link in found if WORDS & set(re.split(r"[^a-z0-9]+", link.lower()))]
    return tuple(called or found)
