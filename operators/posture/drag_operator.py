"""What operators share that a handle in the 3D view begins: one number goes along with the mouse, or is typed."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING

import bpy
import numpy as np
from bpy_extras.view3d_utils import region_2d_to_origin_3d, region_2d_to_vector_3d

from ...properties.handlers import posing_paused
from ...properties.selected.active_robot import active_robot
from ...robokin import RobokinError
from ...robokin.arrays import Array
from ..common import RobotOperator
from ..tools.snap_key import CTRL, SnapKey
from ..tools.typed import TypedNumber
from .mouse_drag import Sliding, Turning

FINE = 0.1  # of the motion of the mouse, with Shift


class DragOperator(RobotOperator):
    """Mixin. moved: by the mouse since the start, in the unit of the drag.   typed: the number that was typed.
    snap: whether Ctrl snaps it."""

    bl_options = {"REGISTER", "UNDO", "GRAB_CURSOR", "BLOCKING"}

    if TYPE_CHECKING:

        def begin(self, context: bpy.types.Context, obj: bpy.types.Object, event: bpy.types.Event) -> Turning | Sliding:
            """Remember what is there; return how the mouse counts. Raises RobokinError."""

        def apply(self, context: bpy.types.Context, obj: bpy.types.Object, event: bpy.types.Event) -> None:
            """Do what `moved`, or the number that was typed, says. Raises RobokinError."""

        def header_text(self, context: bpy.types.Context) -> str:
            """What the header says."""

        def keep(self, context: bpy.types.Context, obj: bpy.types.Object) -> None:
            """The drag ends well: its properties say what was done."""

        def put_back(self, obj: bpy.types.Object) -> None:
            """All is as it was before."""

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        self.moved, self.typed, self.snap = 0.0, TypedNumber(), SnapKey(event)
        try:
            self._drag = self.begin(context, active_robot(context), event)
        except RobokinError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        self._last = self._drag.moved(*self.ray(context, event))
        self._tell(context)
        self._paused = ExitStack()
        self._paused.enter_context(posing_paused())
        context.window_manager.modal_handler_add(self)
        return {"RUNNING_MODAL"}

    def ray(self, context: bpy.types.Context, event: bpy.types.Event) -> tuple[Array, Array]:
        """(3,), (3,) from where the view looks, and where to, under the mouse."""
        region, view, at = context.region, context.region_data, (event.mouse_region_x, event.mouse_region_y)
        return np.array(region_2d_to_origin_3d(region, view, at)), np.array(region_2d_to_vector_3d(region, view, at))

    def modal(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        obj = active_robot(context)
        if obj is None or event.type in ("ESC", "RIGHTMOUSE"):
            return self._end(context, obj, False)
        is_release = event.type == "LEFTMOUSE" and event.value == "RELEASE"
        is_enter = event.type in ("RET", "NUMPAD_ENTER") and event.value == "PRESS"
        if is_enter or (is_release and self.typed.value is None):
            return self._end(context, obj, True)
        if event.type == "MOUSEMOVE":
            now = self._drag.moved(*self.ray(context, event))
            self.moved += (now - self._last) * (FINE if event.shift and not event.ctrl else 1.0)
            self._last = now
            self.snap.look(event)
        elif event.type in CTRL:
            self.snap.look(event)
        elif event.value == "PRESS" and self.typed.take(event.type, event.unicode):
            pass
        elif event.type not in ("LEFT_SHIFT", "RIGHT_SHIFT"):
            return {"RUNNING_MODAL"}
        try:
            self.apply(context, obj, event)
        except RobokinError as error:
            self.report({"ERROR"}, str(error))
            return self._end(context, obj, False)
        self._tell(context)
        return {"RUNNING_MODAL"}

    def cancel(self, context: bpy.types.Context) -> None:
        self._paused.close()
        if context.area is not None:
            context.area.header_text_set(None)
        context.workspace.status_text_set(None)

    def _tell(self, context: bpy.types.Context) -> None:
        context.area.header_text_set(self.header_text(context))
        context.workspace.status_text_set("Ctrl: snap   Shift: finer   0-9: value   Enter: confirm   Esc: cancel")

    def _end(self, context: bpy.types.Context, obj: bpy.types.Object | None, is_kept: bool) -> set[str]:
        with self._paused:
            if context.area is not None:
                context.area.header_text_set(None)
            context.workspace.status_text_set(None)
            if obj is None or not is_kept:
                if obj is not None:
                    self.put_back(obj)
                return {"CANCELLED"}
            self.keep(context, obj)
            obj.update_tag()
            return {"FINISHED"}
