"""ROS trajectory_msgs/JointTrajectory as YAML, read: as ROS 1 and 2 store it and `ros2 topic echo` prints it, alone or
as the trajectory of a goal."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

from ...robokin.arrays import Array
from ...robokin.errors import FileFormatError
from ...robokin.urdf.xacro.yaml import plain_yaml

WITHIN = ("goal", "trajectory", "joint_trajectory")  # what a trajectory may be a part of
SECONDS, NANOSECONDS = ("sec", "secs"), ("nanosec", "nsecs")


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
