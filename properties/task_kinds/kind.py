"""What a kind of task is to Blender's users, and the solver's task that it becomes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import Any

from ...solvers import Task
from .context import TaskContext

LENGTH, ANGLE = "LENGTH", "ROTATION"
POSITION = ("Position", LENGTH)
ORIENTATION = ("Rotation", ANGLE)
DISTANCE = ("Distance", LENGTH)


@dataclass(frozen=True)
class TaskKind:
    """One kind.

    parts: (label, quantity) of its residuals; the length is kept in `position_residual`, the angle in
    `orientation_residual`.
    tip, other: what its bones are called; "" when it has none.   needs_other: the other one must be given.
    target: "" no target; "POSE" an object or a fixed pose; else the type of object that it must be.
    pose: which of location and rotation say the fixed pose, or else what is taken from the present one.
    offset: which of location and rotation its tip may have in the frame of its link.
    has_spot: its tip may be the spot of a beam, which alone has a rotation then.
    fields: what the panel draws between the bones and the influence.
    animated: what is read anew at each frame, beside the influence.
    axes: which of `use_location`, `use_rotation` count.   weighted: its parts have weights.   banded: and bands.
    is_velocity: only for a bake, since no single pose can meet it.   is_hard: before all levels, without influence.
    target_at: the target at one frame, in the task's own terms (`Task.checked_target`).   build: the solver's task with
    that target. Both raise RobokinError naming the task.
    """

    label: str
    description: str
    icon: str
    number: int
    parts: tuple[tuple[str, str], ...]
    tip: str = "Tip"
    other: str = ""
    needs_other: bool = False
    target: str = ""
    pose: tuple[str, ...] = ()
    offset: tuple[str, ...] = ()
    fields: tuple[str, ...] = ()
    animated: tuple[str, ...] = ()
    axes: tuple[str, ...] = ()
    has_frame: bool = False
    has_spot: bool = False
    weighted: bool = True
    banded: bool = True
    is_velocity: bool = False
    is_hard: bool = False
    _: KW_ONLY
    target_at: Callable[[TaskContext], Any]
    build: Callable[[TaskContext, Any], Task]

    @property
    def has_length(self) -> bool:
        return any(quantity == LENGTH for _, quantity in self.parts)

    @property
    def has_angle(self) -> bool:
        return any(quantity == ANGLE for _, quantity in self.parts)


BOTH = ("location", "rotation")
OFFSET = ("offset_location", "offset_rotation")
AXES = ("use_location", "use_rotation")
