"""Tasks written on the command line: `kind=pose,tip=LINK,target=x:y:z:qw:qx:qy:qz[,weights=...][,tolerance=...]`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ...robokin.errors import RobokinError, TaskError, UnknownNameError
from ...robokin.model.robot import RobotModel
from ...solvers.tasks import (
    AdvanceTask,
    AimTask,
    AlongCurveTask,
    AxisTask,
    CenterOfMassTask,
    DistanceTask,
    JointTask,
    JointVelocityTask,
    LaserTask,
    LinearVelocityTask,
    LoopClosureTask,
    OnCurveTask,
    OnLineTask,
    OnPlaneTask,
    OrientationTask,
    PinTask,
    PoseTask,
    PositionTask,
    PostureTask,
    RelativePoseTask,
    SupportTask,
    Task,
    TwistTask,
)
from .fields import Fields, parse_fields
from .task_fields import (
    Reader,
    joint_value,
    joints,
    lines,
    offset,
    one,
    orientation,
    pair,
    pair_or_one,
    per_axis,
    plane,
    points,
    pose,
    six,
    six_bands,
    six_weights,
    switch,
    tolerances,
    twist,
    vector,
    whole,
    with_target,
    word,
)

OF_A_SCENE = ("object", "bone", "surface_object")  # fields that name what only a .blend has


@dataclass(frozen=True)
class Kind:
    """How a kind of task is written. Fields: {name: (argument of `build`, reader)}; the first `required` must be there.
    A reader returns the argument's value, or a dict of several arguments where no argument is named."""

    build: Callable[..., Task]
    required: int
    fields: Mapping[str, tuple[str, Reader]] = field(default_factory=dict)


def parse_task(text: str) -> Task:
    """The task that `text` describes, without a scene. Raises TaskError or UnknownNameError, naming the field."""
    fields = parse_fields(text, "task")
    for name in OF_A_SCENE:
        if name in fields:
            raise TaskError(f"task {text!r}: {name} names an object of a scene, which only a .blend has")
    return build_task(text, fields)


def check_task(text: str, task: Task, model: RobotModel) -> None:
    """Raises TaskError that names the task whose links or joints the robot does not have."""
    try:
        task.check(model)
    except RobokinError as error:
        raise TaskError(f"task {text!r}: {error}") from None


def build_task(text: str, given: Fields) -> Task:
    """As `parse_task`; given: the fields of `text`."""
    name = given.get("kind")
    if name is None:
        raise TaskError(f"task {text!r}: kind is missing (valid: {', '.join(KINDS)})")
    if name not in KINDS:
        raise UnknownNameError("task kind", name, KINDS)
    kind = KINDS[name]
    for key in list(kind.fields)[: kind.required]:
        if not given.get(key):
            raise TaskError(f"task {text!r}: {key} is missing")
    arguments: dict[str, Any] = {}
    try:
        for key in (key for key in given if key != "kind"):
            if key not in kind.fields:
                raise UnknownNameError(f"field of a {name} task", key, ("kind", *kind.fields))
            argument, read = kind.fields[key]
            value = read(given, key)
            arguments |= {argument: value} if argument else value
        return kind.build(**arguments)
    except RobokinError as error:
        raise TaskError(f"task {text!r}: {error}") from None


_LINK = {"tip": ("link", word)}
_OFFSET = {"offset": ("offset", offset)}
_OTHER = {"other": ("other", word)}
_OTHER_OFFSET = {"other_offset": ("other_offset", offset)}
_AXIS = {"axis": ("axis", vector)}
_POINT = {"point": ("point", vector)}
_FRAME = {"frame": ("frame", word)}
_WEIGHT = {"weight": ("weight", one)}
_WEIGHTS = {"weights": ("weights", per_axis)}
_TOLERANCE = {"tolerance": ("tolerance", one)}
_BAND = {"band": ("band", one)}
_BANDS = {"band": ("band", per_axis)}
_NAME = {"name": ("name", word)}
_LEVEL = {"priority": ("priority", whole), "influence": ("influence", one), **_NAME}
_SIX = {"weights": ("", six_weights), "tolerance": ("", tolerances("position_tolerance", "orientation_tolerance"))}
_SIX_BANDS = {"band": ("", six_bands)}
_CLOSED = {"closed": ("closed", switch)}
_NEAR = {**_POINT, **_WEIGHT, **_TOLERANCE}
_THREE = {**_WEIGHTS, **_FRAME, **_TOLERANCE, **_OFFSET, **_LEVEL}


def _target(read: Reader) -> dict[str, tuple[str, Reader]]:
    return {"target": ("target", read)}


