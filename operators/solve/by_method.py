"""Solve by Method: a method of the papers, step by step, to teach and to compare."""

from __future__ import annotations

import bpy

from ...properties.bridge import Binding, binding, read_configuration
from ...properties.handlers import posing_paused
from ...properties.results.result_text import in_scene_units, quantity_text, scaled_lengths
from ...robokin.units import counted
from ...scene.posing.by_method import by_method, home, obstacle_fields, write_descent
from ...scene.tasks.root_frames import world_scale
from ..common import RobotOperator

METHODS = (
    ("newton_raphson", "Newton-Raphson", "Body Jacobian on SE(3); a rotation that is not feasible relaxes (Sukesh)"),
    ("levenberg_marquardt", "Levenberg-Marquardt", "Damped least squares, motors lock at their limits (RoboComp)"),
    ("goal_oriented", "Goal-Oriented", "Gradient descent on a cost of goal, obstacles and limits (Breen)"),
    ("roll_pitch_yaw", "Roll, Pitch, Yaw", "Analytic Jacobian and pseudo-inverse (the lecture)"),
)


class ROBOKIN_OT_solve_by_method(RobotOperator, bpy.types.Operator):
    """Go for the first Pose or Position task by a textbook method, to watch its steps; Solve Pose is what solves"""

    bl_idname = "robokin.solve_by_method"
    bl_label = "Solve by Method"

    method: bpy.props.EnumProperty(name="Method", description="How the steps are found", items=METHODS)
    key: bpy.props.BoolProperty(
        name="Key the Steps", description="Key each step as a frame, from the present frame on", options={"SKIP_SAVE"}
    )
    in_turn: bpy.props.BoolProperty(
        name="Targets in Turn", description="All Pose and Position tasks, one after another", options={"SKIP_SAVE"}
    )
    target: bpy.props.EnumProperty(
        name="Target",
        description="What of the target counts",
        items=(
            ("POSE6D", "Pose", "Place and rotation"),
            ("ADVANCEAXIS", "Advance", "Along the tip's Z axis, as far as the target lies; the rotation stays"),
            ("ALIGNAXIS", "Align", "The rotation alone"),
        ),
    )
    stiff: bpy.props.StringProperty(
        name="Stiff Joints",
        description="Names of joints, with commas, that keep still while the place is sought; then all move",
        options={"SKIP_SAVE"},
    )
    from_home: bpy.props.BoolProperty(
        name="Again from Home", description="A target that is missed is executed again, from the Home posture"
    )
    reach: bpy.props.FloatProperty(
        name="Field",
        description="How far the field of an obstacle reaches beyond its bounding box",
        subtype="DISTANCE",
        unit="LENGTH",
        default=0.1,
        min=0.001,
    )

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        return context.window_manager.invoke_props_dialog(self)

    def draw(self, context: bpy.types.Context) -> None:
        own = {
            "levenberg_marquardt": ("target", "stiff", "from_home"),
            "goal_oriented": ("reach",),
        }
        self.draw_properties("method", *own.get(self.method, ()), "in_turn", "key")

    def run(self, context: bpy.types.Context, obj: bpy.types.Object) -> set[str]:
        scene, robot = context.scene, binding(obj)
        with posing_paused():
            found = by_method(context, obj, robot, self.method, self.in_turn, self._settings(scene, obj, robot))
            frames = write_descent(scene, obj, found, self.key)
        result, (away, turned) = found.result, found.result.errors[-1]
        world = world_scale(obj, robot)
        label = next(label for name, label, _ in METHODS if name == self.method)
        said = f"{label}, {found.tasks[-1]}: {in_scene_units(scene, scaled_lengths(result.reason, world))}"
        said += f"; {quantity_text(scene, 'LENGTH', world * away)} and {quantity_text(scene, 'ROTATION', turned)} off"
        said += f" after {counted(result.iterations, 'iteration')}" if not result.converged else ""
        said += f", frames {frames[0]} to {frames[1]}" if frames else ""
        self.report({"INFO" if result.converged else "WARNING"}, said)
        return {"FINISHED"}

    def _settings(self, scene: bpy.types.Scene, obj: bpy.types.Object, robot: Binding) -> dict[str, object]:
        if self.method == "goal_oriented":
            return obstacle_fields(scene, obj, robot, self.reach * robot.metres_per_unit)
        if self.method != "levenberg_marquardt":
            return {}
        again = [home(obj, robot.model, read_configuration(obj, robot))] if self.from_home else []
        stiff = [name.strip() for name in self.stiff.split(",") if name.strip()]
        return {"target": self.target, "stiff": stiff, "again": again}


CLASSES = (ROBOKIN_OT_solve_by_method,)
register, unregister = bpy.utils.register_classes_factory(CLASSES)
