"""Tasks written on the command line: `kind=pose,tip=LINK,target=x:y:z:qw:qx:qy:qz[,weights=...][,tolerance=...]`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..robokin import quaternion
from ..robokin.errors import TaskError, UnknownNameError
from ..solvers.tasks import (
    AdvanceTask,
    AimTask,
    AxisTask,
    CenterOfMassTask,
    DistanceTask,
    JointTask,
    LaserTask,
    LoopClosureTask,
    OnCurveTask,
    OnLineTask,
    OnPlaneTask,
    OrientationTask,
    PinTask,
    Plane,
    PoseTask,
    PositionTask,
    PostureTask,
    RelativePoseTask,
    SupportTask,
    Task,
)
from .field_text import Fields, number, numbers, parse_fields
from .report import read_joint_values

GRAMMAR = """\
tasks:
  kind=pose,tip=LINK,target=x:y:z:qw:qx:qy:qz   the link takes this pose
  kind=position,tip=LINK,target=x:y:z           its origin takes this position
  kind=orientation,tip=LINK,target=qw:qx:qy:qz  it takes this orientation
  kind=axis,tip=LINK,axis=x:y:z,target=x:y:z    this axis of the link points in that direction
  kind=aim,tip=LINK,axis=x:y:z,target=x:y:z     this axis of the link points at that point
  kind=plane,tip=LINK,target=x:y:z:nx:ny:nz     its origin is on the plane (,side=on|above|below)
  kind=line,tip=LINK,target=x:y:z:dx:dy:dz      its origin is on the line
  kind=curve,tip=LINK,target=x:y:z:x:y:z:...    its origin is on the polyline (,closed=yes)
  kind=distance,tip=LINK,target=N               distance of its origin (,relation=equal|inside|outside) from the point
                                                other_point=x:y:z, of the link other=LINK when that is given
  kind=laser,tip=LINK,axis=x:y:z,target=x:y:z,surface=x:y:z:nx:ny:nz
                                                a beam along this axis meets the plane at that spot
  kind=relative_pose,tip=LINK,other=LINK,target=x:y:z:qw:qx:qy:qz   pose relative to another link
  kind=advance,tip=LINK,target=x:y:z            its origin moves on by this (,frame=tip|world)
  kind=pin,tip=LINK                             it stays as it is at the start
  kind=loop_closure,tip=LINK,other=LINK         two links are one body, before all other tasks
  kind=center_of_mass,target=x:y:z              the centre of mass takes this position
  kind=support,target=x:y:z:x:y:z:...           it is above the convex hull of these points (,margin=N,up=x:y:z)
  kind=posture,target=JSON                      joints take these values (,weights=JSON by joint)
  kind=joint,joint=JOINT,target=N               a joint takes this value
  optional: ,weights=N:N:...   per axis (poses: 6, position first; others: 3; or one for all); 0 leaves it free
            ,weight=N          of kinds without axes
            ,frame=world|tip   whose axes the weights of a tip mean (world)
            ,tolerance=N       metres or radians (1e-5); for a pose also position:orientation, for a laser spot:beam,
                               for a posture angle:length
            ,band=N            what does not count, metres or radians; for a pose position:orientation
            ,point=x:y:z       point of the link in place of its origin (plane, line, curve, distance)
            ,offset=x:y:z      tip in the link's frame in place of it, of the other kinds with a tip; also with a
                               rotation, x:y:z:qw:qx:qy:qz; other_offset: of the other link
            ,priority=N        whole number, 1 first (1): a task moves nothing that one before it asks for
            ,influence=N       0 to 1, how much it counts (1)
            ,name=TEXT         how reports call it
  Targets are in the robot's root frame, in metres; quaternions need not be normalised."""

Reader = Callable[[Fields, str], Any]


@dataclass(frozen=True)
class Kind:
    """How a kind of task is written. Fields: {name: (argument of `build`, reader)}; the first `required` must be there.
    A reader returns the argument's value, or a dict of several arguments where no argument is named."""

    build: Callable[..., Task]
    required: int
    fields: Mapping[str, tuple[str, Reader]] = field(default_factory=dict)


def parse_task(text: str) -> Task:
    """The task that `text` describes. Raises TaskError or UnknownNameError, naming the field."""
    return build_task(text, parse_fields(text, "task"))


