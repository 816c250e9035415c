"""The gizmo of the active collision shape: its outline, knobs for its sizes, arrows that move it; dots on the other
shapes of the robot choose one of them. What is dragged is the operator `robokin.drag_shape`."""

from __future__ import annotations

from collections.abc import Sequence

import bpy

from ...properties.bridge.record.stored import ROBOT_KEY
from ...properties.overrides import takes_changes
from ...properties.selected.active_shape import active_shape
from ...robokin.arrays import Array
from ..overlays.pieces import Pieces
from ..overlays.robot_view import RobotView
from ..shapes.colors import faded
from ..shapes.on_screen import pixel_size
from .handle_gizmo import IDENTITY, THIN, HandleGroup, Placed
from .shape_handles import ShapeGrip, Tints, dot_of, grips_of

HANDLES = 11  # of a box: itself, six faces, the radius of its corners, three arrows
DOTS = 64  # shapes that can be chosen beside the active one, those of its link first


def tints_of(preferences: bpy.types.Preferences) -> Tints:
    theme = preferences.themes[0].user_interface

    def opaque(name: str) -> tuple[float, ...]:
        return (*getattr(theme, name)[:3], 1.0)

    axes = (opaque("axis_x"), opaque("axis_y"), opaque("axis_z"))
    return Tints(opaque("gizmo_primary"), faded(opaque("gizmo_primary"), 0.7), axes, opaque("gizmo_secondary"))


class ROBOKIN_GGT_shape(HandleGroup, bpy.types.GizmoGroup):
    bl_idname = "ROBOKIN_GGT_shape"
    bl_label = "Collision Shape"
    most = HANDLES + DOTS

    @classmethod
    def shown(cls, context: bpy.types.Context) -> tuple | None:
        obj, settings = context.object, context.scene.robokin.overlays
        if obj is None or context.mode not in ("POSE", "OBJECT") or obj.type != "ARMATURE":
            return None
        if ROBOT_KEY not in obj.data or not (settings.show and settings.shape_gizmo and takes_changes(obj)):
            return None
        bone = obj.data.bones.active
        return obj.session_uid, "" if bone is None else bone.name, obj.robokin.active_shape

    def handles(self, context: bpy.types.Context, view: RobotView, perspective: Array, width: float) -> list[ShapeGrip]:
        """Raises RobokinError."""
        structure = view.structure
        if structure is None:
            return []
        robot, tints, found = structure.robot, tints_of(context.preferences), list[ShapeGrip]()
        active = active_shape(context.object)
        chosen = None if active is None else active[:2]
        order = sorted(range(len(robot.bones)), key=lambda k: active is None or robot.bones[k] != active[0])
        dots = list[ShapeGrip]()
        for k in order:
            link = view.links[k]
            for index, geometry in enumerate(robot.model.links[k].collisions):
                pixel = pixel_size((link @ geometry.placement)[:3, 3], perspective, width)
                if (robot.bones[k], index) == chosen:
                    found += grips_of(geometry, link, pixel, tints)
                elif len(dots) < DOTS:
                    dots.append(dot_of(robot.bones[k], index, geometry, link, pixel, tints))
        return found + dots

    def parts(self, handles: Sequence[ShapeGrip]) -> Sequence[Placed]:
        """All of them at once, but for what is only seen."""
        seen, dragged = Pieces(), Pieces()
        for handle in handles:
            (seen if handle.operates is None else dragged).add(handle.pieces)
        return Placed(IDENTITY, seen, THIN), Placed(IDENTITY, dragged)


CLASSES = (ROBOKIN_GGT_shape,)
