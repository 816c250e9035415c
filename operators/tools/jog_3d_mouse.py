"""Jog by a 3D mouse: the tool goes and turns as the cap of the device is pushed and turned, seen in the view."""

from __future__ import annotations

import math

import bpy
import numpy as np
from mathutils import Vector

from ...properties.bridge import binding, write_configuration
from ...properties.handlers import posing_paused
from ...properties.selected.active_robot import active_robot
from ...properties.selected.tips import moved_tool
from ...robokin import RobokinError
from ...robokin.spatial import so3
from ...scene.posing.link_pull import LinkPull
from ..common import RobotOperator
from .gesture import settle
from .jog import FINE, ROBOKIN_OT_jog

SPEED, TURNS = 0.25, 0.25  # [m/s] in the world, of a cap that is pushed all the way; of a turn that Blender reports


class ROBOKIN_OT_jog_3d_mouse(RobotOperator, bpy.types.Operator):
    """Move and turn the tool with a 3D mouse, along and about the axes of the view"""

    bl_idname = "robokin.jog_3d_mouse"
    bl_label = "Jog by 3D Mouse"
    bl_options = {"REGISTER", "UNDO_GROUPED"}
    bl_undo_group = "Jog"

    def run(self, context: bpy.types.Context, obj: bpy.types.Object) -> set[str]:
        raise RobokinError(f"{self.bl_label} needs the events of a 3D mouse")

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        tool = context.workspace.tools.from_space_view3d_mode("POSE")
        frame = None if tool is None else tool.operator_properties(ROBOKIN_OT_jog.bl_idname).frame
        if frame in (None, "JOINT") or event.ndof_motion is None:
            return {"PASS_THROUGH"}  # it moves the view, as everywhere
        try:
            self.go(context, active_robot(context), event.ndof_motion, FINE if event.shift else 1.0)
        except RobokinError as error:
            self.report({"INFO"}, str(error))
            return {"CANCELLED"}
        return {"FINISHED"}

    def go(
        self, context: bpy.types.Context, obj: bpy.types.Object, motion: bpy.types.NDOFMotionEventData, share: float
    ) -> None:
        """One event of the device. Raises RobokinError where the tool cannot go on."""
        into_world, seconds = context.region_data.view_rotation, share * motion.time_delta
        pull = LinkPull(obj, moved_tool(obj, binding(obj)))
        T = pull.grip.copy()
        step = SPEED * seconds / context.scene.unit_settings.scale_length
        T[:3, 3] += step * np.array(into_world @ Vector(motion.translation))
        turn = np.array(into_world @ Vector(motion.rotation)) * 2.0 * math.pi * TURNS * seconds
        T[:3, :3] = so3.exp(turn) @ T[:3, :3]
        q = pull.to(T)
        if not pull.is_met:
            raise RobokinError("the tool cannot go on that way: its joints are at their limits, or it is stretched out")
        with posing_paused():
            write_configuration(obj, q)
            settle(context, obj)
        context.area.tag_redraw()


CLASSES = (ROBOKIN_OT_jog_3d_mouse,)
register, unregister = bpy.utils.register_classes_factory(CLASSES)
