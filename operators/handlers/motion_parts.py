"""All that moves an object, as bytes to compare: its curves and how they go between their keys, drivers, strips,
constraints, and the channels that none of these moves."""

from __future__ import annotations

from collections.abc import Collection, Iterator

import bpy
import numpy as np

from ...scene.animation import frames as animation

SHOWN = (".cost", ".slope")  # ends of the paths of curves that a bake writes to be read
KEY_NUMBERS = {"co": 2, "handle_left": 2, "handle_right": 2, "amplitude": 1, "back": 1, "period": 1}
KEY_WORDS = ("interpolation", "easing")
CHANNELS = tuple(
    f"{delta}{name}"
    for delta in ("", "delta_")
    for name in ("location", "rotation_euler", "rotation_quaternion", "scale")
)
IGNORED = {"rna_type", "name", "active", "select", "show_expanded", "show_in_editmode", "color", "color_mode"}


def motion_parts(owner: bpy.types.Object) -> Iterator[bytes]:
    curves = {key: curve for key, curve in animation.fcurves(owner).items() if not key[0].endswith(SHOWN)}
    for (path, index), curve in sorted(curves.items()):
        yield f"{path}[{index}] {curve.mute} {curve.extrapolation}".encode()
        yield from _keys(curve)
        yield from map(_settings, curve.modifiers)
    moved = set(curves)
    data = owner.animation_data
    if data is not None:
        for driver in data.drivers:
            moved.add((driver.data_path, driver.array_index))
            yield f"{driver.data_path}[{driver.array_index}] {driver.mute}".encode()
            yield _settings(driver.driver)
            for variable in driver.driver.variables:
                yield _settings(variable)
                yield from map(_settings, variable.targets)
        for track in data.nla_tracks:
            yield _settings(track)
            yield from map(_settings, track.strips)
    for constraint in owner.constraints:
        keyed = {path.rpartition(".")[2] for path, _ in moved if path.startswith(constraint.path_from_id())}
        yield _settings(constraint, keyed)
    still = [
        value for path in CHANNELS for index, value in enumerate(getattr(owner, path)) if (path, index) not in moved
    ]
    inverse = tuple(map(tuple, owner.matrix_parent_inverse)) if owner.parent is not None else ()
    yield repr((owner.rotation_mode, still, inverse, owner.parent_type, owner.parent_bone)).encode()


def _keys(curve: bpy.types.FCurve) -> Iterator[bytes]:
    points = curve.keyframe_points
    for name, size in KEY_NUMBERS.items():
        numbers = np.empty(size * len(points), np.float32)
        points.foreach_get(name, numbers)
        yield numbers.tobytes()
    for name in KEY_WORDS:
        words = np.empty(len(points), np.int32)
        points.foreach_get(name, words)
        yield words.tobytes()


def _settings(thing: bpy.types.bpy_struct, without: Collection[str] = ()) -> bytes:
    """What a person can set of it, but for the properties named."""
    found = []
    for each in thing.bl_rna.properties:
        if each.is_readonly or each.identifier in IGNORED or each.identifier in without:
            continue
        value = getattr(thing, each.identifier)
        if each.type == "POINTER":
            found.append(value.name_full if isinstance(value, bpy.types.ID) else "")
        elif each.type != "COLLECTION":
            array = getattr(each, "is_array", False)
            found.append(np.array(value).tolist() if array else value)
    return repr(found).encode()