KINDS: dict[str, Kind] = {
    "pose": Kind(PoseTask, 2, {**_LINK, **_target(pose), **_SIX, **_SIX_BANDS, **_FRAME, **_OFFSET, **_LEVEL}),
    "position": Kind(PositionTask, 2, {**_LINK, **_target(vector), **_THREE, **_BANDS}),
    "orientation": Kind(OrientationTask, 2, {**_LINK, **_target(orientation), **_THREE, **_BANDS}),
    "axis": Kind(AxisTask, 3, {**_LINK, **_AXIS, **_target(vector), **_THREE, **_BAND}),
    "aim": Kind(
        AimTask, 3, {**_LINK, **_AXIS, **_target(vector), **_WEIGHT, **_TOLERANCE, **_BAND, **_OFFSET, **_LEVEL}
    ),
    "plane": Kind(OnPlaneTask, 2, {**_LINK, **_target(pair), "side": ("side", word), **_NEAR, **_BAND, **_LEVEL}),
    "line": Kind(OnLineTask, 2, {**_LINK, **_target(pair), **_NEAR, **_BAND, **_LEVEL}),
    "curve": Kind(OnCurveTask, 2, {**_LINK, **_target(lines), **_CLOSED, **_NEAR, **_BAND, **_LEVEL}),
    "distance": Kind(
        DistanceTask,
        2,
        {
            **_LINK,
            **_target(one),
            **_OTHER,
            "other_point": ("other_point", vector),
            "relation": ("relation", word),
            **_NEAR,
            **_BAND,
            **_LEVEL,
        },
    ),
    "laser": Kind(
        LaserTask,
        4,
        {
            **_LINK,
            **_AXIS,
            **_target(vector),
            "surface": ("surface", plane),
            **_WEIGHT,
            "tolerance": ("", tolerances("tolerance", "beam_tolerance")),
            **_OFFSET,
            **_LEVEL,
        },
    ),
    "relative_pose": Kind(
        RelativePoseTask,
        3,
        {**_LINK, **_OTHER, **_target(pose), **_SIX, **_SIX_BANDS, **_OFFSET, **_OTHER_OFFSET, **_LEVEL},
    ),
    "advance": Kind(AdvanceTask, 2, {**_LINK, **_target(vector), **_THREE}),
    "pin": Kind(PinTask, 1, {**_LINK, **_target(pose), **_SIX, **_OFFSET, **_LEVEL}),
    "loop_closure": Kind(
        LoopClosureTask,
        2,
        {**_LINK, **_OTHER, **_SIX, "correction": ("correction", one), **_OFFSET, **_OTHER_OFFSET, **_NAME},
    ),
    "center_of_mass": Kind(CenterOfMassTask, 1, {**_target(vector), **_WEIGHTS, **_TOLERANCE, **_BANDS, **_LEVEL}),
    "support": Kind(
        SupportTask,
        1,
        {**_target(points), "margin": ("margin", one), "up": ("up", vector), **_WEIGHT, **_TOLERANCE, **_LEVEL},
    ),
    "posture": Kind(
        PostureTask,
        1,
        {
            **_target(joints),
            "weights": ("weights", joints),
            "tolerance": ("", tolerances("angle_tolerance", "length_tolerance")),
            "band": ("band", pair_or_one),
            **_LEVEL,
        },
    ),
    "joint": Kind(
        JointTask, 2, {"joint": ("joint", word), **_target(joint_value), **_WEIGHT, **_TOLERANCE, **_BAND, **_LEVEL}
    ),
    "twist": Kind(
        TwistTask,
        2,
        {
            **_LINK,
            "target": ("", twist),
            "about": ("", with_target),
            "pitch": ("", with_target),
            **_FRAME,
            "weights": ("weights", six),
            "tolerance": ("", tolerances("linear_tolerance", "angular_tolerance")),
            "band": ("band", six),
            **_OFFSET,
            **_LEVEL,
        },
    ),
    "along_curve": Kind(
        AlongCurveTask, 3, {**_LINK, "curve": ("curve", lines), **_target(one), **_CLOSED, **_NEAR, **_LEVEL}
    ),
    "joint_velocity": Kind(
        JointVelocityTask,
        1,
        {
            **_target(joints),
            **_WEIGHT,
            "tolerance": ("", tolerances("angular_tolerance", "linear_tolerance")),
            "band": ("band", pair_or_one),
            **_LEVEL,
        },
    ),
    "linear_velocity": Kind(
        LinearVelocityTask,
        2,
        {
            "coefficients": ("A", joints),
            **_target(one),
            "weight": ("weights", one),
            **_TOLERANCE,
            **_BAND,
            **_LEVEL,
        },
    ),
}