def build_task(text: str, given: Fields) -> Task:
    """As `parse_task`; given: the fields of `text`."""
    word = given.get("kind")
    if word is None:
        raise TaskError(f"task {text!r}: kind is missing (valid: {', '.join(KINDS)})")
    if word not in KINDS:
        raise UnknownNameError("task kind", word, KINDS)
    kind = KINDS[word]
    for name in list(kind.fields)[: kind.required]:
        if not given.get(name):
            raise TaskError(f"task {text!r}: {name} is missing")
    arguments: dict[str, Any] = {}
    try:
        for name in (name for name in given if name != "kind"):
            if name not in kind.fields:
                raise UnknownNameError(f"field of a {word} task", name, ("kind", *kind.fields))
            argument, read = kind.fields[name]
            value = read(given, name)
            arguments |= {argument: value} if argument else value
        return kind.build(**arguments)
    except TaskError as error:
        raise TaskError(f"task {text!r}: {error}") from None


def _word(fields: Fields, name: str) -> str:
    return fields[name]


def _number(fields: Fields, name: str) -> float:
    return numbers(fields, name, 1)[0]


def _vector(fields: Fields, name: str) -> list[float]:
    return numbers(fields, name, 3)


def _points(fields: Fields, name: str) -> np.ndarray:
    count = fields[name].count(":") + 1
    return np.array(numbers(fields, name, max(3, count - count % 3))).reshape(-1, 3)


def _pair(fields: Fields, name: str) -> tuple[list[float], list[float]]:
    values = numbers(fields, name, 6)
    return values[:3], values[3:]


def _plane(fields: Fields, name: str) -> Plane:
    return Plane(*_pair(fields, name))


def _whole(fields: Fields, name: str) -> int:
    try:
        return int(fields[name])
    except ValueError:
        raise TaskError(f"{name}: {fields[name]!r} is not a whole number") from None


def _switch(fields: Fields, name: str) -> bool:
    if fields[name] not in ("yes", "no"):
        raise TaskError(f"{name}: {fields[name]!r} is neither yes nor no")
    return fields[name] == "yes"


def _joints(fields: Fields, name: str) -> dict:
    return read_joint_values(fields[name], name)


def _joint_value(fields: Fields, name: str) -> float | list[float]:
    values = [number(name, part) for part in fields[name].split(":")]
    return values[0] if len(values) == 1 else values


def _rotation(values: list[float], name: str) -> np.ndarray:
    length = np.linalg.norm(values)
    if length < 1e-9:
        raise TaskError(f"{name}: the quaternion (w:x:y:z) is zero")
    return quaternion.to_matrix(np.array(values) / length)


def _orientation(fields: Fields, name: str) -> np.ndarray:
    return _rotation(numbers(fields, name, 4), name)


def _pose(fields: Fields, name: str) -> np.ndarray:
    values = numbers(fields, name, 7)
    target = np.eye(4)
    target[:3, :3], target[:3, 3] = _rotation(values[3:], name), values[:3]
    return target


def _per_axis(fields: Fields, name: str) -> list[float]:
    values = numbers(fields, name, 1, 3)
    return values * 3 if len(values) == 1 else values


def _six_weights(fields: Fields, name: str) -> dict:
    values = numbers(fields, name, 1, 6)
    values = values * 6 if len(values) == 1 else values
    return {"position_weights": values[:3], "orientation_weights": values[3:]}


def _both(fields: Fields, name: str) -> dict:
    """Of position and orientation: one number for both, or two."""
    values = numbers(fields, name, 1, 2)
    return {f"position_{name}": values[0], f"orientation_{name}": values[-1]}


def _angle_and_length(fields: Fields, name: str) -> dict:
    values = numbers(fields, name, 1, 2)
    return {"angle_tolerance": values[0], "length_tolerance": values[-1]}


def _spot_and_beam(fields: Fields, name: str) -> dict:
    values = numbers(fields, name, 1, 2)
    return {"tolerance": values[0], "beam_tolerance": values[-1]}


def _offset(fields: Fields, name: str) -> np.ndarray:
    values = numbers(fields, name, 3, 7)
    T = np.eye(4)
    T[:3, 3] = values[:3]
    if len(values) == 7:
        T[:3, :3] = _rotation(values[3:], name)
    return T


