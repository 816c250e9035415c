"""Plan Path: from one pose of the timeline to another, around obstacles."""

from __future__ import annotations

from collections.abc import Generator

import bpy

from ...properties.bridge import binding
from ...properties.results.result_text import in_scene_units, scaled_lengths
from ...scene.bake.path_plan import plan_steps
from ...scene.tasks.root_frames import metres_per_world_unit, world_scale
from ...solvers.planning.plan import BUDGET
from ..common import FrameRangeOperator
from ..modal import ModalOperator


class ROBOKIN_OT_plan_path(ModalOperator, FrameRangeOperator, bpy.types.Operator):
    """Key a path on which nothing collides, from the pose at the first frame of the range to that at its last, or to
    one that meets the tasks there (Esc stops, and writes nothing)"""

    bl_idname = "robokin.plan_path"
    bl_label = "Plan Path"

    margin: bpy.props.FloatProperty(
        name="Margin",
        description="Least distance between links, and to obstacles",
        subtype="DISTANCE",
        unit="LENGTH",
        min=0.0,
        options={"SKIP_SAVE"},
    )
    budget: bpy.props.IntProperty(
        name="Budget", description="Random poses that are tried at most", default=BUDGET, min=0, soft_max=100_000
    )
    seed: bpy.props.IntProperty(name="Seed", description="Which random poses are tried", default=0, min=0)
    to_targets: bpy.props.BoolProperty(
        name="To the Targets",
        description="The path ends at a pose that meets the tasks at the last frame, in place of the pose there",
        options={"SKIP_SAVE"},
    )

    def steps(self, context: bpy.types.Context, obj: bpy.types.Object) -> Generator[float, None, None]:
        settings, scene, robot = obj.robokin.solver, context.scene, binding(obj)
        first, last = self.span(scene, settings)
        margin = self.given("margin", settings.collision_margin) * metres_per_world_unit(obj, robot)
        given = (margin, self.budget, self.seed, self.to_targets)
        found = yield from plan_steps(scene, context.view_layer, obj, robot, first, last, *given)
        said = in_scene_units(scene, scaled_lengths(found.summary(), world_scale(obj, robot)))
        self.report({"INFO" if found.plan.found else "WARNING"}, said)


CLASSES = (ROBOKIN_OT_plan_path,)
register, unregister = bpy.utils.register_classes_factory(CLASSES)
