"""All Postures: every way to meet the present targets, as ghosts to choose from."""

from __future__ import annotations

from collections.abc import Generator

import bpy
import numpy as np

from ...properties.bridge import binding, read_configuration
from ...properties.results.result_text import in_scene_units, quantity_text
from ...properties.results.why import store_tried
from ...robokin import RobokinError
from ...robokin.units import counted
from ...scene.ghosts import between_links, ghost_lines
from ...scene.tasks.present_postures import largest_turn, named_posture, present_postures
from ...solvers import Postures
from ...solvers.progress import finish
from ..modal import ModalOperator, has_events
from .ghosts import Ghosts
from .posture import take_pose

NEXT = {"WHEELDOWNMOUSE", "RIGHT_ARROW", "DOWN_ARROW"}
BEFORE = {"WHEELUPMOUSE", "LEFT_ARROW", "UP_ARROW"}
KEEP, LEAVE = {"LEFTMOUSE", "RET", "NUMPAD_ENTER"}, {"RIGHTMOUSE", "ESC"}
NAVIGATION = {"MIDDLEMOUSE", "MOUSEROTATE", "TRACKPADPAN", "TRACKPADZOOM", "NDOF_MOTION"}
SAME = 1e-3  # [rad] a posture whose joints turn by less is the present one
HINTS = "Mouse, Wheel or Arrows: choose   Enter or Left Mouse: keep   Esc or Right Mouse: leave"


