"""The lists of a robot: `robokin.tasks`, `robokin.criteria`, `robokin.moves`, `robokin.postures`,
`robokin.link_pairs`, `robokin.retarget_pairs`. Animation goes by place in the list: when entries move, their F-curves
and drivers follow."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import bpy

from ...properties.postures import free_name
from ...robokin import RobokinError

ACTIVE = {
    "tasks": "active_task",
    "criteria": "active_criterion",
    "moves": "active_move",
    "postures": "active_posture",
    "link_pairs": "active_link_pair",
    "retarget_pairs": "active_retarget_pair",
}
_SINGULAR = {
    "tasks": "task",
    "criteria": "criterion",
    "moves": "move",
    "postures": "posture",
    "link_pairs": "pair of links",
    "retarget_pairs": "pair of bones",
}


def add_entry(obj: bpy.types.Object, entries: str, name: str, kind: str) -> bpy.types.PropertyGroup:
    """A new entry of a kind at the end of a list, active; its name has a number where another entry has it."""
    items = getattr(obj.robokin, entries)
    name = free_name(name, set(items.keys()))
    item = items.add()
    item.name, item.kind = name, kind
    setattr(obj.robokin, ACTIVE[entries], len(items) - 1)
    return item


def remove_entry(obj: bpy.types.Object, entries: str, index: int = -1) -> None:
    """Remove an entry (-1: the active one) of a list together with its animation. Raises RobokinError."""
    robot = obj.robokin
    index = place_in_list(obj, entries, index)

    def place(i: int) -> int | None:
        return None if i == index else i - (i > index)

    _refuse_linked_animation(obj, entries, place)
    reorder(obj, entries, getattr(robot, entries).remove, index)
    _repath(obj, entries, place)
    count = len(getattr(robot, entries))
    setattr(robot, ACTIVE[entries], max(0, min(getattr(robot, ACTIVE[entries]), count - 1)))


def move_entry(obj: bpy.types.Object, entries: str, index: int, direction: str) -> bool:
    """Move an entry (-1: the active one) "UP" or "DOWN", and make it active; False at the end of the list.
    Raises RobokinError."""
    index = place_in_list(obj, entries, index)
    other = index + (1 if direction == "DOWN" else -1)
    if not 0 <= other < len(getattr(obj.robokin, entries)):
        return False
    swap = {index: other, other: index}

    def place(i: int) -> int | None:
        return swap.get(i, i)

    _refuse_linked_animation(obj, entries, place)
    reorder(obj, entries, getattr(obj.robokin, entries).move, index, other)
    _repath(obj, entries, place)
    setattr(obj.robokin, ACTIVE[entries], other)
    return True


def reorder(obj: bpy.types.Object, entries: str, change: Callable[..., None], *places: int) -> None:
    """Raises RobokinError where Blender lets the list only grow: in an override, of what is in its file."""
    try:
        change(*places)
    except TypeError:
        raise RobokinError(
            f"the {entries} of {obj.name!r} come from another file: edit them there, or leave them unused here"
        ) from None


def _refuse_linked_animation(obj: bpy.types.Object, entries: str, place: Callable[[int], int | None]) -> None:
    """Raise RobokinError where animation by places in the list could not follow, as it is another file's."""
    paths = [(owner, curve.data_path) for owner, curves in _curve_lists(obj) for curve in curves]
    paths += [(owner, target.data_path) for owner, target in _driver_targets(obj)]
    for owner, path in paths:
        if not owner.is_editable and _moved(path, entries, place) != path:
            who = f"{owner.name!r}, which is linked from another file"
            raise RobokinError(f"the {entries} of {obj.name!r} are animated by {who}: make that local first")


def place_in_list(obj: bpy.types.Object, entries: str, index: int = -1) -> int:
    """An index in the list, -1 for the active entry. Raises RobokinError."""
    index = getattr(obj.robokin, ACTIVE[entries]) if index < 0 else index
    count = len(getattr(obj.robokin, entries))
    if not count:
        raise RobokinError(f"{obj.name!r} has no {_SINGULAR[entries]} yet: add one")
    if not 0 <= index < count:
        raise RobokinError(f"{obj.name!r} has no {_SINGULAR[entries]} number {index} (it has {count})")
    return index


def _repath(obj: bpy.types.Object, entries: str, place: Callable[[int], int | None]) -> None:
    """Rewrite every animated path on a list of `obj` ("tasks", "criteria"): entry i is now at place(i); None: gone.

    Covers the object's action, the actions of its NLA strips, its drivers, and drivers anywhere that read the list.
    """
    for _, curves in _curve_lists(obj):
        for curve in list(curves):
            path = _moved(curve.data_path, entries, place)
            if path is None:
                curves.remove(curve)
            elif path != curve.data_path:
                curve.data_path = path
    for _, target in _driver_targets(obj):
        # A driver that reads a removed entry keeps its path; Blender marks it as broken.
        target.data_path = _moved(target.data_path, entries, place) or target.data_path


def move_curves(obj: bpy.types.Object, old: str, new: str) -> None:
    """Let what animates or drives the property `old` of `obj` do so with `new`."""
    for _, curves in _curve_lists(obj):
        for curve in curves:
            if curve.data_path == old:
                curve.data_path = new


def _moved(path: str, entries: str, place: Callable[[int], int | None]) -> str | None:
    found = re.match(rf"^robokin\.{entries}\[(\d+)\]", path)
    if not found:
        return path
    index = place(int(found[1]))
    return None if index is None else f"robokin.{entries}[{index}]{path[found.end() :]}"


def _curve_lists(obj: bpy.types.Object) -> Iterator[tuple[bpy.types.ID, Any]]:
    """(whose they are, F-curves) of all that animates or drives the object."""
    data = obj.animation_data
    if data is None:
        return
    yield obj, data.drivers
    pairs = {(data.action, data.action_slot)}
    pairs |= {(strip.action, strip.action_slot) for track in data.nla_tracks for strip in track.strips}
    for action, slot in pairs:
        if action is None or slot is None:
            continue
        for layer in action.layers:
            for strip in layer.strips:
                bag = strip.channelbag(slot)
                if bag is not None:
                    yield action, bag.fcurves


def _driver_targets(obj: bpy.types.Object) -> Iterator[tuple[bpy.types.ID, bpy.types.DriverTarget]]:
    """(whose driver it is, what it reads) of all drivers that read the object."""
    for owner in {obj, *bpy.data.user_map(subset={obj})[obj]}:
        data = getattr(owner, "animation_data", None)
        for curve in data.drivers if data is not None else ():
            for variable in curve.driver.variables:
                yield from ((owner, target) for target in variable.targets if target.id == obj)
