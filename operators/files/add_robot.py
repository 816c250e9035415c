"""Add > Armature > Robot: robots of the library."""

from __future__ import annotations

import math

import bpy

from ...properties.bridge import import_robot
from ...properties.registration import registration
from ...robokin.library import ROBOTS, library_robot
from ..common import ReportingOperator, report_robot
from .first_look import show, stand
from .import_urdf import ROOTS


class ROBOKIN_OT_add_robot(ReportingOperator, bpy.types.Operator):
    """Add a robot with published geometry, limits and masses at the 3D cursor"""

    bl_idname = "robokin.add_robot"
    bl_label = "Add Robot"

    robot: bpy.props.EnumProperty(
        name="Robot",
        description="Which robot of the library",
        items=[(robot.name, robot.label, robot.description) for robot in ROBOTS.values()],
        default="panda",
    )
    root: bpy.props.EnumProperty(
        name="Base",
        description="How the robot's base moves",
        items=(("own", "Its Own", "As the robot is built: on its wheels if it has any, else fixed"), *ROOTS),
    )
    meshes: bpy.props.BoolProperty(name="Shapes", description="Show what the links look like", default=True)

    @classmethod
    def description(cls, context: bpy.types.Context, properties: bpy.types.OperatorProperties) -> str:
        return ROBOTS[properties.robot].description

    def work(self, context: bpy.types.Context) -> set[str]:
        model = library_robot(self.robot, "" if self.root == "own" else self.root)
        obj, warnings = import_robot(context, model, meshes=self.meshes)
        obj.location = context.scene.cursor.location
        # The axes of the robot's text stay its own; the object stands it up.
        if ROBOTS[self.robot].up == "y":
            obj.rotation_euler = (math.pi / 2.0, 0.0, 0.0)
        context.view_layer.update()
        stand(context, obj)
        report_robot(self, obj, model, warnings, notes=show(context, obj))
        return {"FINISHED"}

    def draw(self, context: bpy.types.Context) -> None:
        self.draw_properties("robot", "root", "meshes")


class ROBOKIN_MT_add_robot(bpy.types.Menu):
    bl_idname = "ROBOKIN_MT_add_robot"
    bl_label = "Robot"

    def draw(self, context: bpy.types.Context) -> None:
        for robot in ROBOTS.values():
            self.layout.operator(ROBOKIN_OT_add_robot.bl_idname, text=robot.label).robot = robot.name
        self.layout.separator()
        self.layout.menu("ROBOKIN_MT_add_example")


CLASSES = (ROBOKIN_OT_add_robot, ROBOKIN_MT_add_robot)


def draw_menu_item(menu: bpy.types.Menu, context: bpy.types.Context) -> None:
    if context.mode == "OBJECT":
        menu.layout.menu(ROBOKIN_MT_add_robot.bl_idname, icon="OUTLINER_OB_ARMATURE")


register, unregister = registration(CLASSES, (bpy.types.VIEW3D_MT_armature_add, draw_menu_item))
