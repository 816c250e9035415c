"""Export motion: the animation in the scene as joint values over time, at any rate."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path

import bpy
from bpy_extras.io_utils import ExportHelper

from ...properties.bridge import binding
from ...properties.registration import registration
from ...properties.selected.active_robot import active_robot
from ...properties.solver_settings import FORMATS
from ...robokin.units import counted
from ...scene.bake.resampling import broken_in_file, motion_at_rate
from ...scene.dynamics import dynamics_steps, file_columns
from ...solvers.motion.files import WITH_QUANTITIES, write_motion
from ...solvers.motion.joint_trajectory import motion_losses
from ..common import FrameRangeOperator, chosen_file
from ..modal import ModalOperator

EXTENSIONS = {"CSV": ".csv", "JSON": ".json", "YAML": ".yaml", "PVT": ".pvt", "SERVO": ".servo", "SVG": ".svg"}
_FORMATS = {ending: name for name, ending in EXTENSIONS.items()} | {".yml": "YAML"}


class ROBOKIN_OT_export_motion(ModalOperator, FrameRangeOperator, ExportHelper, bpy.types.Operator):
    """Write the animation as joint values over time: CSV, JSON, ROS JointTrajectory, a spline or angles of servos"""

    bl_idname = "robokin.export_motion"
    bl_label = "Export Motion"
    bl_options = {"REGISTER"}  # the scene is not changed: nothing to undo

    filename_ext = ".csv"
    filter_glob: bpy.props.StringProperty(default="*.csv;*.json;*.yaml;*.yml;*.pvt;*.servo;*.svg", options={"HIDDEN"})
    format: bpy.props.EnumProperty(
        name="Format",
        description="File format; a file name with an extension decides by itself",
        items=FORMATS,
        options={"SKIP_SAVE"},
    )
    rate: bpy.props.FloatProperty(
        name="Rate", description="Samples per second; 0: one per frame", min=0.0, options={"SKIP_SAVE"}
    )

    smooth: bpy.props.BoolProperty(
        name="Smooth",
        description="A curve that is twice continuously differentiable and keeps the limits at all times, through the "
        "frames where they let it, in place of the animation between frames",
        default=True,
        options={"SKIP_SAVE"},
    )

    dynamics: bpy.props.BoolProperty(
        name="Dynamics",
        description="Add the quantities that are chosen in the panel Dynamics, a column each; YAML takes "
        "efforts, and these alone, other formats nothing",
        options={"SKIP_SAVE"},
    )

    _shown = ""  # the format that the file selector shows
    _selects = False  # whether a person chooses the file

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        obj = active_robot(context)
        settings = obj.robokin.solver
        self.given("format", settings.format)
        self.given("rate", settings.rate)
        if not self.filepath:
            folder = Path(bpy.data.filepath).parent if bpy.data.filepath else Path.home()
            self.filepath = str(folder / f"{bpy.path.clean_name(obj.name)}{EXTENSIONS[self.format]}")
        self._shown, self._selects = self.format, True
        context.window_manager.fileselect_add(self)
        return {"RUNNING_MODAL"}

    def execute(self, context: bpy.types.Context) -> set[str]:
        selects, self._selects = self._selects, False  # what is repeated later is a script's call
        if selects:
            active_robot(context).robokin.solver.format = self.format
        return self.begin(context) if selects else super().execute(context)

    def check(self, context: bpy.types.Context) -> bool:
        """The file name follows a format that is chosen, and the format an extension that is typed."""
        path, before = Path(self.filepath), (self.filepath, self.format)
        typed = _FORMATS.get(path.suffix.lower())
        if typed is None:
            self.filepath += EXTENSIONS[self.format]
        elif self.format == self._shown:
            self.format = typed
        elif self.format != typed:
            self.filepath = str(path.with_suffix(EXTENSIONS[self.format]))
        self._shown = self.format
        return before != (self.filepath, self.format)

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.draw_properties("format", "rate")
        if self.rate and self.format != "PVT":  # which always is
            layout.prop(self, "smooth")
        if EXTENSIONS[self.format] in WITH_QUANTITIES:
            layout.prop(self, "dynamics")

    def steps(self, context: bpy.types.Context, obj: bpy.types.Object) -> Generator[float, None, None]:
        settings = obj.robokin.solver
        path = chosen_file(obj, self.filepath, ".csv")
        if not path.suffix:
            path = path.with_suffix(EXTENSIONS[self.given("format", settings.format)])
        first, last = self.span(context.scene, settings)
        rate = self.given("rate", settings.rate) or None
        smooth = self.given("smooth", rate is not None)
        spline = path.suffix.lower() == EXTENSIONS["PVT"]
        motion = yield from motion_at_rate(context.scene, obj, first, last, rate, smooth, spline)
        columns = {}
        if self.dynamics and path.suffix.lower() in WITH_QUANTITIES:
            robot = binding(obj)
            found = yield from dynamics_steps(context.scene, obj, robot, motion, first)
            columns = yield from file_columns(obj, robot, found, path)
        write_motion(motion, path, columns)
        for loss in (*motion_losses(motion.model, path), *broken_in_file(context.scene, motion, first)):
            self.report({"WARNING"}, loss)
        self.report({"INFO"}, f"{counted(len(motion), 'sample')}, {motion.duration:.3f} s written to {path.name}")


def _menu(self: bpy.types.Menu, context: bpy.types.Context) -> None:
    text = "Robot Motion (.csv, .json, .yaml, .pvt, .servo, .svg)"
    self.layout.operator(ROBOKIN_OT_export_motion.bl_idname, text=text)


register, unregister = registration((ROBOKIN_OT_export_motion,), (bpy.types.TOPBAR_MT_file_export, _menu))
