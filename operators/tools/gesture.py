"""A gesture of the mouse on a robot: modal, thin, one undo step.

Events only note what is wanted. A timer, of which Blender sends at most one between two redraws, makes the pose of it,
so that a flood of events never queues solves.
"""

from __future__ import annotations

from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING

import bpy
import numpy as np
from bpy_extras.view3d_utils import region_2d_to_location_3d, region_2d_to_origin_3d, region_2d_to_vector_3d

from ...properties.bridge import read_configuration, write_configuration
from ...properties.handlers import posing_paused
from ...properties.selected.active_robot import active_robot
from ...robokin import RobokinError
from ...robokin.arrays import Array
from ...scene.animation.auto_keys import auto_key
from ...scene.tasks.snap_targets import snap_targets
from ...solvers.posing.on_screen import View
from ..common import RobotOperator
from ..handlers.select_link import body_under
from ..modal import has_events
from .snap_key import CTRL, SnapKey
from .typed import TypedNumber

RATE = 1.0 / 60.0  # [s] between two looks at what is wanted
KEEP, LEAVE = ("RET", "NUMPAD_ENTER"), ("ESC", "RIGHTMOUSE")
NAVIGATION = (
    "MIDDLEMOUSE",
    "WHEELUPMOUSE",
    "WHEELDOWNMOUSE",
    "TRACKPADPAN",
    "TRACKPADZOOM",
    "MOUSEROTATE",
    "NDOF_MOTION",
)


def settle(context: bpy.types.Context, obj: bpy.types.Object) -> None:
    """After a pose was made by hand: it is keyed where the user has what is posed keyed, and the targets of a robot
    that follows them go along, or it would go back to them. Of one that cannot follow them they stay."""
    auto_key(context, obj)
    if obj.robokin.live and any(task.enabled for task in obj.robokin.tasks):
        with suppress(RobokinError):
            snap_targets(context, obj)


