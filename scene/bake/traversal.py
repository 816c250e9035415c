"""A bake that leads an arm past singularities: slower, beside its path, or in another posture."""

from __future__ import annotations

from collections.abc import Generator, Sequence

import bpy
import numpy as np

from ...properties.bridge import Binding, read_configuration
from ...properties.frame_rate import frame_seconds
from ...robokin import RobokinError, RobotModel
from ...robokin.units import counted, small_length
from ...solvers import Motion, PoseTask, Status
from ...solvers.motion.collisions import collision_violations
from ...solvers.progress import scaled
from ...solvers.traversal.traverse import Past, Traversal, traverse_steps
from ..animation.columns import PATH, clear_columns, key_columns
from ..animation.curves import rounded, show_curves, write_curves
from ..collisions import avoids_collisions, collisions_over
from ..keyed_numbers import kept_to_its_end, narrowest
from .choices import AtSingularities, BakeChoices
from .inputs import BakeInputs
from .report import BakeResult
from .retime import refuse_later_keys


def refuse_other_choices(obj: bpy.types.Object, choices: BakeChoices) -> None:
    """Raises RobokinError for what only a bake that follows can do."""
    if choices.whole is not None or choices.criteria:
        raise RobokinError("At Singularities must be Follow with a whole motion or criteria")
    if avoids_collisions(obj, choices.avoid):
        raise RobokinError("At Singularities must be Follow with Avoid Collisions")


def traversal_steps(
    scene: bpy.types.Scene,
    view_layer: bpy.types.ViewLayer,
    obj: bpy.types.Object,
    robot: Binding,
    choices: BakeChoices,
    at: AtSingularities,
    inputs: BakeInputs,
) -> Generator[float, None, BakeResult]:
    """Bake as `bake_steps` does, for one task on the whole pose of a tip. A motion that slows down
    takes more frames than asked for; the object's `robokin_path` then has a curve that shows which frame of the path
    each one is at. Raises RobokinError."""
    frames, step, targets = choices.frames, choices.step, inputs.targets
    forms = inputs.forms
    counting, wanted = forms.at(targets, 0, (targets.influence > 0.0).any(axis=0).astype(float))
    if len(wanted) != 1 or type(wanted[0]) is not PoseTask or (targets.influence[:, counting] < 1.0).any():
        raise RobokinError(
            "At Singularities: only a robot with one task, on the pose of a tip and at full influence, can "
            "slow down, deviate or change its posture; set it to Follow"
        )
    task = wanted[0]
    task.name = forms.names[counting[0]]
    dt = step * frame_seconds(scene)
    poses = targets.T[:, counting[0]]
    pose = read_configuration(obj, robot)

    def made(models: Sequence[RobotModel]) -> Generator[float, None, tuple[tuple[Traversal, Binding], int]]:
        kept = narrowest(models, robot)
        own = task, poses, choices.q0, dt, at.past, at.position, at.orientation
        found = yield from traverse_steps(kept.model_at(pose), *own)
        return (found, kept), int(frames[-1]) + step * found.added

    (found, robot), _ = yield from scaled(kept_to_its_end(scene, obj, frames, robot, made), 0.0, 0.8)
    shown = [int(frames[0]) + step * i for i in range(len(found.motion))]
    if found.added:
        refuse_later_keys(obj, robot, int(frames[-1]), shown[-1])
    motion = Motion.of(robot.model, dt * np.arange(len(shown)), rounded(obj, found.motion.q, robot))
    collisions = inputs.collisions
    if found.added:
        collisions = yield from scaled(collisions_over(scene, view_layer, obj, shown, robot), 0.8, 1.0)
    hits = collision_violations(motion, collisions) if collisions else []
    written = write_curves(obj, shown, found.motion.q, choices.new_action, robot)
    clear_columns(obj, PATH)
    if found.added:
        key_columns(obj, PATH, shown, {"frame": ("", int(frames[0]) + step * found.at)})
    show_curves(obj, scene.frame_current_final, robot)
    obj.robokin.baked_frames = (shown[0], shown[-1])
    residuals = np.full((len(shown), len(targets.readings), 2), np.nan)
    residuals[:, counting[0]] = found.deviation[::2]
    parts: list[tuple[str, ...]] = [()] * len(targets.readings)
    parts[counting[0]] = tuple(part.name for part in task.parts)
    statuses = [Status.CONVERGED] * len(shown)
    ignored = "criteria do not count past singularities" if inputs.criteria else ""
    note = "; ".join(filter(None, (_note(found, at, shown[-1]), ignored, inputs.note)))
    return BakeResult(
        model=motion.model,
        frames=shown,
        Q=written,
        statuses=statuses,
        residuals=residuals,
        failures=[],
        start="",
        costs=np.zeros((len(shown), 0)),
        criteria=[],
        parts=parts,
        note=note,
        collisions=hits,
    )


def _note(found: Traversal, at: AtSingularities, last: int) -> str:
    """One sentence."""
    away, turned = found.deviation.max(axis=0)
    if at.past is Past.SLOW_DOWN:
        return (
            f"slowed down by {counted(found.added, 'frame')}, to frame {last}" if found.added else "no frame was added"
        )
    if at.past is Past.DEVIATE:
        return f"beside the path by up to {small_length(away)} and {np.degrees(turned):.3g} degrees, between frames too"
    if at.past is Past.KEEP_POSTURE:
        return "in one posture from the first frame to the last"
    return "in the posture that stays farthest from singularities"
