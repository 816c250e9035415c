"""The sidebar's Collisions panel: shapes of the links, obstacles, paths around them."""

from __future__ import annotations

import bpy

from ..properties.bridge import is_robot, robot_model
from ..properties.bridge.editing.link_shapes import link_shapes
from ..properties.bridge.parents import with_parents
from ..properties.collection import marked_collections
from ..properties.selected.active_shape import shape_bone
from ..robokin import RobokinError
from ..robokin.model.geometry import Box, Capsule, Cylinder, Hull, Mesh, RoundedBox, Shape, Sphere
from ..robokin.structure.short_names import common_start
from ..robokin.units import counted
from .prepared.robot_panel import RobotPanel, draw_checkbox, draw_text, options

_SHOWN = 8  # obstacles listed, and shapes
_KINDS = {
    Sphere: ("Sphere", "MESH_UVSPHERE"),
    Capsule: ("Capsule", "MESH_CAPSULE"),
    Cylinder: ("Cylinder", "MESH_CYLINDER"),
    Box: ("Box", "MESH_CUBE"),
    RoundedBox: ("Rounded Box", "META_CUBE"),
    Hull: ("Hull", "MESH_ICOSPHERE"),
    Mesh: ("Mesh", "MESH_DATA"),
}


class ROBOKIN_UL_link_pairs(bpy.types.UIList):
    bl_idname = "ROBOKIN_UL_link_pairs"

    start = ""  # what all links in the list begin with, of the robot whose panel is being drawn

    def draw_item(self, context, layout, data, item, icon, active_data, active_property, index=0, flt_flag=0) -> None:
        layout.use_property_split = False
        row = layout.row(align=True)
        draw_checkbox(row, item, "may_touch")
        names = (name.removeprefix(ROBOKIN_UL_link_pairs.start) for name in (item.link_a, item.link_b))
        row.label(text=" \u2013 ".join(names))


class ROBOKIN_PT_collisions(RobotPanel, bpy.types.Panel):
    bl_label = "Collisions"
    bl_idname = "ROBOKIN_PT_collisions"
    page = "ROBOT"
    bl_order = 8
    bl_options = {"DEFAULT_CLOSED"}

    def draw_robot(self, context: bpy.types.Context, layout: bpy.types.UILayout, obj: bpy.types.Object) -> None:
        try:
            model = robot_model(obj)
        except RobokinError:
            return  # the panel Robot says what is wrong
        links = [link for link in model.links if link.collisions]
        count = sum(len(link.collisions) for link in links)
        text = (
            f"{counted(count, 'shape')} on {counted(len(links), 'link')}"
            if links
            else "No collision shape yet: fit some"
        )
        layout.label(text=text, icon="MESH_CAPSULE")
        pairs = options(layout, "robokin_link_pairs", "May Touch") if links else None
        if pairs is not None:
            listed = {name for pair in obj.robokin.link_pairs for name in (pair.link_a, pair.link_b)}
            known = listed.intersection(model.link_names)  # the others are obstacles
            ROBOKIN_UL_link_pairs.start = min(known, default="")[: common_start(known)]
            _draw_pairs(pairs, obj.robokin)
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
        if not obstacles and not collection.robokin.is_obstacle:
            draw_text(context, layout, "No obstacle yet: select objects in Object Mode, then mark them", "INFO")
        for name in obstacles[:_SHOWN]:
            layout.label(text=name, icon="OBJECT_DATA")
        if len(obstacles) > _SHOWN:
            layout.label(text=f"and {counted(len(obstacles) - _SHOWN, 'more obstacle')}")
        layout.prop(obj.robokin.solver, "avoid_collisions")
        layout.prop(obj.robokin.solver, "collision_margin")
        layout.operator("robokin.plan_path", icon="CURVE_PATH")


def draw_obstacle(layout: bpy.types.UILayout, obj: bpy.types.Object | None) -> None:
    """A button that marks the active object where it is selected, or takes its mark away; not of what hangs on a
    robot."""
    if obj is None or (obj.type != "MESH" and obj.instance_type != "COLLECTION") or not obj.select_get():
        return
    if any(map(is_robot, with_parents(obj))):
        return
    row = layout.row(align=True)
    row.label(text=obj.name, icon="MESH_CUBE")
    if obj.robokin.is_obstacle:
        row.operator("robokin.obstacle", text="Obstacle", icon="X", depress=True).clear = True
    else:
        row.operator("robokin.obstacle", text="Mark as Obstacle")


