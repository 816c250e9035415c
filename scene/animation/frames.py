"""Reading the scene over many frames: where objects are, and what animated settings are worth.

An object that is moved by its own keyframes alone (and its parents likewise) is computed from the F-curves; it costs
microseconds per frame and touches nothing. Everything else (constraints, drivers, NLA, physics, frame handlers) is
read from the scene frame by frame. Both ways give the same matrices.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import bpy
import numpy as np

from ...properties.bridge.fcurves import channelbag as channelbag
from ...properties.bridge.fcurves import fcurves as fcurves
from ...properties.handlers import others_handle, posing_paused
from ...robokin import RobokinError
from ...robokin.arrays import Array

_ROTATION_PATHS = {"QUATERNION": "rotation_quaternion", "AXIS_ANGLE": "rotation_axis_angle"}
# Animated properties of an object that do not move it; any other unknown one sends the object down the slow road.
_HARMLESS = ("[", "hide_", "color", "robokin.", "pose.bones[", "show_", "pass_index", "display_type")


def keyed_only(owner: bpy.types.ID, concerns: Callable[[str], bool]) -> bool:
    """Whether the values of `owner` at the data paths that `concerns` accepts are those of its F-curves, where they
    are animated at all: no NLA, no drivers, nothing scripted."""
    if others_handle("frame_change_pre") or others_handle("frame_change_post"):
        return False
    if any(stretched(scene) for scene in bpy.data.scenes):
        return False
    data = owner.animation_data
    if data is None:
        return True
    return not (data.nla_tracks or data.use_tweak_mode or any(concerns(d.data_path) for d in data.drivers))


def stretched(scene: bpy.types.Scene) -> bool:
    """Whether frames are not the time of F-curves: Output > Frame Range > Time Stretching."""
    return scene.render.frame_map_old != scene.render.frame_map_new


def moved_by_keys_only(obj: bpy.types.Object) -> bool:
    """Whether `matrix_world` of `obj` follows from its own and its parents' F-curves alone, at every frame."""
    if not keyed_only(obj, moves) or obj.rigid_body is not None or any(not c.mute for c in obj.constraints):
        return False
    if any(obj.delta_location) or any(obj.delta_rotation_euler) or tuple(obj.delta_scale) != (1, 1, 1):
        return False
    if tuple(obj.delta_rotation_quaternion) != (1, 0, 0, 0):
        return False
    moving = ("location", "scale", rotation_path(obj))
    if any(moves(path) and path not in moving for path, _ in fcurves(obj)):
        return False
    parent = obj.parent
    if parent is None:
        return True
    return obj.parent_type == "OBJECT" and parent.type != "CURVE" and moved_by_keys_only(parent)


def stands_still(obj: bpy.types.Object) -> bool:
    """Whether nothing is known to move an object over the frames: no keys, constraints, drivers or physics, nor of its
    parents."""
    own = moved_by_keys_only(obj) and not any(moves(path) for path, _ in fcurves(obj))
    return own and (obj.parent is None or stands_still(obj.parent))


def moves(path: str) -> bool:
    """Whether an animated property of an object may move it."""
    return not path.startswith(_HARMLESS)


def rotation_path(owner: bpy.types.Object | bpy.types.PoseBone) -> str:
    """The property that holds the rotation in the owner's rotation mode."""
    return _ROTATION_PATHS.get(owner.rotation_mode, "rotation_euler")


def property_values(owner: bpy.types.ID, path: str, size: int, frames: Sequence[float]) -> Array:
    """(n, size) values of a vector property (or (n, 1) of a number) over the frames, from its F-curves.

    Components without an F-curve keep their present value. Valid where `keyed_only` says so of the path.
    """
    present = np.atleast_1d(np.array(owner.path_resolve(path), dtype=np.float64))
    values = np.tile(present, (len(frames), 1))
    curves = fcurves(owner)
    for index in range(size):
        curve = curves.get((path, index))
        if curve is not None:
            values[:, index] = [curve.evaluate(frame) for frame in frames]
    return values


def keyed_matrices(obj: bpy.types.Object, frames: Sequence[float]) -> Array:
    """(n, 4, 4) `matrix_world` over the frames. Valid where `moved_by_keys_only(obj)`."""
    path = rotation_path(obj)
    rotation = property_values(obj, path, 3 if path == "rotation_euler" else 4, frames)
    matrices = np.zeros((len(frames), 4, 4))
    matrices[:, :3, :3] = rotation_matrices(rotation, obj.rotation_mode)
    matrices[:, :3, :3] *= property_values(obj, "scale", 3, frames)[:, None, :]
    matrices[:, :3, 3] = property_values(obj, "location", 3, frames)
    matrices[:, 3, 3] = 1.0
    if obj.parent is None:
        return matrices
    return keyed_matrices(obj.parent, frames) @ np.array(obj.matrix_parent_inverse) @ matrices


