"""The switch of Live and what following comes to, as a row that any panel may draw."""

from __future__ import annotations

import bpy

from ..properties.results import readouts
from .prepared.robot_panel import draw_text
from .why import draw_why


def draw_live(context: bpy.types.Context, layout: bpy.types.UILayout, obj: bpy.types.Object) -> None:
    """Nothing for a robot without tasks, which has nothing to follow."""
    if not obj.robokin.tasks:
        return
    column = layout.column()
    column.use_property_split = False
    column.prop(obj.robokin, "live", toggle=True, icon="REC" if obj.robokin.live else "RADIOBUT_OFF")
    readout = readouts.live(obj) if obj.robokin.live else None
    if readout is None:
        return
    row = column.column(align=True)
    row.alert = not readout.is_met
    draw_text(context, row, readout.text, "CHECKMARK" if readout.is_met else "ERROR")
    if not readout.is_met:
        draw_why(column, obj)
    for note in readout.notes:
        draw_text(context, column, note, "INFO")