class ROBOKIN_PT_shapes(RobotPanel, bpy.types.Panel):
    bl_label = "Shapes of the Link"
    bl_idname = "ROBOKIN_PT_shapes"
    bl_parent_id = "ROBOKIN_PT_collisions"
    page = "ROBOT"
    bl_options = {"DEFAULT_CLOSED"}

    def draw_robot(self, context: bpy.types.Context, layout: bpy.types.UILayout, obj: bpy.types.Object) -> None:
        overlays = context.scene.robokin.overlays
        row = layout.row()
        row.use_property_split = False
        row.prop(overlays, "shape_gizmo", text="Edit Shapes", icon="GIZMO", toggle=True)
        try:
            bone = shape_bone(obj)
            shapes = link_shapes(obj, bone) if bone else ()
        except RobokinError:
            return  # the panel Robot says what is wrong
        if bone is None:
            draw_text(context, layout, "No bone of a joint is active: click one in Pose Mode", "INFO")
            return
        layout.label(text=bone, icon="BONE_DATA")
        active = min(obj.robokin.active_shape, len(shapes) - 1)
        row = layout.row()
        column = row.column(align=True)
        first = min(max(active - _SHOWN + 1, 0), max(len(shapes) - _SHOWN, 0))
        for index in range(first, min(first + _SHOWN, len(shapes))):
            text = shapes[index].name or _KINDS[type(shapes[index].shape)][0]
            icon = _KINDS[type(shapes[index].shape)][1]
            chosen = column.operator(
                "robokin.shape_select", text=f"{index + 1}  {text}", icon=icon, depress=index == active
            )
            chosen.index = index
        if len(shapes) > _SHOWN:
            column.label(text=f"{first + 1} to {first + _SHOWN} of {len(shapes)}")
        if not shapes:
            column.label(text="No shape")
        buttons = row.column(align=True)
        buttons.operator_menu_enum("robokin.shape_add", "kind", text="", icon="ADD")
        buttons.operator("robokin.shape_remove", text="", icon="REMOVE")
        buttons.operator("robokin.shape_duplicate", text="", icon="DUPLICATE")
        if shapes:
            _draw_shape(layout, obj.robokin.shape, shapes[active].shape)
        row = layout.row(align=True)
        row.operator("robokin.shapes_copy", text="Copy to Selected", icon="COPYDOWN")
        row.operator("robokin.shapes_mirror", text="Mirror", icon="MOD_MIRROR")


def _draw_shape(layout: bpy.types.UILayout, shown: bpy.types.PropertyGroup, shape: Shape) -> None:
    column = layout.column()
    if isinstance(shape, Mesh):
        column.label(text="A mesh counts as its convex hull", icon="INFO")
    else:
        if isinstance(shape, Box):
            column.prop(shown, "size")
        column.prop(shown, "radius")
        if isinstance(shape, Capsule | Cylinder):
            column.prop(shown, "length")
    column.prop(shown, "location")
    column.prop(shown, "rotation")


def _draw_pairs(layout: bpy.types.UILayout, robot: bpy.types.PropertyGroup) -> None:
    row = layout.row()
    row.template_list("ROBOKIN_UL_link_pairs", "", robot, "link_pairs", robot, "active_link_pair", rows=3)
    buttons = row.column(align=True)
    buttons.operator("robokin.link_pair_add", text="", icon="ADD")
    buttons.operator("robokin.link_pair_remove", text="", icon="REMOVE")
    if 0 <= robot.active_link_pair < len(robot.link_pairs):
        reason = robot.link_pairs[robot.active_link_pair].reason
        layout.label(text=f"Why: {reason or 'not said'}", icon="INFO")
    layout.operator("robokin.find_touching", icon="LINENUMBERS_ON")


CLASSES = (ROBOKIN_UL_link_pairs, ROBOKIN_PT_collisions, ROBOKIN_PT_shapes)
register, unregister = bpy.utils.register_classes_factory(CLASSES)
