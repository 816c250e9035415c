"""The lists of a robot whose entries can be animated: `robokin.tasks`, `robokin.criteria`. Animation goes by place in
the list: when entries move, their F-curves and drivers follow."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import bpy

from ..robokin import RobokinError

ACTIVE = {"tasks": "active_task", "criteria": "active_criterion"}
_SINGULAR = {"tasks": "task", "criteria": "criterion"}


def remove_entry(obj: bpy.types.Object, entries: str, index: int = -1) -> None:
    """Remove an entry (-1: the active one) of a list together with its animation. Raises RobokinError."""
    robot = obj.robokin
    index = _checked(obj, entries, index)
    _reorder(obj, entries, getattr(robot, entries).remove, index)
    _repath(obj, entries, lambda i: None if i == index else i - (i > index))
    count = len(getattr(robot, entries))
    setattr(robot, ACTIVE[entries], max(0, min(getattr(robot, ACTIVE[entries]), count - 1)))


def move_entry(obj: bpy.types.Object, entries: str, index: int, direction: str) -> bool:
    """Move an entry (-1: the active one) "UP" or "DOWN", and make it active; False at the end of the list.
    Raises RobokinError."""
    index = _checked(obj, entries, index)
    other = index + (1 if direction == "DOWN" else -1)
    if not 0 <= other < len(getattr(obj.robokin, entries)):
        return False
    _reorder(obj, entries, getattr(obj.robokin, entries).move, index, other)
    swap = {index: other, other: index}
    _repath(obj, entries, lambda i: swap.get(i, i))
    setattr(obj.robokin, ACTIVE[entries], other)
    return True


def _reorder(obj: bpy.types.Object, entries: str, change: Callable[..., None], *places: int) -> None:
    """Raises RobokinError where Blender lets the list only grow: in an override, of what is in its file."""
    try:
        change(*places)
    except TypeError:
        raise RobokinError(
            f"the {entries} of {obj.name!r} come from another file: disable them, or edit them there"
        ) from None


def _checked(obj: bpy.types.Object, entries: str, index: int) -> int:
    index = getattr(obj.robokin, ACTIVE[entries]) if index < 0 else index
    count = len(getattr(obj.robokin, entries))
    if not 0 <= index < count:
        raise RobokinError(f"{obj.name!r} has no {_SINGULAR[entries]} number {index} (it has {count})")
    return index


def _repath(obj: bpy.types.Object, entries: str, place: Callable[[int], int | None]) -> None:
    """Rewrite every animated path on a list of `obj` ("tasks", "criteria"): entry i is now at place(i); None: gone.

    Covers the object's action, the actions of its NLA strips, its drivers, and drivers anywhere that read the list.
    """
    for curves in _curve_lists(obj):
        for curve in list(curves):
            path = _moved(curve.data_path, entries, place)
            if path is None:
                curves.remove(curve)
            elif path != curve.data_path:
                curve.data_path = path
    for driver in _drivers_reading(obj):
        for variable in driver.variables:
            for target in variable.targets:
                if target.id == obj:
                    # A driver that reads a removed entry keeps its path; Blender marks it as broken.
                    target.data_path = _moved(target.data_path, entries, place) or target.data_path


def move_curves(obj: bpy.types.Object, old: str, new: str) -> None:
    """Let what animates or drives the property `old` of `obj` do so with `new`."""
    for curves in _curve_lists(obj):
        for curve in curves:
            if curve.data_path == old:
                curve.data_path = new


def _moved(path: str, entries: str, place: Callable[[int], int | None]) -> str | None:
    found = re.match(rf"^robokin\.{entries}\[(\d+)\]", path)
    if not found:
        return path
    index = place(int(found[1]))
    return None if index is None else f"robokin.{entries}[{index}]{path[found.end() :]}"


def _curve_lists(obj: bpy.types.Object) -> Iterator:
    data = obj.animation_data
    if data is None:
        return
    yield data.drivers
    pairs = {(data.action, data.action_slot)}
    pairs |= {(strip.action, strip.action_slot) for track in data.nla_tracks for strip in track.strips}
    for action, slot in pairs:
        if action is None or slot is None:
            continue
        for layer in action.layers:
            for strip in layer.strips:
                bag = strip.channelbag(slot)
                if bag is not None:
                    yield bag.fcurves


def _drivers_reading(obj: bpy.types.Object) -> Iterator[bpy.types.Driver]:
    for owner in {obj, *bpy.data.user_map(subset={obj})[obj]}:
        data = getattr(owner, "animation_data", None)
        if data is not None:
            yield from (curve.driver for curve in data.drivers)