class Gesture(RobotOperator):
    """Mixin: `begin` takes hold of something, `pose` says where it is to be now, `header_text` describes it. Repeated,
    it makes the pose again that was kept, of the same robot alone.

    mouse: (2,) pixels of the region, where it is.   first: (2,) where it was when the gesture began.
    """

    bl_options = {"REGISTER", "UNDO", "BLOCKING"}

    release_confirm: bpy.props.BoolProperty(
        name="Confirm on Release",
        description="Letting go of the mouse button keeps the pose",
        options={"SKIP_SAVE", "HIDDEN"},
    )
    hints = ""
    _kept: Array | None = None  # (nq,)
    _kept_of = 0  # session_uid of the robot whose pose that is: a reference to it would not outlive an undo step

    if TYPE_CHECKING:

        def begin(self, context: bpy.types.Context, bone: str, point: Array | None) -> None:
            """bone: what is taken hold of.   point: (3,) in the world, where there is one. Raises RobokinError."""

        def pose(self, context: bpy.types.Context, snap: bool) -> Array:
            """(nq,) Raises RobokinError."""

        def header_text(self, context: bpy.types.Context) -> str:
            """The text of the header."""

        def key(self, context: bpy.types.Context, kind: str) -> bool:
            """Whether a key that was pressed means something."""

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        if not super().poll(context):
            return False
        if context.mode != "POSE" or context.region_data is None:
            cls.poll_message_set("Go to Pose Mode: it is a gesture of the mouse over a 3D viewport")
            return False
        return True

    def run(self, context: bpy.types.Context, obj: bpy.types.Object) -> set[str]:
        if self._kept is None:
            raise RobokinError(f"{self.bl_label} is a gesture of the mouse: it needs a window")
        if self._kept_of != obj.session_uid:
            raise RobokinError(f"{self.bl_label}: the pose that was kept is of another robot than {obj.name!r}")
        with posing_paused():
            write_configuration(obj, self._kept)
            settle(context, obj)
            self.kept(context)
        return {"FINISHED"}

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        if not has_events(context):
            return self.execute(context)
        self._robot, self._typed = active_robot(context), TypedNumber()
        now = np.array((event.mouse_region_x, event.mouse_region_y), float)
        self.first = self.mouse = now
        if self.release_confirm:  # a drag is known as one some pixels after its button was pressed
            press = np.array((event.mouse_prev_press_x, event.mouse_prev_press_y), float)
            self.first = press - (context.region.x, context.region.y)
        taken = self._taken(context)
        if taken is None and self.release_confirm:
            return {"PASS_THROUGH"}  # a drag on nothing is the fallback tool's: its box selects
        try:
            if taken is None:
                raise RobokinError("no bone is active: click a link of the robot first")
            self._before = read_configuration(self._robot)
            self.begin(context, *taken)
        except RobokinError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        self._paused, self._is_new, self._snap = ExitStack(), True, SnapKey(event)
        self._paused.enter_context(posing_paused())
        self._timer = context.window_manager.event_timer_add(RATE, window=context.window)
        context.window_manager.modal_handler_add(self)
        context.workspace.status_text_set(self.hints)
        return {"RUNNING_MODAL"}

    def modal(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        outcome = {"CANCELLED"}
        try:
            outcome = self._look(context, event)
        except RobokinError as error:
            self.report({"ERROR"}, str(error))
            write_configuration(self._robot, self._before)
        except ReferenceError:
            self.report({"ERROR"}, f"{self.bl_label}: the robot was removed meanwhile")
        except BaseException:  # without an undo step nothing may have moved
            write_configuration(self._robot, self._before)
            raise
        finally:
            if not outcome & {"RUNNING_MODAL", "PASS_THROUGH"}:
                self._end(context)
        return outcome

    def cancel(self, context: bpy.types.Context) -> None:
        """Blender calls it where it ends the gesture: a file is loaded, or the window closed."""
        self._end(context)

    # -- what screens say ----------------------------------------------------------------------------------------------

    def view(self, context: bpy.types.Context) -> View:
        size: Array = np.array((float(context.region.width), float(context.region.height)))
        return View(np.array([row[:] for row in context.region_data.perspective_matrix]), size)

    def ray(self, context: bpy.types.Context) -> tuple[Array, Array]:
        """(origin, direction), each (3,) in the world, of what is under the mouse."""
        at = context.region, context.region_data, self.mouse
        return np.array(region_2d_to_origin_3d(*at), float), np.array(region_2d_to_vector_3d(*at), float)

    def beside(self, context: bpy.types.Context, mouse: Array, depth: Array) -> Array:
        """(3,) in the world under a place of the region, as far away as `depth` (3,) is."""
        return np.array(region_2d_to_location_3d(context.region, context.region_data, mouse, depth), float)

    @property
    def typed(self) -> float | None:
        return self._typed.value

    def typed_length(self, context: bpy.types.Context) -> float | None:
        return self._typed.length(context.scene)

    def typed_angle(self, context: bpy.types.Context) -> float | None:
        return self._typed.angle(context.scene)

    # -- events --------------------------------------------------------------------------------------------------------

    def _taken(self, context: bpy.types.Context) -> tuple[str, Array | None] | None:
        """The bone and place under the mouse where a drag began; else the active bone, where there is one."""
        found = body_under(context, self.first) if self.release_confirm else None
        if found is not None and found[0] == self._robot:
            x, y, z = found[2]
            return found[1], np.array((x, y, z))
        bone = self._robot.data.bones.active
        return None if bone is None else (bone.name, None)

    def _look(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        kind, is_press = event.type, event.value == "PRESS"
        if kind == "TIMER":
            self._follow(context)
        elif kind in ("MOUSEMOVE", "INBETWEEN_MOUSEMOVE"):
            self.mouse = np.array((event.mouse_region_x, event.mouse_region_y), float)
            self._is_new = True
            self._snap.look(event)
        elif kind in CTRL and is_press:
            self._snap.look(event)
            self._is_new = True
        elif kind in LEAVE and is_press:
            write_configuration(self._robot, self._before)
            return {"CANCELLED"}
        elif (kind in KEEP and is_press) or (kind == "LEFTMOUSE" and is_press != self.release_confirm):
            return self._keep(context)
        elif kind in NAVIGATION:
            self._is_new = True
            return {"PASS_THROUGH"}
        elif is_press and (self._typed.take(kind, event.unicode) or self.key(context, kind)):
            self._is_new = True
        return {"RUNNING_MODAL"}

    def _follow(self, context: bpy.types.Context) -> None:
        if not self._is_new:
            return
        self._is_new = False
        write_configuration(self._robot, self.pose(context, self._snap.is_held))
        if context.area is not None:
            context.area.header_text_set(self.header_text(context))

    def _keep(self, context: bpy.types.Context) -> set[str]:
        self._follow(context)
        self._kept, self._kept_of = read_configuration(self._robot), self._robot.session_uid
        return self.run(context, self._robot)

    def kept(self, context: bpy.types.Context) -> None:
        """Called when the pose is kept, for what else is to be done with it."""

    def _end(self, context: bpy.types.Context) -> None:
        self._paused.close()
        context.window_manager.event_timer_remove(self._timer)
        context.workspace.status_text_set(None)
        if context.area is not None:
            context.area.header_text_set(None)
