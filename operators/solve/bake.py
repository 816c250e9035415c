"""Bake: the tasks solved at every frame of a range, written as F-curves."""

from __future__ import annotations

from collections.abc import Generator

import bpy

from ...properties.bridge import binding
from ...properties.postures import parse_configuration
from ...properties.results import readouts
from ...properties.results.result_text import in_scene_units, scaled_lengths, status_words
from ...properties.results.stored_results import store_failures
from ...properties.solver_settings import AT_SINGULARITIES, BAKE_MODES, MOTION_COSTS, STARTS
from ...robokin import RobokinError
from ...robokin.units import counted
from ...scene.bake.bake import bake_steps
from ...scene.bake.choices import BakeChoices, WholeMotion, chosen_traversal, motion_bounds, with_duration
from ...scene.bake.start import bake_start, keep_start
from ...scene.tasks.root_frames import world_scale
from ...solvers import Status
from ..common import FramesOperator, RobotOperator, check_report
from ..handlers.scene_marks import motion_mark
from ..modal import ModalOperator


class ROBOKIN_OT_bake(ModalOperator, FramesOperator, bpy.types.Operator):
    """Solve the tasks at every frame and write the motion as keyframes (Esc stops and leaves everything as it was)"""

    bl_idname = "robokin.bake"
    bl_label = "Bake"

    start: bpy.props.EnumProperty(
        name="Start",
        description="The pose that the bake starts from",
        items=STARTS,
        default="PRESENT",
        options={"SKIP_SAVE"},
    )
    q0: bpy.props.StringProperty(
        name="Start Values",
        description="Joint values to start from, as JSON; in place of Start when given",
        options={"SKIP_SAVE"},
    )
    seed: bpy.props.IntProperty(
        name="Seed", description="Which restarts are drawn when the first attempt fails", min=0, options={"SKIP_SAVE"}
    )
    mode: bpy.props.EnumProperty(
        name="Mode",
        description="Whether the frames are solved one by one or all at once",
        items=BAKE_MODES,
        options={"SKIP_SAVE"},
    )
    cost: bpy.props.EnumProperty(
        name="Cost",
        description="What the whole motion minimizes",
        items=MOTION_COSTS,
        options={"SKIP_SAVE"},
    )
    duration_weight: bpy.props.FloatProperty(
        name="Duration Weight",
        description="How much a second of the whole motion costs; 0: the frames keep their time",
        min=0.0,
        options={"SKIP_SAVE"},
    )
    at_singularities: bpy.props.EnumProperty(
        name="At Singularities",
        description="What an arm does where joint speeds would pass their limits",
        items=AT_SINGULARITIES,
        options={"SKIP_SAVE"},
    )
    new_action: bpy.props.BoolProperty(name="New Action", description="Write into a new action", options={"SKIP_SAVE"})
    report_path: bpy.props.StringProperty(
        name="Report", description="Write the frames as JSON", subtype="FILE_PATH", options={"SKIP_SAVE"}
    )

    def steps(self, context: bpy.types.Context, obj: bpy.types.Object) -> Generator[float, None, None]:
        try:
            yield from self._steps_of_bake(context, obj)
        except RobokinError:
            obj.robokin.solver.bake_mark = ""  # what the last one said is not about what is asked for now
            raise

    def _steps_of_bake(self, context: bpy.types.Context, obj: bpy.types.Object) -> Generator[float, None, None]:
        check_report(self.report_path)
        robot, settings = binding(obj), obj.robokin.solver
        frames = self.frames(context.scene, settings)
        start = "" if self.q0 else self.given("start", settings.start)
        if self.q0:
            q0 = parse_configuration(robot.model, self.q0, "q0")
        else:
            q0 = bake_start(context.scene, obj, robot, start)
        seed, new = self.given("seed", settings.seed), self.given("new_action", settings.new_action)
        is_whole = self.given("mode", settings.bake_mode) == "WHOLE"
        self.keeps_best = is_whole
        whole, past = None, None
        if is_whole:
            weight = self.given("duration_weight", settings.duration_weight)
            cost = with_duration(self.given("cost", settings.motion_cost), weight)
            whole = WholeMotion(cost=cost, bounds=motion_bounds(obj, robot), is_enough=self.is_enough)
        else:
            word = self.given("at_singularities", settings.at_singularities)
            past = chosen_traversal(obj, word.lower().replace("_", "-"))
        choices = BakeChoices(frames=frames, q0=q0, seed=seed, new_action=new, whole=whole, past=past)
        result = yield from bake_steps(context.scene, context.view_layer, obj, robot, choices)
        settings = obj.robokin.solver
        world = world_scale(obj, robot)
        settings.bake_status, reason = result.summary()
        settings.bake_reason, settings.bake_stretch = scaled_lengths(reason, world), result.stretch
        keep_start(obj, robot, start, q0)
        settings.bake_mark = motion_mark(obj, robot)
        rows = [(f.first, f.last, f.diagnosis.status, f.diagnosis.reason) for f in result.failures]
        rows += [(frame, frame, Status.COLLISION, what) for frame, what in result.hits()]
        shown = [(*row[:3], scaled_lengths(row[3], world)) for row in sorted(rows, key=lambda row: row[0])]
        store_failures(settings.bake_failures, shown)
        self.write_report(self.report_path, result.to_dict())
        kind = "INFO" if result.converged and not result.collisions else "WARNING"
        said = f"{status_words(*result.summary())}: {in_scene_units(context.scene, settings.bake_reason)}"
        self.report({kind}, f"{counted(len(result.frames), 'frame')} baked. {said}")


class ROBOKIN_OT_failure_show(RobotOperator, bpy.types.Operator):
    """Go to the first of frames that the last bake could not meet, in which the last check found something, in which
    one limit holds back what was retimed, or which the curves break as they are"""

    bl_idname = "robokin.failure_show"
    bl_label = "Show Failed Frames"

    index: bpy.props.IntProperty(name="Index", description="Number of the segment of failed frames, from 0 on", min=0)
    of: bpy.props.EnumProperty(
        name="Of",
        description="Which result the frames are of",
        items=(
            ("BAKE", "Bake", "What the last bake could not meet"),
            ("CHECK", "Check", "What the last check found"),
            ("RETIME", "Retime", "What keeps the retimed animation from being faster"),
            ("EDITED", "Edited Curves", "What the curves break as they are now"),
        ),
        options={"SKIP_SAVE"},
    )

    def run(self, context: bpy.types.Context, obj: bpy.types.Object) -> set[str]:
        who = f"the last {self.of.lower()} has"
        if self.of == "EDITED":
            edited, who = readouts.broken(obj), "the edited curves have"
            failures = [] if edited is None else list(edited.rows)
        else:
            of = {"BAKE": "bake_failures", "CHECK": "check_failures", "RETIME": "retime_limits"}
            failures = [item for item in getattr(obj.robokin.solver, of[self.of]) if item.status]
        if self.index >= len(failures):
            raise RobokinError(f"{who} {counted(len(failures), 'segment')} of failed frames, no number {self.index}")
        context.scene.frame_set(failures[self.index].first)
        return {"FINISHED"}


CLASSES = (ROBOKIN_OT_bake, ROBOKIN_OT_failure_show)
register, unregister = bpy.utils.register_classes_factory(CLASSES)
