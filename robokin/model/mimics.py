"""Joints that mimic others: the one at the end of a chain of them, and the law q = scale * q_followed + offset."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ..errors import ModelError
from .joint import Joint

if TYPE_CHECKING:
    from .robot import RobotModel

MAX_MIMIC_CHAIN = 32  # keeps the cost linear in the joints


def followed_joint(joint: Joint, joints: Mapping[str, Joint]) -> Joint:
    """The joint at the end of a chain of mimics; itself when it mimics none. joints: all, by name. Raises ModelError
    for chains that end nowhere, close, are too long, or end at a joint that cannot be followed."""
    seen = [joint.name]
    while joint.mimic is not None:
        if joint.mimic.joint not in joints:
            raise ModelError(f"joint {joint.name!r} mimics {joint.mimic.joint!r}, which is not a joint", joint)
        joint = joints[joint.mimic.joint]
        if joint.name in seen:
            circle = " -> ".join([*seen, joint.name])
            raise ModelError(f"mimic joints follow each other in a circle: {circle}", joint)
        seen.append(joint.name)
        if len(seen) > MAX_MIMIC_CHAIN:
            raise ModelError(f"joint {seen[0]!r} mimics through more than {MAX_MIMIC_CHAIN} joints", joint)
    if len(seen) > 1 and not joint.kind.mimicable:
        raise ModelError(
            f"joint {seen[0]!r} mimics {joint.name!r}, a {joint.type} joint "
            "(only joints of one degree of freedom can be followed)",
            joints[seen[0]],
        )
    return joint


def mimic_law(joint: Joint, joints: Mapping[str, Joint]) -> tuple[float, float]:
    """(scale, offset) with q = scale * q_followed + offset, through chains of mimics; (1, 0) if it mimics none."""
    scale, offset = 1.0, 0.0
    while joint.mimic is not None:
        offset += scale * joint.mimic.offset
        scale *= joint.mimic.multiplier
        joint = joints[joint.mimic.joint]
    return scale, offset


def mimic_warnings(model: RobotModel) -> list[str]:
    """A line for each joint whose position limits are not kept, because they exclude all that it can follow."""
    return [mimic_warning(model, name) for name in model.unheld_mimics]


def mimic_warning(model: RobotModel, name: str) -> str:
    """The line of one of them."""
    joint, (scale, offset) = model.joint(name), model.mimic_map(name)
    at = model.slot(name).q.start
    low, high = sorted(scale * float(end) + offset if scale else offset for end in (model.lower[at], model.upper[at]))
    own = f"{float(joint.lower[0]):.5g} .. {float(joint.upper[0]):.5g}"
    leader = followed_joint(joint, {each.name: each for each in model.joints}).name
    return (
        f"joint {name!r}: its limits {own} are not kept, since with {leader!r}, which it follows, "
        f"it goes from {low:.5g} to {high:.5g}"
    )
