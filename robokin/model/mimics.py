"""Joints that mimic others: the one at the end of a chain of them, and the law q = scale * q_followed + offset."""

from __future__ import annotations

from collections.abc import Mapping

from ..errors import ModelError
from .joint import Joint

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
