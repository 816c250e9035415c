"""What a bake reads of the scene before it solves."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass

import bpy

from ...properties.bridge import Binding, nearest_within_limits, read_configuration
from ...properties.task_kinds.tip_links import follow_renamed_bones
from ...robokin import RobokinError, RobotModel, clamp
from ...robokin.arrays import Array
from ...robokin.collision.model import CollisionModel
from ...solvers import ClearanceTask
from ...solvers.progress import scaled
from ..animation.curves import pose_held, refuse_unwritable, sample_configurations
from ..collisions import avoids_collisions, clearance_of, collisions_over
from ..criteria.solver_criteria import enabled_entries
from ..keyed_numbers import narrowest_over, numbers_change
from ..tasks.solver_tasks import SolverTasks, check_ad_hoc, enabled_tasks
from ..tasks.targets import Targets, targets_over
from .choices import BakeChoices
from .whole import soft_weights


@dataclass(frozen=True, eq=False)
class BakeInputs:
    """What a bake reads of the scene before it solves. robot: with the limits that it keeps.   model: with joints held
    that have a padlock.   weights: of the tasks in a whole motion.   hint: (nq,) where it starts, or looks for a start.
    animation: (n, nq) what the robot's curves show, where a cost asks for it."""

    robot: Binding
    model: RobotModel
    forms: SolverTasks
    weights: Sequence[float]
    hint: Array
    criteria: Sequence[bpy.types.PropertyGroup]
    targets: Targets
    collisions: CollisionModel | None
    clearance: ClearanceTask | None
    animation: Array | None
    note: str


def read_inputs(
    scene: bpy.types.Scene,
    view_layer: bpy.types.ViewLayer,
    obj: bpy.types.Object,
    robot: Binding,
    choices: BakeChoices,
) -> Generator[float, None, BakeInputs]:
    """Yield the share done; raises RobokinError."""
    ad_hoc, read_at, whole = choices.ad_hoc, choices.read_at, choices.whole
    refuse_unwritable(scene, obj, choices.new_action, robot)
    follow_renamed_bones(obj, robot)
    tasks = enabled_tasks(obj, robot) if choices.use_own else []
    check_ad_hoc(obj, ad_hoc)
    weights = [] if whole is None else soft_weights(tasks, ad_hoc, whole.soft)
    if not tasks and not ad_hoc:
        raise RobokinError("there is no task to bake: add a target, or enable a task")
    pose = read_configuration(obj, robot)
    hint = nearest_within_limits(robot.model) if choices.q0 is None else choices.q0
    if robot.locked:
        hint = clamp(robot.model_at(pose), hint)
    own = enabled_entries(obj) if choices.criteria is None else []
    animation, note = None, ""
    with pose_held(obj, hint, robot):
        reading = targets_over(scene, view_layer, obj, tasks, read_at, ad_hoc, own, robot=robot)
        targets = yield from scaled(reading, 0.0, 0.95)
        collisions = yield from scaled(collisions_over(scene, view_layer, obj, read_at, robot), 0.95, 1.0)
        kept = yield from scaled(narrowest_over(scene, obj, choices.keyed, robot), 1.0, 1.0)
        if numbers_change(obj):
            note = "limits are animated: the narrowest of these frames are kept"
    if whole is not None and "animation" in whole.words:
        animation = yield from scaled(sample_configurations(scene, obj, read_at, robot), 1.0, 1.0)
    clearance = clearance_of(obj, robot, collisions) if avoids_collisions(obj, choices.avoid) else None
    return BakeInputs(
        robot=kept,
        model=kept.model_at(pose),
        forms=SolverTasks(obj, kept, tasks, ad_hoc),
        weights=weights,
        hint=hint,
        criteria=own,
        targets=targets,
        collisions=collisions,
        clearance=clearance,
        animation=animation,
        note=note,
    )
