"""Animation on `robokin.tasks[i]` goes by place in the list: when tasks move, their F-curves and drivers follow."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import bpy

_TASK = re.compile(r"^robokin\.tasks\[(\d+)\]")


def repath(obj: bpy.types.Object, place: Callable[[int], int | None]) -> None:
    """Rewrite every animated path on the tasks of `obj`: task i is now at place(i); None: it is gone.

    Covers the object's action, the actions of its NLA strips, its drivers, and drivers anywhere that read its tasks.
    """
    for curves in _curve_lists(obj):
        for curve in list(curves):
            path = _moved(curve.data_path, place)
            if path is None:
                curves.remove(curve)
            elif path != curve.data_path:
                curve.data_path = path
    for driver in _drivers_reading(obj):
        for variable in driver.variables:
            for target in variable.targets:
                if target.id == obj:
                    # A driver that reads a removed task keeps its path; Blender marks it as broken.
                    target.data_path = _moved(target.data_path, place) or target.data_path


def move_curves(obj: bpy.types.Object, old: str, new: str) -> None:
    """Let what animates or drives the property `old` of `obj` do so with `new`."""
    for curves in _curve_lists(obj):
        for curve in curves:
            if curve.data_path == old:
                curve.data_path = new


def _moved(path: str, place: Callable[[int], int | None]) -> str | None:
    found = _TASK.match(path)
    if not found:
        return path
    index = place(int(found[1]))
    return None if index is None else f"robokin.tasks[{index}]{path[found.end() :]}"


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