class ROBOKIN_OT_postures(ModalOperator, bpy.types.Operator):
    """Show every posture that meets the targets where they stand, the nearest first, and take the one that is chosen"""

    bl_idname = "robokin.postures"
    bl_label = "All Postures"

    branch: bpy.props.StringProperty(
        name="Branch", description='Words of the name of the posture, as "elbow up"; empty: any', options={"SKIP_SAVE"}
    )
    index: bpy.props.IntProperty(
        name="Number", description="Which of the postures, the nearest first", default=1, min=1, options={"SKIP_SAVE"}
    )

    _found: Postures | None = None
    _ghosts: Ghosts | None = None

    def steps(self, context: bpy.types.Context, obj: bpy.types.Object) -> Generator[float, None, None]:
        self._found = yield from present_postures(context, obj, obj.robokin.solver.seed)
        if not len(self._found):
            store_tried(obj, "POSTURES")
        named_posture(self._found, self.branch)

    def run(self, context: bpy.types.Context, obj: bpy.types.Object) -> set[str]:
        finish(self.steps(context, obj))
        return self._keep(context, obj, self._number())

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        if not has_events(context):
            return self.execute(context)
        outcome = self._chosen_from(context, self.begin(context))
        if outcome == {"RUNNING_MODAL"} and self._timer is None:
            context.window_manager.modal_handler_add(self)
        return outcome

    def modal(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        if self._ghosts is None:
            return self._chosen_from(context, super().modal(context, event))
        outcome = {"CANCELLED"}
        try:
            outcome = self._choose(context, event, self._ghosts)
        finally:
            if not outcome & {"RUNNING_MODAL", "PASS_THROUGH"}:
                self._leave(context)
        return outcome

    def cancel(self, context: bpy.types.Context) -> None:
        super().cancel(context)
        self._leave(context)

    # -- choosing ------------------------------------------------------------------------------------------------------

    def _chosen_from(self, context: bpy.types.Context, outcome: set[str]) -> set[str]:
        """Goes on to the choice once the postures are found."""
        if outcome != {"FINISHED"}:
            return outcome
        assert self._found is not None
        if len(self._found) == 1:
            return self._keep(context, self._robot, 0)
        try:
            robot = binding(self._robot)
            self._ghosts = Ghosts(ghost_lines(self._robot, robot, self._found.q), len(between_links(robot)))
            self._far = largest_turn(robot.model, read_configuration(self._robot, robot), self._found.q)
            self._ghosts.index = self._number()
        except RobokinError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        self._ghosts.show()
        self._tell(context)
        return {"RUNNING_MODAL"}

    def _number(self) -> int:
        assert self._found is not None
        if self.branch:
            return named_posture(self._found, self.branch)
        if self.index > len(self._found):
            raise RobokinError(
                f"{counted(len(self._found), 'posture was', 'postures were')} found, no number {self.index}"
            )
        return self.index - 1

    def _choose(self, context: bpy.types.Context, event: bpy.types.Event, ghosts: Ghosts) -> set[str]:
        chosen, count = ghosts.index, len(ghosts.points)
        if event.type in NAVIGATION or (event.type.startswith(("NUMPAD_", "NDOF_")) and event.type not in KEEP):
            return {"PASS_THROUGH"}
        if event.type == "MOUSEMOVE":
            chosen = _under_mouse(context, event, ghosts)
        elif event.value == "PRESS" and event.type in NEXT | BEFORE:
            if event.ctrl or event.shift:
                return {"PASS_THROUGH"}
            chosen = (chosen + (1 if event.type in NEXT else -1)) % count
        elif event.value == "PRESS" and event.type in LEAVE:
            return {"CANCELLED"}
        elif event.value == "PRESS" and event.type in KEEP:
            self.index, self.branch = chosen + 1, ""
            return self._keep(context, self._robot, chosen)
        if chosen != ghosts.index:
            ghosts.index = chosen
            self._tell(context)
        return {"RUNNING_MODAL"}

    def _keep(self, context: bpy.types.Context, obj: bpy.types.Object, number: int) -> set[str]:
        assert self._found is not None
        try:
            take_pose(context, obj, binding(obj), self._found.q[number])
        except ReferenceError:
            self.report({"ERROR"}, f"{self.bl_label}: the robot was removed meanwhile")
            return {"CANCELLED"}
        except RobokinError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        lines = self._title(number), in_scene_units(context.scene, _remark(self._found))
        self.report({"INFO"}, ". ".join(filter(None, lines)))
        return {"FINISHED"}

    def _title(self, number: int) -> str:
        assert self._found is not None
        count, name = len(self._found), self._found.names[number]
        if count == 1:
            return "The only posture" if self._found.complete else "The only posture found"
        return f"Posture {number + 1} of {count}" + ("" if name.startswith("posture ") else f": {name}")

    def _tell(self, context: bpy.types.Context) -> None:
        assert self._ghosts is not None and self._found is not None
        number = self._ghosts.index
        turn = self._far[number]
        far = "as now" if turn < SAME else f"a joint turns by {quantity_text(context.scene, 'ROTATION', turn)}"
        remark = in_scene_units(context.scene, _remark(self._found))
        _set_headers(context, f"{self._title(number)}   ({far})   {remark}")
        context.workspace.status_text_set(HINTS)

    def _leave(self, context: bpy.types.Context) -> None:
        if self._ghosts is None:
            return
        self._ghosts.hide()
        self._ghosts = None
        _set_headers(context, None)
        context.workspace.status_text_set(None)


def _remark(found: Postures) -> str:
    if found.remark or not found.complete:
        return found.remark or "There may be others"
    return "These are all" if len(found) > 1 else ""


def _views(context: bpy.types.Context) -> list[bpy.types.Area]:
    return [area for area in context.window.screen.areas if area.type == "VIEW_3D"]


def _set_headers(context: bpy.types.Context, text: str | None) -> None:
    for area in _views(context):
        area.header_text_set(text)
        area.tag_redraw()


def _under_mouse(context: bpy.types.Context, event: bpy.types.Event, ghosts: Ghosts) -> int:
    scale = context.preferences.system.pixel_size
    for region in (region for area in _views(context) for region in area.regions if region.type == "WINDOW"):
        x, y = event.mouse_x - region.x, event.mouse_y - region.y
        if 0 <= x < region.width and 0 <= y < region.height and isinstance(region.data, bpy.types.RegionView3D):
            return ghosts.nearest(
                np.array(region.data.perspective_matrix), (region.width, region.height), (x, y), scale
            )
    return ghosts.index


CLASSES = (ROBOKIN_OT_postures,)
register, unregister = bpy.utils.register_classes_factory(CLASSES)
