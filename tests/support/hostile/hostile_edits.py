"""What a person, a driver or a script may make of a robot's scene that is no pose and no place: zero, NaN, huge."""

from __future__ import annotations

from collections.abc import Callable

import bpy

NAN, HUGE = float("nan"), 3e38


def _object(**values: object) -> Callable[[bpy.types.Object], None]:
    def change(robot: bpy.types.Object) -> None:
        for name, value in values.items():
            setattr(robot, name, value)

    return change


def _target(**values: object) -> Callable[[bpy.types.Object], None]:
    return lambda robot: _object(**values)(robot.robokin.tasks[0].target)


def _bone(**values: object) -> Callable[[bpy.types.Object], None]:
    return lambda robot: _object(**values)(robot.pose.bones["panda_joint3"])


def _unit(value: float) -> Callable[[bpy.types.Object], None]:
    return lambda robot: setattr(bpy.context.scene.unit_settings, "scale_length", value)


def _applied(*scale: float) -> Callable[[bpy.types.Object], None]:
    def change(robot: bpy.types.Object) -> None:
        robot.scale = scale
        bpy.context.view_layer.update()
        for other in bpy.context.view_layer.objects:
            other.select_set(other == robot)
        bpy.ops.object.transform_apply(scale=True, location=False, rotation=False)

    return change


def _edited(*tail: float, head: bool = False) -> Callable[[bpy.types.Object], None]:
    def change(robot: bpy.types.Object) -> None:
        bpy.ops.object.mode_set(mode="EDIT")
        bone = robot.data.edit_bones["panda_joint3"]
        bone.tail = tail
        if head:
            bone.head = tail
        bpy.ops.object.mode_set(mode="OBJECT")

    return change


def _under_an_empty(**values: object) -> Callable[[bpy.types.Object], None]:
    def change(robot: bpy.types.Object) -> None:
        empty = bpy.data.objects.new("above", None)
        bpy.context.scene.collection.objects.link(empty)
        _object(**values)(empty)
        robot.parent = empty

    return change


def _mesh(point: float, **values: object) -> Callable[[bpy.types.Object], None]:
    """A mesh on a bone, which tasks stand on and are lit by too."""

    def change(robot: bpy.types.Object) -> None:
        data = bpy.data.meshes.new("plate")
        corners = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, point)]
        data.from_pydata(corners, [], [(0, 2, 1), (0, 1, 3), (1, 2, 3), (0, 3, 2)])
        plate = bpy.data.objects.new("plate", data)
        bpy.context.scene.collection.objects.link(plate)
        plate.parent, plate.parent_type, plate.parent_bone = robot, "BONE", "panda_joint5"
        _object(**values)(plate)
        for kind in ("SUPPORT", "LASER"):
            bpy.ops.robokin.target_add(kind=kind)
            bpy.context.view_layer.objects.active = robot
        robot.robokin.tasks[-2].target = robot.robokin.tasks[-1].surface = plate

    return change


def _curve(point: float, **values: object) -> Callable[[bpy.types.Object], None]:
    def change(robot: bpy.types.Object) -> None:
        bpy.ops.robokin.target_add(kind="CURVE")
        bpy.context.view_layer.objects.active = robot
        target = robot.robokin.tasks[-1].target
        target.data.splines[0].bezier_points[1].co.x = point
        _object(**values)(target)

    return change


EDITS: dict[str, Callable[[bpy.types.Object], None]] = {
    "location NaN": _object(location=(NAN, 0, 0)),
    "location huge": _object(location=(HUGE,) * 3),
    "rotation NaN": _object(rotation_euler=(NAN, 0, 0)),
    "scale NaN": _object(scale=(NAN, 1, 1)),
    "scale 0": _object(scale=(0, 0, 0)),
    "scale 0 in one axis": _object(scale=(0, 1, 1)),
    "scale tiny": _object(scale=(1e-30,) * 3),
    "scale large": _object(scale=(1e30,) * 3),
    "scale huge": _object(scale=(HUGE,) * 3),
    "scale 0 applied": _applied(0, 0, 0),
    "scale 0 in one axis applied": _applied(1, 1, 0),
    "scale huge applied": _applied(HUGE, HUGE, HUGE),
    "parent of scale 0": _under_an_empty(scale=(0, 0, 0)),
    "parent nowhere": _under_an_empty(location=(NAN, 0, 0)),
    "target nowhere": _target(location=(NAN, 0, 0)),
    "target of scale 0": _target(scale=(0, 0, 0)),
    "target far": _target(location=(HUGE, 0, 0)),
    "bone's angle NaN": _bone(rotation_euler=(0, NAN, 0)),
    "bone's location NaN": _bone(location=(0, NAN, 0)),
    "bone's scale 0": _bone(scale=(0, 0, 0)),
    "bone's quaternion NaN": _bone(rotation_mode="QUATERNION", rotation_quaternion=(NAN,) * 4),
    "bone's quaternion 0": _bone(rotation_mode="QUATERNION", rotation_quaternion=(0,) * 4),
    "bone's axis 0": _bone(rotation_mode="AXIS_ANGLE", rotation_axis_angle=(1, 0, 0, 0)),
    "rest NaN": _edited(NAN, 0, 0),
    "rest far": _edited(1e38, 1e38, 1e38, head=True),
    "rest of no length": _edited(0, 0, 0, head=True),
    "unit smallest": _unit(1e-9),
    "unit largest": _unit(1e9),
    "mesh NaN": _mesh(NAN),
    "mesh huge": _mesh(HUGE),
    "mesh flat": _mesh(0.0),
    "mesh nowhere": _mesh(1.0, location=(NAN, 0, 0)),
    "mesh of scale 0": _mesh(1.0, scale=(0, 0, 0)),
    "curve NaN": _curve(NAN),
    "curve huge": _curve(HUGE),
    "curve of scale 0": _curve(1.0, scale=(0, 0, 0)),
    "curve nowhere": _curve(1.0, rotation_euler=(NAN, 0, 0)),
}
