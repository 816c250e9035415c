"""Criteria written on the command line: `kind=manipulability[,weight=N][,gain=N]`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...robokin.collision import CollisionModel
from ...robokin.errors import TaskError, UnknownNameError
from ...robokin.model.robot import RobotModel
from ...solvers.criteria import KINDS, Criterion, criterion, options_of
from ..report import read_joint_values
from .fields import Fields, number, numbers, parse_fields

GRAMMAR = """\
criteria (what to prefer where the tasks leave the robot free):
  kind=minimum_velocity   kind=kinetic_energy   kind=smooth[,time=SECONDS]
  kind=joint_springs      kind=rest_posture[,posture=JSON]
  kind=manipulability     kind=smallest_singular_value
  kind=gravity_torque[,gravity=x:y:z]   kind=dynamic_torque[,damping=N][,gravity=x:y:z]
  kind=far_from_obstacles[,distance=METRES]   from other links too; obstacles as of --avoid
  optional: ,weight=N  how much it counts against the others (1)
            ,gain=N    of those that are a potential: how fast it is descended, 1/s (1)"""


def parse_criterion(text: str, model: RobotModel, collisions: Callable[[], CollisionModel] | None = None) -> Criterion:
    """The criterion that `text` describes. collisions: what may not touch, asked for where it counts; None: the links
    alone. Raises TaskError or UnknownNameError, naming the field."""
    fields = parse_fields(text, "criterion")
    kind = fields.pop("kind", None)
    if kind is None:
        raise TaskError(f"criterion {text!r}: kind is missing (valid: {', '.join(KINDS)})")
    valid = tuple(name for name in options_of(kind) if name in _READERS)
    options: dict[str, Any] = {}
    for name in fields:
        if name not in valid:
            raise UnknownNameError(f"field of criterion {kind}", name, ("kind", *valid))
        options[name] = _READERS[name](fields, name, model)
    if "collisions" in options_of(kind):
        options["collisions"] = collisions() if collisions else CollisionModel(model)
    try:
        return criterion(kind, **options)
    except TaskError as error:
        raise TaskError(f"criterion {text!r}: {error}") from None


def _number(fields: Fields, name: str, model: RobotModel) -> float:
    return number(name, fields[name])


def _vector(fields: Fields, name: str, model: RobotModel) -> list[float]:
    return numbers(fields, name, 3)


def _posture(fields: Fields, name: str, model: RobotModel) -> object:
    return model.configuration(read_joint_values(fields[name], name))


def _text(fields: Fields, name: str, model: RobotModel) -> str:
    return fields[name]


_READERS = {
    "weight": _number,
    "gain": _number,
    "time": _number,
    "damping": _number,
    "distance": _number,
    "gravity": _vector,
    "posture": _posture,
    "name": _text,
}
