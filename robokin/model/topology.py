"""Whether links and joints form one tree, and in which order; ModelError says what does not."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping

from ..errors import ModelError
from .joint import Joint
from .link import Link


def unique(kind: str, items: Iterable) -> dict:
    found: dict = {}
    for item in items:
        if not item.name:
            raise ModelError(f"a {kind} has no name", item)
        if item.name in found:
            raise ModelError(f"two {kind}s are named {item.name!r}", item)
        found[item.name] = item
    return found


def root_link_name(links: Mapping[str, Link], joints: Iterable[Joint]) -> str:
    if not links:
        raise ModelError("a robot needs at least one link")
    parents: dict[str, Joint] = {}
    for joint in joints:
        for end, role in ((joint.parent, "parent"), (joint.child, "child")):
            if end not in links:
                raise ModelError(f"joint {joint.name!r}: {role} link {end!r} is not a link of the robot", joint)
        if joint.child in parents:
            raise ModelError(
                f"link {joint.child!r} has two parents: joints {parents[joint.child].name!r} and {joint.name!r}",
                joint,
            )
        parents[joint.child] = joint
    roots = [name for name in links if name not in parents]
    if len(roots) > 1:
        shown = ", ".join(map(repr, roots[:6])) + (" ..." if len(roots) > 6 else "")
        raise ModelError(f"the robot has {len(roots)} root links: {shown} (one is allowed)", links[roots[1]])
    if not roots:
        raise ModelError("the joints form a circle: no link is the root", next(iter(parents.values())))
    return roots[0]


def depth_first(root_link: str, links: Mapping[str, Link], joints: Iterable[Joint]) -> list[Joint]:
    children: dict[str, list[Joint]] = {}
    for joint in joints:
        children.setdefault(str(joint.parent), []).append(joint)
    ordered: list[Joint] = []
    stack = list(reversed(children.get(root_link, [])))
    while stack:
        joint = stack.pop()
        ordered.append(joint)
        stack.extend(reversed(children.get(joint.child, [])))
    if len(ordered) + 1 != len(links):
        reached = {root_link, *(j.child for j in ordered)}
        unreached = [name for name in links if name not in reached]
        raise ModelError(f"the joints form a circle through link {unreached[0]!r}", links[unreached[0]])
    return ordered


def free_name(wanted: str, taken: Container[str]) -> str:
    name = wanted
    while name in taken:
        name += "_"
    return name


def take_name(wanted: str, taken: set[str]) -> str:
    """A free name like `wanted`, taken from now on."""
    name = free_name(wanted, taken)
    taken.add(name)
    return name
