"""A robot's program: `Object.robokin.moves`, made into keys by Bake Moves."""

from __future__ import annotations

import bpy

from .overrides import STATIC, VALUE

MOVE_KINDS = (
    ("JOINT", "Joint Move", "All joints go to a stored posture, and arrive together", "POSE_HLT", 0),
    ("LINE", "Line", "The tip goes straight to the target, and turns evenly", "IPO_LINEAR", 1),
    ("CIRCLE", "Circle", "The tip goes along an arc by a point to the target", "MESH_CIRCLE", 2),
    ("CURVE", "Curve", "The tip goes along a curve object, and keeps its rotation", "CURVE_DATA", 4),
    ("SCREW", "Screw", "The tip goes along the screw between its pose and that of the target", "MOD_SCREW", 3),
)


class RobokinMove(bpy.types.PropertyGroup):
    """A move of a program. It begins where the one before ends, and goes from rest to rest."""

    name: bpy.props.StringProperty(override=VALUE, name="Name", description="Name of the move")
    kind: bpy.props.EnumProperty(
        override=VALUE,
        options=STATIC,
        name="Type",
        description="Path of the move: in the joints, or of the tip",
        items=MOVE_KINDS,
    )
    posture: bpy.props.StringProperty(
        override=VALUE, name="Posture", description="Stored posture in which a joint move ends"
    )
    tip: bpy.props.StringProperty(override=VALUE, name="Tip", description="Link that the move places")
    target: bpy.props.PointerProperty(
        override=VALUE,
        type=bpy.types.Object,
        name="Target",
        description="Object at which the tip ends, or curve that it follows",
    )
    via: bpy.props.PointerProperty(
        override=VALUE, type=bpy.types.Object, name="Via", description="Object through which the circle goes"
    )
    speed: bpy.props.FloatProperty(
        override=VALUE,
        options=STATIC,
        name="Speed",
        description="Speed, in percent of the fastest motion inside the limits",
        subtype="PERCENTAGE",
        default=100.0,
        min=1.0,
        max=100.0,
    )
    tool_speed: bpy.props.FloatProperty(
        override=VALUE,
        options=STATIC,
        name="Tool Speed",
        description="How fast the tip goes at most; 0: as fast as the joints can",
        unit="VELOCITY",
        min=0.0,
    )
    progress: bpy.props.FloatProperty(
        override=VALUE,
        name="Progress",
        description="Share of the path at which the move is; key it from 0 to 1 to time the move by hand",
        min=0.0,
        max=1.0,
    )
    blend: bpy.props.FloatProperty(
        override=VALUE,
        options=STATIC,
        name="Blend",
        description="How far from its end the tip leaves for the next move, without rest; 0: it rests there",
        unit="LENGTH",
        min=0.0,
    )
    first: bpy.props.IntProperty(
        override=VALUE, options=STATIC, name="First", description="First frame that the last Bake Moves gave it"
    )
    last: bpy.props.IntProperty(
        override=VALUE, options=STATIC, name="Last", description="Last frame that the last Bake Moves gave it"
    )
    wait: bpy.props.FloatProperty(
        override=VALUE,
        options=STATIC,
        name="Wait",
        description="Pause after the move",
        subtype="TIME_ABSOLUTE",
        min=0.0,
        max=1000.0,
    )


CLASSES = (RobokinMove,)
