"""ROS trajectory_msgs/JointTrajectory as YAML: written, and read as ROS 1 and 2 store it and `ros2 topic echo` prints
it, alone or as the trajectory of a goal."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from ...robokin.arrays import Array
from ...robokin.errors import FileFormatError
from ...robokin.model.robot import Joint, RobotModel
from ...robokin.urdf.xacro.yaml import plain_yaml
from .motion import Motion, coordinate_names, velocity_names

WITHIN = ("goal", "trajectory", "joint_trajectory")  # what a trajectory may be a part of
WITHOUT_QUATERNIONS = ".yaml", ".yml", ".pvt"
SECONDS, NANOSECONDS = ("sec", "secs"), ("nanosec", "nsecs")
Quantities = Mapping[str, tuple[str, Array]]  # name -> unit and values (F,)


def plain_joints(model: RobotModel) -> tuple[list[Joint], list[int], list[int], list[str]]:
    """Independent joints whose velocities are the rates of their coordinates; where these are in q and in v; the names
    of the others."""
    plain = [joint for joint in model.moving_joints if joint.nq == joint.nv]
    iq = [i for joint in plain for i in range(model.nq)[model.slot(joint.name).q]]
    iv = [i for joint in plain for i in range(model.nv)[model.slot(joint.name).v]]
    return plain, iq, iv, [joint.name for joint in model.moving_joints if joint.nq != joint.nv]


def motion_losses(model: RobotModel, path: Path) -> list[str]:
    """What the file of a motion has no place for, one line; empty when nothing is lost."""
    names = ", ".join(map(repr, plain_joints(model)[-1]))
    if not names or path.suffix.lower() not in WITHOUT_QUATERNIONS:
        return []
    return [f"{path.name} leaves out {names}: it has no place for quaternions (.csv and .json have)"]


def trajectory_text(motion: Motion, quantities: Quantities) -> str:
    """A trajectory of the joints that have a place in one, with the efforts among quantities (F,)."""
    model = motion.model
    scalar_joints, iq, iv, left_out = plain_joints(model)
    names = [name for joint in scalar_joints for name in coordinate_names(joint)]
    lines = ["# trajectory_msgs/JointTrajectory"]
    if left_out:
        lines.append(f"# left out (their quaternions have no place here): {json.dumps(left_out)[1:-1]}")
    # JSON strings are YAML strings.
    lines += [
        "header:",
        "  stamp: {sec: 0, nanosec: 0}",
        '  frame_id: ""',
        f"joint_names: {json.dumps(names)}",
        "points:",
    ]
    efforts = [f"{name} effort" for joint in scalar_joints for name in velocity_names(joint)]
    has_efforts = bool(efforts) and quantities.keys() >= {*efforts}
    forces = np.column_stack([quantities[name][1] for name in efforts]) if has_efforts else motion.v[:, iv]
    start = motion.times[0]
    rows = zip(motion.times, motion.q[:, iq], motion.v[:, iv], motion.a[:, iv], forces, strict=True)
    for time, q, v, a, effort in rows:
        sec, nanosec = divmod(round(float(time - start) * 1e9), 10**9)
        lines += [
            f"- positions: {_numbers_text(q)}",
            f"  velocities: {_numbers_text(v)}",
            f"  accelerations: {_numbers_text(a)}",
            *([f"  effort: {_numbers_text(effort)}"] if has_efforts else []),
            f"  time_from_start: {{sec: {sec}, nanosec: {nanosec}}}",
        ]
    return "\n".join(lines) + "\n"


def _numbers_text(values: Array) -> str:
    return "[" + ", ".join(_number_text(x) for x in values.tolist()) + "]"


def _number_text(value: float) -> str:
    """YAML 1.1 takes 1e-05 for a string: a number needs a point and the exponent a sign."""
    text = repr(value)
    if "e" in text and "." not in text:
        text = text.replace("e", ".0e")
    return text


def trajectory_columns(text: str, path: Path) -> tuple[Array, dict[str, Array]]:
    """(F,) times [s] and, by the names of the file, (F,) positions. Raises FileFormatError, which names the point."""
    data = _trajectory(plain_yaml(text, str(path)), path)
    names, points = data["joint_names"], data["points"]
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise FileFormatError(path, None, '"joint_names" must be a list of names')
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise FileFormatError(path, None, f"two joints are named {twice!r}")
    if not isinstance(points, list) or not points:
        raise FileFormatError(path, None, "has no points")
    times, rows = [], []
    for number, point in enumerate(points):
        who = f"point {number}"
        if not isinstance(point, dict):
            raise FileFormatError(path, None, f"{who} is not positions and time_from_start")
        row = point.get("positions")
        if not isinstance(row, list) or len(row) != len(names):
            count = len(row) if isinstance(row, list) else 0
            raise FileFormatError(path, None, f"{who} has {count} positions for {len(names)} joints")
        pairs = zip(names, row, strict=True)
        rows.append([_number(value, f"{who}: position of {name!r}", path) for name, value in pairs])
        times.append(_time(point.get("time_from_start"), who, path))
    return np.array(times), dict(zip(names, np.array(rows).reshape(len(rows), len(names)).T, strict=True))


def _trajectory(data: object, path: Path) -> dict:
    while isinstance(data, dict) and not {"joint_names", "points"} <= data.keys():
        data = next((data[word] for word in WITHIN if word in data), None)
    if not isinstance(data, dict):
        raise FileFormatError(path, None, 'is no JointTrajectory: it must have "joint_names" and "points"')
    return data


def _time(given: object, who: str, path: Path) -> float:
    if not isinstance(given, dict):
        return _number(given, f"{who}: time_from_start", path)
    parts = []
    for words in (SECONDS, NANOSECONDS):
        value = next((given[word] for word in words if word in given), None)
        parts.append(_number(value, f"{who}: {words[0]} of time_from_start", path))
    return parts[0] + 1e-9 * parts[1]


def _number(value: object, who: str, path: Path) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise FileFormatError(path, None, f"{who} must be a number, not {str(value)[:60]!r}")
    if not math.isfinite(value):
        raise FileFormatError(path, None, f"{who} is not finite")
    return float(value)
