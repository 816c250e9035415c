"""Pairs of links and whether they may touch: `Object.robokin.link_pairs`. Of a pair that is not in the list it is found
out: two that touch at rest may."""

from __future__ import annotations

import bpy

from .overrides import STATIC, VALUE


class RobokinLinkPair(bpy.types.PropertyGroup):
    """Two links. `name` has both, for the filter of the list."""

    name: bpy.props.StringProperty(override=VALUE, name="Name", description="Both links")
    link_a: bpy.props.StringProperty(override=VALUE, name="First Link", description="Name of a link")
    link_b: bpy.props.StringProperty(override=VALUE, name="Second Link", description="Name of another link")
    may_touch: bpy.props.BoolProperty(
        override=VALUE,
        options=STATIC,
        name="May Touch",
        description="The two are not looked at for collisions",
        default=True,
    )
    reason: bpy.props.StringProperty(override=VALUE, name="Reason", description="Why the two may touch")


CLASSES = (RobokinLinkPair,)


def link_pairs(obj: bpy.types.Object) -> dict[tuple[str, str], bool]:
    """Whether the two may touch, of each pair in the list."""
    return {(item.link_a, item.link_b): item.may_touch for item in obj.robokin.link_pairs}


def store_link_pair(obj: bpy.types.Object, a: str, b: str, reason: str) -> bool:
    """The two may touch. Returns whether that is new in the list; what the list says of them stays."""
    if {(a, b), (b, a)} & link_pairs(obj).keys():
        return False
    item = obj.robokin.link_pairs.add()
    item.name, item.link_a, item.link_b, item.reason = f"{a}, {b}", a, b, reason
    obj.robokin.active_link_pair = len(obj.robokin.link_pairs) - 1
    return True
