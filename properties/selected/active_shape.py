"""The active collision shape of the active bone: `Object.robokin.shape` shows its sizes and place, and takes others.

Nothing is stored here but which shape it is: the shapes are in the records of the bones.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import bpy
import numpy as np
from bpy.props import FloatProperty, FloatVectorProperty
from mathutils import Euler, Matrix

from ...robokin import RobokinError
from ...robokin.arrays import Array
from ...robokin.collision.shape_handles import FACES, RADIUS, TOP, box_of, corner_radius, value_of, with_value
from ...robokin.model.geometry import Box, Geometry
from ..bridge import binding
from ..bridge.editing.link_shapes import link_shapes, put_link_shapes


def shape_bone(obj: bpy.types.Object) -> str | None:
    """The active bone, as that which has the joint; None where it has none. Raises BridgeError, ModelError."""
    robot = binding(obj)
    bone = obj.data.bones.active
    return robot.own_bone(bone.name) if bone is not None and bone.name in robot.joint_of_bone else None


def active_shape(obj: bpy.types.Object) -> tuple[str, int, Geometry] | None:
    """(bone, which of its shapes, the shape [m]); None where the active bone has none. Raises BridgeError."""
    bone = shape_bone(obj)
    shapes = link_shapes(obj, bone) if bone else ()
    if not bone or not shapes:
        return None
    index = min(obj.robokin.active_shape, len(shapes) - 1)
    return bone, index, shapes[index]


def put_shape(obj: bpy.types.Object, bone: str, index: int, geometry: Geometry) -> None:
    """Replace one of the shapes of a bone. Raises BridgeError, ModelError."""
    shapes = list(link_shapes(obj, bone))
    shapes[index] = geometry
    put_link_shapes(obj, {bone: shapes})


def _shown(read: Callable[[Geometry, float], object], otherwise: object) -> Callable:
    def get(settings: RobokinShape) -> object:
        try:
            found = active_shape(settings.id_data)
            return otherwise if found is None else read(found[2], binding(settings.id_data).metres_per_unit)
        except RobokinError:  # the panel says why
            return otherwise

    return get


def _taken(changed: Callable[[Geometry, float | Array, float], Geometry]) -> Callable:
    def put(settings: RobokinShape, value: float | Sequence[float]) -> None:
        obj = settings.id_data
        try:
            found = active_shape(obj)
            if found is not None:
                own = changed(found[2], np.array(value, float), binding(obj).metres_per_unit)
                put_shape(obj, found[0], found[1], own)
        except RobokinError:
            return

    return put


def _number(handle: str) -> dict[str, Callable]:
    """`get` and `set` of the value of a handle; 0 where the shape has not such a one."""

    def read(geometry: Geometry, unit: float) -> float:
        try:
            return value_of(geometry, handle) / unit
        except RobokinError:
            return 0.0

    def changed(geometry: Geometry, value: Array, unit: float) -> Geometry:
        return _placed(with_value(geometry, handle, float(value) * unit), geometry.placement)  # its centre stays

    return {"get": _shown(read, 0.0), "set": _taken(changed)}


def _size(geometry: Geometry, unit: float) -> list[float]:
    is_box = isinstance(geometry.shape, Box)
    return [value_of(geometry, face) / unit for face in FACES[::2]] if is_box else [0.0] * 3


def _sized(geometry: Geometry, value: Array, unit: float) -> Geometry:
    if not isinstance(geometry.shape, Box):
        return geometry
    return Geometry(box_of(value * unit, corner_radius(geometry.shape)), geometry.placement, None, geometry.name)


def _placed(geometry: Geometry, placement: Array) -> Geometry:
    return Geometry(geometry.shape, placement, geometry.material, geometry.name)


def _location(geometry: Geometry, unit: float) -> list[float]:
    return (geometry.placement[:3, 3] / unit).tolist()


def _rotation(geometry: Geometry, unit: float) -> list[float]:
    return list(Matrix(geometry.placement[:3, :3]).to_euler())


def _located(geometry: Geometry, value: Array, unit: float) -> Geometry:
    placement = np.array(geometry.placement)
    placement[:3, 3] = value * unit
    return _placed(geometry, placement)


def _turned(geometry: Geometry, value: Array, unit: float) -> Geometry:
    placement = np.array(geometry.placement)
    placement[:3, :3] = np.array(Euler(value).to_matrix())
    left, _, right = np.linalg.svd(placement[:3, :3])  # Blender's matrices have single precision
    placement[:3, :3] = left @ right
    return _placed(geometry, placement)


class RobokinShape(bpy.types.PropertyGroup):
    """The active shape of the active bone, in Blender units. What it has not is 0."""

    radius: FloatProperty(
        name="Radius",
        description="Of a sphere, a capsule, a cylinder; of the corners of a box, which keeps its size; around a hull",
        unit="LENGTH",
        min=0.0,
        precision=4,
        options=set(),
        **_number(RADIUS),
    )
    length: FloatProperty(
        name="Length",
        description="Of a cylinder, or of a capsule without its caps",
        unit="LENGTH",
        min=0.0,
        precision=4,
        options=set(),
        **_number(TOP),
    )
    size: FloatVectorProperty(
        name="Size",
        description="Edges of a box, with its round corners",
        subtype="XYZ_LENGTH",
        size=3,
        min=0.0,
        precision=4,
        options=set(),
        get=_shown(_size, [0.0] * 3),
        set=_taken(_sized),
    )
    location: FloatVectorProperty(
        name="Location",
        description="Of its center, in the axes of the link",
        subtype="XYZ_LENGTH",
        size=3,
        precision=4,
        options=set(),
        get=_shown(_location, [0.0] * 3),
        set=_taken(_located),
    )
    rotation: FloatVectorProperty(
        name="Rotation",
        description="About the axes of the link, first X, then Y, then Z",
        subtype="EULER",
        size=3,
        options=set(),
        get=_shown(_rotation, [0.0] * 3),
        set=_taken(_turned),
    )


CLASSES = (RobokinShape,)
