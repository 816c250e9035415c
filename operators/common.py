"""What every operator on a robot shares: which robot, why not, and errors as one reported line."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import bpy

from ..properties.overrides import takes_changes
from ..properties.results.result_text import in_scene_units
from ..properties.selected.active_robot import active_robot, why_no_robot
from ..robokin import RobokinError, RobotModel
from ..robokin.files.text_file import write_text
from ..robokin.units import counted
from ..scene.animation.frames import chosen_span

SHORT = 120  # characters that the status bar shows
LINES = 3  # warnings that are reported one by one


class ReportingOperator:
    """Mixin: `work(context)` does what the operator does; a RobokinError becomes a report and CANCELLED."""

    bl_options = {"REGISTER", "UNDO"}

    def execute(self, context: bpy.types.Context) -> set[str]:
        return self.reported(context, "ERROR")

    def reported(self, context: bpy.types.Context, level: str) -> set[str]:
        """level: of Blender's reports. An ERROR raises in a script; for a person it opens a window that takes the next
        keys."""
        try:
            return self.work(context)
        except RobokinError as error:
            self.report({level}, in_scene_units(context.scene, str(error)))
            return {"CANCELLED"}

    if TYPE_CHECKING:  # Blender's metaclass leaves no room for that of `abc`

        def work(self, context: bpy.types.Context) -> set[str]:
            """Each operator has its own."""

    def draw_properties(self, *names: str) -> bpy.types.UILayout:
        """Draw properties of the operator one below another; the layout, for more."""
        layout = self.layout
        layout.use_property_split = True
        layout.use_property_decorate = False
        for name in names:
            layout.prop(self, name)
        return layout


class RobotOperator(ReportingOperator):
    """Mixin: `run(context, obj)` does the work on the robot."""

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        obj = active_robot(context)
        if obj is None:
            cls.poll_message_set(why_no_robot(context))
            return False
        if not takes_changes(obj):
            cls.poll_message_set(f"{obj.name!r} is linked from another file: make a library override first")
            return False
        if obj.data.is_editmode:  # also where another object that shows the armature is in Edit Mode
            cls.poll_message_set("Leave Edit Mode first: the robot's bones are being edited")
            return False
        return True

    def work(self, context: bpy.types.Context) -> set[str]:
        outcome = self.run(context, active_robot(context))
        robot = active_robot(context)
        if robot is not None:
            robot.update_tag()  # Blender does not notice lists that Python changes, but Live is to
        return outcome

    if TYPE_CHECKING:

        def run(self, context: bpy.types.Context, obj: bpy.types.Object) -> set[str]:
            """What the operator does; each has its own."""

    def write_report(self, path: str, data: object) -> None:
        """Write a report with `write_json`, where there is a path; after the work, which a file that fails then does
        not undo."""
        if path:
            try:
                write_json(path, data)
            except RobokinError as error:
                self.report({"WARNING"}, str(error))

    def given(self, name: str, otherwise: object) -> object:
        """The operator's property `name`; when it was not set it takes the value `otherwise`, usually the robot's own
        setting, so that the panel for adjusting the last operation shows what was done."""
        if not self.properties.is_property_set(name):
            setattr(self, name, otherwise)
        return getattr(self, name)


class FrameRangeOperator(RobotOperator):
    """Mixin: an operator over a range of time. What is not set is taken from the robot's settings or the scene."""

    frame_start: bpy.props.IntProperty(name="First", description="First frame", default=1, options={"SKIP_SAVE"})
    frame_end: bpy.props.IntProperty(name="Last", description="Last frame", default=250, options={"SKIP_SAVE"})

    def span(self, scene: bpy.types.Scene, settings: bpy.types.PropertyGroup) -> tuple[int, int]:
        """(first, last) frame. Raises RobokinError for an empty range."""
        first, last = chosen_span(scene, settings)
        first, last = self.given("frame_start", first), self.given("frame_end", last)
        if last < first:
            raise RobokinError(f"the range ends before it begins: frames {first} to {last}")
        return first, last


class FramesOperator(FrameRangeOperator):
    """Mixin: an operator over frames, every one of a range or some."""

    step: bpy.props.IntProperty(
        name="Step", description="Frames between two samples", default=1, min=1, options={"SKIP_SAVE"}
    )

    def frames(self, scene: bpy.types.Scene, settings: bpy.types.PropertyGroup) -> list[int]:
        """Raises RobokinError for an empty range."""
        first, last = self.span(scene, settings)
        return list(range(first, last + 1, self.given("step", settings.step)))


def report_robot(
    operator: bpy.types.Operator,
    obj: bpy.types.Object,
    model: RobotModel,
    warnings: Sequence[str],
    source: str = "",
    notes: Sequence[str] = (),
) -> None:
    """Tell of a robot that was made: what is doubtful about it, how many joints it has, and how its base moves. What
    is more than a few short lines goes into a text."""
    if len(warnings) > LINES or any(len(warning) > SHORT for warning in warnings):
        text = bpy.data.texts.new(f"{obj.name} Warnings")
        text.write("\n".join([*warnings, ""]))
        text.cursor_set(0)
        warnings = [f"{counted(len(warnings), 'warning')}, in the text {text.name!r}: {warnings[0][: SHORT // 2]}..."]
    made = f"robot {obj.name!r} with {counted(len(model.moving_joints), 'moving joint')}, {model.root} base"
    made = "; ".join([made, *notes])
    operator.report({"INFO"}, f"{source}: {made}" if source else made)
    for warning in warnings:  # the status bar shows what was said last
        operator.report({"WARNING"}, warning)


def chosen_file(obj: bpy.types.Object, filepath: str, ending: str) -> Path:
    """Where to write the robot. Raises RobokinError when no file was chosen."""
    if not filepath:
        raise RobokinError(f'no file to write {obj.name!r} to: set filepath, as "//{obj.name}{ending}"')
    path = Path(bpy.path.abspath(filepath))
    if not path.name or filepath.endswith(("/", os.sep)) or path.is_dir():
        raise RobokinError(f"{path}: {obj.name!r} cannot be written there (it is a folder)")
    return path


def check_report(path: str) -> None:
    """Before anything is changed: raises RobokinError when no report can be written there. Empty: none is asked for."""
    target = Path(bpy.path.abspath(path))
    if not path:
        return
    if target.is_dir():
        raise RobokinError(f"{target}: cannot write the report (it is a folder)")
    if not target.absolute().parent.is_dir():
        raise RobokinError(f"{target}: cannot write the report (there is no such folder)")
    if not os.access(target if target.exists() else target.absolute().parent, os.W_OK):
        raise RobokinError(f"{target}: cannot write the report (not permitted)")


def write_json(path: str, data: object) -> None:
    """Write a report. Raises RobokinError when the file cannot be written."""
    write_text(bpy.path.abspath(path), json.dumps(data, indent=1, allow_nan=False) + "\n")
