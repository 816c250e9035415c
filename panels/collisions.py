"""The sidebar's Collisions panel: shapes of the links, obstacles, ways around them."""

from __future__ import annotations

import bpy

from ..properties.bridge import robot_model
from ..robokin import RobokinError
from .prepared.robot_panel import RobotPanel

_SHOWN = 8  # obstacles listed


class ROBOKIN_PT_collisions(RobotPanel, bpy.types.Panel):
    bl_label = "Collisions"
    bl_idname = "ROBOKIN_PT_collisions"
    page = "ROBOT"
    bl_order = 8
    bl_options = {"DEFAULT_CLOSED"}

    def draw_robot(self, context: bpy.types.Context, layout: bpy.types.UILayout, obj: bpy.types.Object) -> None:
        try:
            shapes = [len(link.collisions) for link in robot_model(obj).links if link.collisions]
        except RobokinError:
            return  # the panel Robot says what is wrong
        told = f"{sum(shapes)} shapes on {len(shapes)} links" if shapes else "No link has a collision shape"
        layout.label(text=told, icon="MESH_CAPSULE")
        layout.operator_menu_enum("robokin.fit_collisions", "shape", icon="MOD_MESHDEFORM")
        row = layout.row(align=True)
        row.operator("robokin.obstacle", icon="MESH_CUBE")
        row.operator("robokin.obstacle", text="", icon="X").clear = True
        obstacles = [each for each in context.scene.objects if each.type == "MESH" and each.robokin.is_obstacle]
        for each in obstacles[:_SHOWN]:
            layout.label(text=each.name, icon="OBJECT_DATA")
        if len(obstacles) > _SHOWN:
            layout.label(text=f"and {len(obstacles) - _SHOWN} more obstacles")
        layout.prop(obj.robokin.solver, "collision_margin")
        layout.operator("robokin.plan_path", icon="CURVE_PATH")


CLASSES = (ROBOKIN_PT_collisions,)
register, unregister = bpy.utils.register_classes_factory(CLASSES)
