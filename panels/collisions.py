"""The sidebar's Collisions panel: shapes of the links, obstacles, paths around them."""

from __future__ import annotations

import bpy

from ..properties.bridge import robot_model
from ..properties.collection import marked_collections
from ..robokin import RobokinError
from ..robokin.model.geometry import Mesh
from .prepared.joint_rows import common_start
from .prepared.robot_panel import RobotPanel

_SHOWN = 8  # obstacles listed


class ROBOKIN_UL_link_pairs(bpy.types.UIList):
    bl_idname = "ROBOKIN_UL_link_pairs"

    def draw_item(self, context, layout, data, item, icon, active_data, active_property, index=0, flt_flag=0) -> None:
        start = common_start({name for pair in data.link_pairs for name in (pair.link_a, pair.link_b)})
        layout.use_property_split = False
        row = layout.split(factor=0.72)
        left = row.row(align=True)
        left.prop(item, "may_touch", text="")
        left.label(text=f"{item.link_a[start:]} \u2013 {item.link_b[start:]}")
        row.label(text=item.reason)


class ROBOKIN_PT_collisions(RobotPanel, bpy.types.Panel):
    bl_label = "Collisions"
    bl_idname = "ROBOKIN_PT_collisions"
    page = "ROBOT"
    bl_order = 8
    bl_options = {"DEFAULT_CLOSED"}

    def draw_robot(self, context: bpy.types.Context, layout: bpy.types.UILayout, obj: bpy.types.Object) -> None:
        try:
            links = [link for link in robot_model(obj).links if link.collisions]
        except RobokinError:
            return  # the panel Robot says what is wrong
        count = sum(len(link.collisions) for link in links)
        text = f"{count} shapes on {len(links)} links" if links else "No link has a collision shape"
        layout.label(text=text, icon="MESH_CAPSULE")
        if links:
            _draw_pairs(layout, obj.robokin)
        layout.operator_menu_enum("robokin.fit_collisions", "shape", icon="MOD_MESHDEFORM")
        if any(isinstance(each.shape, Mesh) for link in links for each in link.collisions):
            menu = layout.operator_menu_enum("robokin.fit_collisions", "shape", text="Fit to Collision Meshes")
            menu.around = "COLLISIONS"
        row = layout.row(align=True)
        row.operator("robokin.obstacle", icon="MESH_CUBE")
        row.operator("robokin.obstacle", text="", icon="X").clear = True
        collection = context.collection
        row = layout.row()
        row.use_property_split = False
        row.prop(collection.robokin, "is_obstacle", text=f"All in {collection.name}")
        obstacles = [each.name for each in context.scene.objects if each.robokin.is_obstacle]
        obstacles += [f"All in {each.name}" for each in marked_collections(context.scene) if each != collection]
        for name in obstacles[:_SHOWN]:
            layout.label(text=name, icon="OBJECT_DATA")
        if len(obstacles) > _SHOWN:
            layout.label(text=f"and {len(obstacles) - _SHOWN} more obstacles")
        layout.prop(obj.robokin.solver, "avoid_collisions")
        layout.prop(obj.robokin.solver, "collision_margin")
        layout.operator("robokin.plan_path", icon="CURVE_PATH")


def _draw_pairs(layout: bpy.types.UILayout, robot: bpy.types.PropertyGroup) -> None:
    if robot.link_pairs:
        layout.label(text="May touch:")
        row = layout.row()
        row.template_list("ROBOKIN_UL_link_pairs", "", robot, "link_pairs", robot, "active_link_pair", rows=3)
        buttons = row.column(align=True)
        buttons.operator("robokin.link_pair_add", text="", icon="ADD")
        buttons.operator("robokin.link_pair_remove", text="", icon="REMOVE")
    layout.operator("robokin.find_touching", icon="LINENUMBERS_ON")


CLASSES = (ROBOKIN_UL_link_pairs, ROBOKIN_PT_collisions)
register, unregister = bpy.utils.register_classes_factory(CLASSES)
