"""Pairs of links, or of a link and an obstacle, and whether they may touch: `Object.robokin.link_pairs`. Of links that
are not in the list it is found out: two that touch at rest may."""

from __future__ import annotations

from collections.abc import Mapping

import bpy
from bpy.props import BoolProperty, StringProperty

from ..overrides import field, static_field


class RobokinLinkPair(bpy.types.PropertyGroup):
    """Two links, or a link and an obstacle. `name` has both, for the filter of the list."""

    name: field(StringProperty, "Name", "Both links")
    link_a: field(StringProperty, "First Link", "Name of a link")
    link_b: field(StringProperty, "Second Link", "Name of another link, or of an obstacle")
    may_touch: static_field(BoolProperty, "May Touch", "The two are not looked at for collisions", default=True)
    reason: field(StringProperty, "Reason", "Why the two may touch")


CLASSES = (RobokinLinkPair,)


def link_pairs(obj: bpy.types.Object) -> dict[tuple[str, str], bool]:
    """Whether the two may touch, of each pair in the list."""
    return {(item.link_a, item.link_b): item.may_touch for item in obj.robokin.link_pairs}


def store_link_pairs(obj: bpy.types.Object, may_touch: Mapping[tuple[str, str], str]) -> int:
    """These two and two may touch, {(link, link): reason}. Returns how many are new in the list; what it says of the
    others stays."""
    listed, robot, before = link_pairs(obj).keys(), obj.robokin, len(obj.robokin.link_pairs)
    for (a, b), reason in may_touch.items():
        if not {(a, b), (b, a)} & listed:
            item = robot.link_pairs.add()
            item.name, item.link_a, item.link_b, item.reason = f"{a}, {b}", a, b, reason
    new = len(robot.link_pairs) - before
    if new:
        robot.active_link_pair = before
    return new
