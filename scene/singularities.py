"""How near the tools of a robot come to singularities in its animation."""

from __future__ import annotations

from collections.abc import Generator, Sequence

import bpy

from ..properties.bridge import binding
from ..properties.task_kinds.tip_links import follow_renamed_bones
from ..solvers.motion.motion import Motion
from ..solvers.motion.singularities import MotionSingularities
from ..solvers.progress import scaled
from ..solvers.singularities.measure import NEAR
from .bake.samples import sample_motion
from .tasks.solver_tasks import SolverTasks, enabled_tasks
from .tasks.targets import Targets, targets_over


def singularities_of(
    forms: SolverTasks, motion: Motion, targets: Targets, threshold: float = NEAR
) -> MotionSingularities:
    """The tools are the tips of all tasks that count at some frame."""
    counting, tasks = forms.at(targets, 0, (targets.influence > 0.0).any(axis=0).astype(float))
    for i, task in zip(counting, tasks, strict=True):
        task.name = forms.names[i]
    return MotionSingularities.of(motion, tasks, threshold)


def singularities_steps(
    scene: bpy.types.Scene, view_layer: bpy.types.ViewLayer, obj: bpy.types.Object, frames: Sequence[int]
) -> Generator[float, None, MotionSingularities]:
    """Yield the share of the work done (0..1) now and then; return how near the robot's tools come to singularities in
    the animation as it stands. Raises RobokinError."""
    robot = binding(obj)
    follow_renamed_bones(obj, robot)
    tasks = enabled_tasks(obj, robot)
    motion = yield from scaled(sample_motion(scene, obj, frames, robot), 0.0, 0.5)
    targets = yield from scaled(targets_over(scene, view_layer, obj, tasks, frames, robot=robot), 0.5, 1.0)
    return singularities_of(SolverTasks(obj, robot, tasks), motion, targets)
