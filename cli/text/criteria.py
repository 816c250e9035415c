"""Criteria written on the command line: `kind=manipulability[,weight=N][,gain=N]`."""

from __future__ import annotations

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
  optional: ,weight=N  how much it counts against the others (1)
            ,gain=N    of those that are a potential: how fast it is descended, 1/s (1)"""


def parse_criterion(text: str, model: RobotModel) -> Criterion:
    """The criterion that `text` describes. Raises TaskError or UnknownNameError, naming the field."""
    fields = parse_fields(text, "criterion")
    kind = fields.pop("kind", None)
    if kind is None:
        raise TaskError(f"criterion {text!r}: kind is missing (valid: {', '.join(KINDS)})")
    valid = tuple(name for name in options_of(kind) if name in _READERS)
    options = {}
    for name in fields:
        if name not in valid:
            raise UnknownNameError(f"field of criterion {kind}", name, ("kind", *valid))
        options[name] = _READERS[name](fields, name, model)
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
    "gravity": _vector,
    "posture": _posture,
    "name": _text,
}