def rotation_matrices(values: Array, mode: str) -> Array:
    """(n, 3, 3) of (n, 4) quaternions or axis angles, or (n, 3) Euler angles of Blender's rotation mode."""
    if mode == "QUATERNION":
        return _from_quaternions(values / np.maximum(np.linalg.norm(values, axis=1, keepdims=True), 1e-30))
    if mode == "AXIS_ANGLE":
        length = np.linalg.norm(values[:, 1:], axis=1, keepdims=True)
        axis = np.where(length > 1e-12, values[:, 1:] / np.maximum(length, 1e-12), (0.0, 1.0, 0.0))
        half = values[:, :1] / 2
        return _from_quaternions(np.hstack((np.cos(half), np.sin(half) * axis)))
    # Blender's "XYZ" turns about x first: R = Rz Ry Rx.
    result = np.tile(np.eye(3), (len(values), 1, 1))
    for letter in mode:
        axis = "XYZ".index(letter)
        result = _about(axis, values[:, axis]) @ result
    return result


def _about(axis: int, angle: Array) -> Array:
    i, j = (axis + 1) % 3, (axis + 2) % 3
    turn = np.tile(np.eye(3), (len(angle), 1, 1))
    turn[:, i, i] = turn[:, j, j] = np.cos(angle)
    turn[:, j, i] = np.sin(angle)
    turn[:, i, j] = -turn[:, j, i]
    return turn


def _from_quaternions(unit: Array) -> Array:
    w, x, y, z = unit.T
    rows = (
        (1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)),
        (2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)),
        (2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)),
    )
    return np.moveaxis(np.array(rows), 2, 0)


@contextmanager
def frame_restored(scene: bpy.types.Scene) -> Iterator[None]:
    """Whatever frame the block visits, the scene is back where it was afterwards."""
    frame = scene.frame_current + scene.frame_subframe
    with posing_paused():
        try:
            yield
        finally:
            set_frame(scene, frame)


def set_frame(scene: bpy.types.Scene, frame: float) -> None:
    whole = int(np.floor(frame))
    scene.frame_set(whole, subframe=float(frame) - whole)


def is_evaluated(obj: bpy.types.Object, view_layer: bpy.types.ViewLayer) -> bool:
    """Whether Blender surely computes where `obj` is; else its matrix may be a stale one.

    Hiding with the eye does not matter; Disable in Viewports, of the object or a collection, and exclusion do.
    """
    shown = set(obj.users_collection).intersection(_shown_collections(view_layer.layer_collection))
    return bool(shown) and not obj.hide_viewport


def _shown_collections(layer: bpy.types.LayerCollection) -> Iterator[bpy.types.Collection]:
    if not (layer.exclude or layer.collection.hide_viewport):
        yield layer.collection
        for child in layer.children:
            yield from _shown_collections(child)


def check_evaluated(obj: bpy.types.Object, view_layer: bpy.types.ViewLayer, who: str) -> None:
    """Raise RobokinError when `is_evaluated` does not hold."""
    if not is_evaluated(obj, view_layer):
        raise RobokinError(
            f"{who}: {obj.name!r} is disabled in viewports or outside the view layer {view_layer.name!r}, "
            "so Blender does not compute where it is"
        )


def visit_frames(scene: bpy.types.Scene, frames: Sequence[float]) -> Iterator[int]:
    """Yield 0, 1, ... with the scene at each frame in turn; the present frame comes back, also on an early end."""
    with frame_restored(scene):
        for index, frame in enumerate(frames):
            set_frame(scene, frame)
            yield index


def chosen_span(scene: bpy.types.Scene, settings: bpy.types.PropertyGroup) -> tuple[int, int]:
    """(first, last) frame that a robot's settings say; the last may be before the first."""
    if settings.range != "SCENE":
        return settings.frame_start, settings.frame_end
    if scene.use_preview_range:
        return scene.frame_preview_start, scene.frame_preview_end
    return scene.frame_start, scene.frame_end


def end_span(scene: bpy.types.Scene, settings: bpy.types.PropertyGroup, last: int) -> None:
    """Let the frames that a robot's settings say end with this one."""
    if settings.range != "SCENE":
        settings.frame_end = last
    elif scene.use_preview_range:
        scene.frame_preview_end = last
    else:
        scene.frame_end = last


def after_end(scene: bpy.types.Scene, last: int) -> str:
    """What to add where keys go on to a frame that playback does not reach."""
    end = scene.frame_preview_end if scene.use_preview_range else scene.frame_end
    return f"; playback ends before, at frame {end}" if last > end else ""
