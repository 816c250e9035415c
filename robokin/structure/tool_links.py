"""Which links of a robot are its tools: where a target belongs when nothing else is said."""

from __future__ import annotations

from functools import lru_cache

from ..model.robot import RobotModel
from .bodies import rigid_bodies, words
from .natural_root import feet

STANDARD = "tool0"  # the name of the tool frame in ROS (REP 199)
WORDS = {"tool", STANDARD, "tcp", "ee", "eef", "effector", "grasp", "grasping"}  # what people call one
OTHERS = {
    "camera",
    "optical",
    "imu",
    "accelerometer",
    "lidar",
    "range",
    "rotor",
    "propeller",
    "wheel",
}  # and what is none


@lru_cache(maxsize=8)
def tool_links(model: RobotModel) -> tuple[str, ...]:
    """Links that may be the tool: hands with fingers, then those with the most joints above them; none for a robot that
    does not move.

    They are the frames at the ends of moving bodies, and the last bodies themselves; not the fingers of a hand, nor
    sensors, rotors and wheels where there are others. When some are called tools, only these; of several frames on one
    body the one called `tool0`."""
    bodies = rigid_bodies(model)
    parents = {joint.parent for joint in model.joints}
    hands = {on for on, ends in bodies.carried.items() if bodies.fingers & {*ends}} - {*feet(model)}
    moving = [on for on, count in bodies.movers.items() if count and on not in bodies.fingers]
    found, others = [], []
    for on in sorted(moving, key=lambda on: (on not in hands, -bodies.movers[on])):
        own = [link for link in bodies.frames[on] if on in bodies.last or link not in parents]
        tools = [link for link in own if not OTHERS & words(link)]
        if not tools and on in bodies.last and not OTHERS & words(on):
            tools = [on]  # which carries sensors alone
        found += [STANDARD] if STANDARD in own else tools
        others += own
    called = [link for link in found if WORDS & words(link)]
    return tuple(called or found or others)


def end_links(model: RobotModel) -> tuple[str, ...]:
    """The tools, and a link of each other body that carries none: fingers, a head, a robot of one body. Where these are
    as they were, no joint has moved alone."""
    carried = rigid_bodies(model).carried
    return tuple(dict.fromkeys((*tool_links(model), *(on for on, bodies in carried.items() if not bodies))))
