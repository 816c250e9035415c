"""A robot's program: `Object.robokin.moves`, made into keys by Bake Moves."""

from __future__ import annotations

import bpy
from bpy.props import EnumProperty, FloatProperty, IntProperty, PointerProperty, StringProperty

from .overrides import field, static_field

MOVE_KINDS = (
    ("JOINT", "Joint Move", "All joints go to a stored posture, and arrive together", "POSE_HLT", 0),
    ("LINE", "Line", "The tip goes straight to the target, and turns evenly", "IPO_LINEAR", 1),
    ("CIRCLE", "Circle", "The tip goes along an arc by a point to the target", "MESH_CIRCLE", 2),
    ("CURVE", "Curve", "The tip goes along a curve object, and keeps its rotation", "CURVE_DATA", 4),
    ("SCREW", "Screw", "The tip goes along the screw between its pose and that of the target", "MOD_SCREW", 3),
)


class RobokinMove(bpy.types.PropertyGroup):
    """A move of a program. It begins where the one before ends, and goes from rest to rest."""

    name: field(StringProperty, "Name", "Name of the move")
    kind: static_field(EnumProperty, "Type", "Path of the move: in the joints, or of the tip", items=MOVE_KINDS)
    posture: field(StringProperty, "Posture", "Stored posture in which a joint move ends; empty: at its target")
    tip: field(StringProperty, "Tip", "Link that the move places")
    target: field(
        PointerProperty, "Target", "Object at which the tip ends, or curve that it follows", type=bpy.types.Object
    )
    via: field(PointerProperty, "Via", "Object through which the circle goes", type=bpy.types.Object)
    speed: static_field(
        FloatProperty,
        "Speed",
        "Speed, in percent of the fastest motion inside the limits",
        subtype="PERCENTAGE",
        default=100.0,
        min=1.0,
        max=100.0,
    )
    tool_speed: static_field(
        FloatProperty,
        "Tool Speed",
        "How fast the tip goes at most; 0: as fast as the joints can",
        unit="VELOCITY",
        min=0.0,
    )
    progress: field(
        FloatProperty,
        "Progress",
        "Share of the path at which the move is; key it from 0 to 1 to time the move by hand",
        min=0.0,
        max=1.0,
    )
    blend: static_field(
        FloatProperty,
        "Blend",
        "How far from its end the tip leaves for the next move, without rest; 0: it rests there",
        unit="LENGTH",
        min=0.0,
    )
    first: static_field(IntProperty, "First", "First frame that the last Bake Moves gave it")
    last: static_field(IntProperty, "Last", "Last frame that the last Bake Moves gave it")
    wait: static_field(FloatProperty, "Wait", "Pause after the move", subtype="TIME_ABSOLUTE", min=0.0, max=1000.0)


CLASSES = (RobokinMove,)
