"""All joints with their values: fields that are dragged, typed and keyed, and where each stands in its range."""

from __future__ import annotations

import bpy

from ..properties.bridge.model.channels import OWN
from ..properties.joint_range import share_of_range
from .joint_rows import joint_rows
from .prepared import RobotPanel, clipped

NAMES = 0.42  # of the width of a row


class ROBOKIN_UL_joint_values(bpy.types.UIList):
    """The robot's pose bones that carry a joint. The triangle below the list opens a filter by name."""

    bl_idname = "ROBOKIN_UL_joint_values"

    def filter_items(self, context, data, property) -> tuple[list[int], list[int]]:
        bones = getattr(data, property)
        shown = joint_rows(data.id_data)
        flags = bpy.types.UI_UL_list.filter_items_by_name(self.filter_name, self.bitflag_filter_item, bones, "name")
        flags = flags or [self.bitflag_filter_item] * len(bones)
        return [flag if bone.name in shown else 0 for flag, bone in zip(flags, bones, strict=True)], []

    def draw_item(self, context, layout, data, item, icon, active_data, active_property, index=0, flt_flag=0) -> None:
        row = joint_rows(item.id_data).get(item.name)
        if row is None:
            return
        split = layout.split(factor=NAMES)
        split.active = not row.follows
        split.label(text=clipped(context, item.name, NAMES))
        line = split.row(align=True)
        for label, channel in row.channels:
            field = line.row(align=True)
            field.enabled = channel.role == OWN
            field.prop(item, channel.path, index=channel.index, text=label)
        if row.ranged:
            bar = line.row(align=True)
            bar.ui_units_x = 2.0
            bar.progress(factor=share_of_range(item), text="")
        if len(row.channels) == 1 and not row.follows:
            path, at = row.channels[0][1].path, row.channels[0][1].index
            line.prop_decorator(item, path, index=at)


class ROBOKIN_PT_joint_values(RobotPanel, bpy.types.Panel):
    bl_label = "Joint Values"
    bl_idname = "ROBOKIN_PT_joint_values"
    bl_order = 1

    def draw_robot(self, context: bpy.types.Context, layout: bpy.types.UILayout, obj: bpy.types.Object) -> None:
        layout.use_property_split = False
        count = min(max(len(joint_rows(obj, fresh=True)), 3), 12)
        layout.template_list(
            "ROBOKIN_UL_joint_values", "", obj.pose, "bones", obj.robokin, "active_joint", rows=count, maxrows=12
        )


CLASSES = (ROBOKIN_UL_joint_values, ROBOKIN_PT_joint_values)
register, unregister = bpy.utils.register_classes_factory(CLASSES)
