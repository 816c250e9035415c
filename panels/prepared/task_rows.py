"""What the panel shows of a task, prepared: texts, labels, and which fields count."""

from __future__ import annotations

import bpy

from ...properties.bridge import binding
from ...properties.results import readouts
from ...properties.results.readouts import TaskReadout
from ...properties.results.result_text import quantity_text
from ...properties.selected.feet import loose_feet
from ...properties.selected.tips import possible_tips
from ...properties.task_kinds import KINDS, LENGTH
from ...robokin import RobokinError
from ...robokin.units import freedom_units


def add_target_text(obj: bpy.types.Object) -> str:
    """What its button says: where the target will be, or that it asks."""
    try:
        robot = binding(obj)
        bones = possible_tips(obj, robot)
    except RobokinError:
        return "Add Target at Tip"
    return f"Add Target at {robot.link_of_bone[bones[0]]}" if len(bones) == 1 else "Add Target at..."


def has_loose_feet(obj: bpy.types.Object) -> bool:
    """Whether the whole robot comes along with its tasks, though it has feet to stand on."""
    try:
        return bool(loose_feet(obj, binding(obj)))
    except RobokinError:
        return False


def task_readouts(obj: bpy.types.Object) -> list[TaskReadout | None]:
    """Readout of each task as it stands now; where only a solve can tell, what the last one said while it holds."""
    found, solved = readouts.tasks(obj), None
    shown = []
    for task, now in zip(obj.robokin.tasks, found, strict=False):
        if now is None and task.solved and task.enabled:
            solved = readouts.is_present(obj, "solve") if solved is None else solved
            if solved:
                now = TaskReadout(task.position_residual, task.orientation_residual, task.reached)
        shown.append(now)
    return shown


def residual_text(scene: bpy.types.Scene, kind: str, readout: TaskReadout) -> str:
    """The residual of a task in the scene's units; the parts are named where the panel's reader could
    take them for others."""
    parts = []
    for label, quantity in KINDS[kind].parts:
        value = readout.orientation
        if quantity == LENGTH:
            value = readout.position * scene.unit_settings.scale_length
        named = "" if label in ("Position", "Rotation", "Distance", "Direction") else f" ({label.lower()})"
        parts.append(quantity_text(scene, quantity, value) + named)
    return "Off by " + ", ".join(parts)


def task_labels(obj: bpy.types.Object, task: bpy.types.PropertyGroup) -> dict[str, list[str]] | None:
    """Labels of a task on the value or velocity of a joint: a label for each entry of its vectors that the joint
    has."""
    if task.kind not in ("JOINT", "JOINT_VELOCITY"):
        return None
    try:
        joint = binding(obj).joint_of_bone.get(task.tip)
    except RobokinError:
        joint = None
    units = freedom_units(joint) if joint is not None else []
    if task.kind == "JOINT":
        return {"location": _numbered("Position", units.count("m")), "rotation": _numbered("Angle", units.count("rad"))}
    return {
        "linear_velocity": _numbered("Velocity", units.count("m")),
        "angular_velocity": _numbered("Velocity /s", units.count("rad")),
    }


def _numbered(word: str, count: int) -> list[str]:
    return [word] if count == 1 else [f"{word} {i + 1}" for i in range(count)]


def weights_of(task: bpy.types.PropertyGroup) -> tuple[str, ...]:
    """Which of its two weights count."""
    kind = KINDS[task.kind]
    if not kind.weighted:
        return ()
    if task.kind == "LASER":
        return ("position",)
    parts = (("position", kind.has_length), ("orientation", kind.has_angle))
    return tuple(name for name, has_part in parts if has_part)
