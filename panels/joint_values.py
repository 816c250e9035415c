"""All joints with their values, one slider each over the joint's range; the values of the chosen one can be typed."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import bpy

from ..properties.bridge.model.channels import LOCATION, OWN
from ..properties.joint_values.ball_angles import ANGLES, angles_text
from ..properties.joint_values.joint_range import RANGE
from ..robokin.structure.short_names import abbreviated
from .prepared.joint_rows import JointRow, blocking_bones, joint_rows, value_text
from .prepared.robot_panel import RobotPanel, draw_text, row_letters

# Of the width of a row, of a name: angles have room with their percentage; beside a scroll bar and lengths, or where
# all names fit it.
NAMES, NARROW = 0.44, 0.38
MOST_NAME = 0.7  # beside values that are a text
MARGIN, BAR, LEAST = 1, 6, 12  # letters for Blender's own margins, for a scroll bar, of a row
MOST = 12  # rows that are shown at once


class ROBOKIN_UL_joint_values(bpy.types.UIList):
    """The robot's pose bones that carry a joint. The triangle below the list opens a filter by name."""

    bl_idname = "ROBOKIN_UL_joint_values"
    # Of the robot whose panel is being drawn:
    rows: Mapping[str, JointRow] = {}
    blocking: Collection[str] = ()
    share = NAMES  # of a name
    letters = 1  # of the whole row

    def filter_items(self, context, data, property) -> tuple[list[int], list[int]]:
        bones, shown, rows = getattr(data, property), self.bitflag_filter_item, ROBOKIN_UL_joint_values.rows
        flags = [shown if name in rows else 0 for name in bones.keys()]
        if self.filter_name:
            named = bpy.types.UI_UL_list.filter_items_by_name(self.filter_name, shown, bones, "name")
            flags = [flag & found for flag, found in zip(flags, named, strict=True)]
        return flags, []

    def draw_item(self, context, layout, data, item, icon, active_data, active_property, index=0, flt_flag=0) -> None:
        own = ROBOKIN_UL_joint_values
        row = own.rows.get(item.name)
        if row is None:
            return
        row_layout = layout.row(align=True)
        share = own.share
        if not row.ranged and (row.follows or len(row.channels) > 1):  # too many fields to read
            share = max(share, min((len(row.name) + MARGIN) / own.letters, MOST_NAME))
        split = row_layout.split(factor=share)
        if row.follows:
            split.active = False
        if own.blocking and item.name in own.blocking:
            split.alert = True
        split.label(text=abbreviated(row.name, round(share * own.letters) - MARGIN))
        if row.ranged:
            split.prop(item, RANGE, text=value_text(context.scene, item, row.channels[0][1]), slider=True)
        elif row.ball and not row.places:
            split.label(text=angles_text(item))
        elif row.follows or len(row.channels) > 1:  # of a floating base where it is
            shown = row.places if row.ball else row.channels
            split.label(text=" ".join(value_text(context.scene, item, channel) for _, channel in shown))
        else:
            for label, channel in row.channels:
                field = split.row(align=True)
                field.enabled = channel.role == OWN
                field.prop(item, channel.path, index=channel.index, text=label)
        if row.lockable:
            joint = item.bone.robokin
            row_layout.prop(joint, "locked", text="", icon="LOCKED" if joint.locked else "UNLOCKED", emboss=False)
        else:
            row_layout.label(text="", icon="BLANK1")


class ROBOKIN_PT_joint_values(RobotPanel, bpy.types.Panel):
    bl_label = "Joint Values"
    bl_idname = "ROBOKIN_PT_joint_values"
    page = "POSE"
    bl_order = 1

    def draw_robot(self, context: bpy.types.Context, layout: bpy.types.UILayout, obj: bpy.types.Object) -> None:
        layout.use_property_split = False
        rows = joint_rows(obj)
        own = ROBOKIN_UL_joint_values
        own.rows, own.blocking = rows, blocking_bones(obj)
        is_enough = max((len(row.name) for row in rows.values()), default=0) <= row_letters(context, NARROW)
        has_lengths = any(row.ranged and row.channels[0][1].path == LOCATION for row in rows.values())
        has_bar = len(rows) > MOST
        own.share = NARROW if is_enough or (has_lengths and has_bar) else NAMES
        own.letters = max(row_letters(context, 1.0) - BAR * has_bar, LEAST)
        layout.template_list(
            "ROBOKIN_UL_joint_values",
            "",
            obj.pose,
            "bones",
            obj.robokin,
            "active_joint",
            rows=min(max(len(rows), 3), MOST),
            maxrows=MOST,
        )
        bones, active = obj.pose.bones, obj.robokin.active_joint
        chosen = bones[active] if 0 <= active < len(bones) else None
        row = rows.get(chosen.name) if chosen is not None else None
        if row is not None and row.follows:
            draw_text(context, layout, f"Follows {row.follows}", "LINKED")
        elif row is not None:
            _draw_chosen(layout, chosen, row)


def _draw_chosen(layout: bpy.types.UILayout, bone: bpy.types.PoseBone, row: JointRow) -> None:
    """The values of a joint, to be typed and keyed. Several have the whole width: the list says whose they are."""
    fields = layout.row(align=True)
    if len(row.channels) == 1:
        line = fields.split(factor=NAMES)
        line.label(text=row.name)
        fields = line.row(align=True)
    if row.ball:
        fields.prop(bone, ANGLES, text="")
        fields = layout.row(align=True)
    for label, channel in row.places if row.ball else row.channels:
        field = fields.row(align=True)
        field.enabled = channel.role == OWN
        field.prop(bone, channel.path, index=channel.index, text="" if len(row.channels) > 2 else label)


CLASSES = (ROBOKIN_UL_joint_values, ROBOKIN_PT_joint_values)
register, unregister = bpy.utils.register_classes_factory(CLASSES)
