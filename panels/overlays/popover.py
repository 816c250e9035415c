"""The popover of overlays in the header of the 3D view, beside Blender's own."""

from __future__ import annotations

import bpy

from ...properties.bridge.record.stored import ROBOT_KEY
from ...properties.registration import registration


class ROBOKIN_PT_overlays(bpy.types.Panel):
    bl_label = "Robot Overlays"
    bl_idname = "ROBOKIN_PT_overlays"
    bl_space_type = "VIEW_3D"
    bl_region_type = "HEADER"
    bl_ui_units_x = 12

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.layout
        settings = context.scene.robokin.overlays
        layout.label(text="Robot Overlays")
        column = layout.column()
        column.active = settings.show
        row = column.row(align=True)
        row.prop(settings, "xray", toggle=True)
        row.prop(settings, "selected_only", toggle=True)
        column.label(text="Joints")
        grid = column.grid_flow(columns=2, even_columns=True, row_major=True, align=True)
        for name in ("axes", "names", "limits", "joint_gizmo"):
            grid.prop(settings, name)
        column.label(text="Robot")
        column.prop(settings, "center_of_mass")
        _with_setting(column, settings, "manipulability", ("manipulability_scale",))
        row = column.row(align=True)
        row.prop(settings, "collisions")
        row.prop(settings, "shape_gizmo")
        column.prop(settings, "task_errors")
        column.label(text="Motion")
        _with_setting(column, settings, "path", ("path_color",))
        column.prop(settings, "moves")
        column.prop(settings, "problem_frames")
        _with_setting(column, settings, "ghosts", ("ghost_count", "ghost_step"))


def _with_setting(
    layout: bpy.types.UILayout, settings: bpy.types.PropertyGroup, name: str, own: tuple[str, ...]
) -> None:
    row = layout.row(align=True)
    row.prop(settings, name)
    values = row.row(align=True)
    values.active = getattr(settings, name)
    for each in own:
        values.prop(settings, each, text="" if len(own) == 1 else None)


def _draw_header(header: bpy.types.Header, context: bpy.types.Context) -> None:
    if not any(ROBOT_KEY in armature for armature in bpy.data.armatures):
        return
    row = header.layout.row(align=True)
    row.prop(context.scene.robokin.overlays, "show", text="", icon="OUTLINER_OB_ARMATURE")
    row.popover(ROBOKIN_PT_overlays.bl_idname, text="")


CLASSES = (ROBOKIN_PT_overlays,)
register, unregister = registration(CLASSES, (bpy.types.VIEW3D_HT_header, _draw_header))
