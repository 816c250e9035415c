"""Tasks written on the command line: `kind=pose,tip=LINK,target=x:y:z:qw:qx:qy:qz[,weights=...][,tolerance=...]`."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..robokin import quaternion
from ..robokin.errors import TaskError, UnknownNameError
from ..solvers.tasks import AxisTask, OrientationTask, PoseTask, PositionTask, Task
from .field_text import Fields, numbers, parse_fields

GRAMMAR = """\
tasks:
  kind=pose,tip=LINK,target=x:y:z:qw:qx:qy:qz   the link takes this pose
  kind=position,tip=LINK,target=x:y:z           its origin takes this position
  kind=orientation,tip=LINK,target=qw:qx:qy:qz  it takes this orientation
  kind=axis,tip=LINK,axis=x:y:z,target=x:y:z    this axis of the link points in that direction
  optional: ,weights=N:N:...   per axis (pose: 6, position first; others: 3; or one for all); 0 leaves it free
            ,frame=world|tip   whose axes the weights mean (world)
            ,tolerance=N       metres or radians (1e-5); for a pose also position:orientation
            ,priority=N        whole number, 1 first (1): a task moves nothing that one before it asks for
  Targets are in the robot's root frame, in metres; quaternions need not be normalised."""


def parse_task(text: str) -> Task:
    """The task that `text` describes. Raises TaskError or UnknownNameError, naming the field."""
    fields = parse_fields(text, "task")
    kind = fields.pop("kind", None)
    if kind is None:
        raise TaskError(f"task {text!r}: kind is missing (valid: {', '.join(KINDS)})")
    if kind not in KINDS:
        raise UnknownNameError("task kind", kind, KINDS)
    required, build = KINDS[kind]
    for name in required:
        if not fields.get(name):
            raise TaskError(f"task {text!r}: {name} is missing")
    valid = (*required, *OPTIONAL)
    for name in fields:
        if name not in valid:
            raise UnknownNameError(f"field of a {kind} task", name, ("kind", *valid))
    try:
        return build(fields)
    except TaskError as error:
        raise TaskError(f"task {text!r}: {error}") from None


def _rotation(values: list[float]) -> np.ndarray:
    length = np.linalg.norm(values)
    if length < 1e-9:
        raise TaskError("target: the quaternion (w:x:y:z) is zero")
    return quaternion.to_matrix(np.array(values) / length)


def _common(fields: Fields, axes: int) -> dict:
    """Arguments that all kinds of task take; `axes`: how many weights."""
    options: dict = {"frame": fields["frame"]} if "frame" in fields else {}
    if "priority" in fields:
        options["priority"] = _whole(fields, "priority")
    if "weights" in fields:
        weights = numbers(fields, "weights", 1, axes)
        options["weights"] = weights * axes if len(weights) == 1 else weights
    if "tolerance" in fields:
        options["tolerance"] = numbers(fields, "tolerance", *((1, 2) if axes == 6 else (1,)))
    return options


def _whole(fields: Fields, name: str) -> int:
    try:
        return int(fields[name])
    except ValueError:
        raise TaskError(f"{name}: {fields[name]!r} is not a whole number") from None


def _three_axes(fields: Fields) -> dict:
    options = _common(fields, 3)
    if "tolerance" in options:
        (options["tolerance"],) = options["tolerance"]
    return options


def _pose(fields: Fields) -> Task:
    values = numbers(fields, "target", 7)
    target = np.eye(4)
    target[:3, :3], target[:3, 3] = _rotation(values[3:]), values[:3]
    options = _common(fields, 6)
    if "weights" in options:
        weights = options.pop("weights")
        options |= {"position_weights": weights[:3], "orientation_weights": weights[3:]}
    if "tolerance" in options:
        tolerance = options.pop("tolerance")
        options |= {"position_tolerance": tolerance[0], "orientation_tolerance": tolerance[-1]}
    return PoseTask(fields["tip"], target, **options)


def _position(fields: Fields) -> Task:
    return PositionTask(fields["tip"], numbers(fields, "target", 3), **_three_axes(fields))


def _orientation(fields: Fields) -> Task:
    return OrientationTask(fields["tip"], _rotation(numbers(fields, "target", 4)), **_three_axes(fields))


def _axis(fields: Fields) -> Task:
    axis, target = numbers(fields, "axis", 3), numbers(fields, "target", 3)
    return AxisTask(fields["tip"], axis, target, **_three_axes(fields))


KINDS: dict[str, tuple[tuple[str, ...], Callable[[Fields], Task]]] = {
    "pose": (("tip", "target"), _pose),
    "position": (("tip", "target"), _position),
    "orientation": (("tip", "target"), _orientation),
    "axis": (("tip", "axis", "target"), _axis),
}
OPTIONAL = ("weights", "frame", "tolerance", "priority")