_LINK = {"tip": ("link", _word)}
_OFFSET = {"offset": ("offset", _offset)}
_OTHER = {"other": ("other", _word)}
_OTHER_OFFSET = {"other_offset": ("other_offset", _offset)}
_AXIS = {"axis": ("axis", _vector)}
_POINT = {"point": ("point", _vector)}
_FRAME = {"frame": ("frame", _word)}
_WEIGHT = {"weight": ("weight", _number)}
_WEIGHTS = {"weights": ("weights", _per_axis)}
_TOLERANCE = {"tolerance": ("tolerance", _number)}
_BAND = {"band": ("band", _number)}
_LEVEL = {"priority": ("priority", _whole), "influence": ("influence", _number), "name": ("name", _word)}
_SIX = {"weights": ("", _six_weights), "tolerance": ("", _both)}
_SIX_BAND = {"band": ("", _both)}
_NEAR = {**_POINT, **_WEIGHT, **_TOLERANCE, **_BAND, **_LEVEL}
_THREE = {**_WEIGHTS, **_FRAME, **_TOLERANCE, **_BAND, **_OFFSET, **_LEVEL}


def _target(read: Reader) -> dict[str, tuple[str, Reader]]:
    return {"target": ("target", read)}


KINDS: dict[str, Kind] = {
    "pose": Kind(PoseTask, 2, {**_LINK, **_target(_pose), **_SIX, **_SIX_BAND, **_FRAME, **_OFFSET, **_LEVEL}),
    "position": Kind(PositionTask, 2, {**_LINK, **_target(_vector), **_THREE}),
    "orientation": Kind(OrientationTask, 2, {**_LINK, **_target(_orientation), **_THREE}),
    "axis": Kind(AxisTask, 3, {**_LINK, **_AXIS, **_target(_vector), **_THREE}),
    "aim": Kind(
        AimTask, 3, {**_LINK, **_AXIS, **_target(_vector), **_WEIGHT, **_TOLERANCE, **_BAND, **_OFFSET, **_LEVEL}
    ),
    "plane": Kind(OnPlaneTask, 2, {**_LINK, **_target(_pair), "side": ("side", _word), **_NEAR}),
    "line": Kind(OnLineTask, 2, {**_LINK, **_target(_pair), **_NEAR}),
    "curve": Kind(OnCurveTask, 2, {**_LINK, **_target(_points), "closed": ("closed", _switch), **_NEAR}),
    "distance": Kind(
        DistanceTask,
        2,
        {
            **_LINK,
            **_target(_number),
            **_OTHER,
            "other_point": ("other_point", _vector),
            "relation": ("relation", _word),
            **_NEAR,
        },
    ),
    "laser": Kind(
        LaserTask,
        4,
        {
            **_LINK,
            **_AXIS,
            **_target(_vector),
            "surface": ("surface", _plane),
            **_WEIGHT,
            "tolerance": ("", _spot_and_beam),
            **_OFFSET,
            **_LEVEL,
        },
    ),
    "relative_pose": Kind(
        RelativePoseTask,
        3,
        {**_LINK, **_OTHER, **_target(_pose), **_SIX, **_SIX_BAND, **_OFFSET, **_OTHER_OFFSET, **_LEVEL},
    ),
    "advance": Kind(
        AdvanceTask, 2, {**_LINK, **_target(_vector), **_WEIGHTS, **_FRAME, **_TOLERANCE, **_OFFSET, **_LEVEL}
    ),
    "pin": Kind(PinTask, 1, {**_LINK, **_SIX, **_OFFSET, **_LEVEL}),
    "loop_closure": Kind(
        LoopClosureTask, 2, {**_LINK, **_OTHER, **_SIX, **_OFFSET, **_OTHER_OFFSET, "name": ("name", _word)}
    ),
    "center_of_mass": Kind(CenterOfMassTask, 1, {**_target(_vector), **_WEIGHTS, **_TOLERANCE, **_BAND, **_LEVEL}),
    "support": Kind(
        SupportTask,
        1,
        {**_target(_points), "margin": ("margin", _number), "up": ("up", _vector), **_WEIGHT, **_TOLERANCE, **_LEVEL},
    ),
    "posture": Kind(
        PostureTask,
        1,
        {**_target(_joints), "weights": ("weights", _joints), "tolerance": ("", _angle_and_length), **_BAND, **_LEVEL},
    ),
    "joint": Kind(
        JointTask,
        2,
        {"joint": ("joint", _word), **_target(_joint_value), **_WEIGHT, **_TOLERANCE, **_BAND, **_LEVEL},
    ),
}
