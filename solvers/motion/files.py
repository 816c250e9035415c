"""Motions as files: CSV, JSON and ROS JointTrajectory YAML (written and read), splines of controllers and angles of
servos (written). SI and radians, but for those.

CSV: header `time` and the joint names; one row per sample. A joint of several coordinates has one column for each,
named "joint/x" and so on (see `motion.coordinate_names`). Mimic joints have their column too, as what they show.
Quantities besides have columns named "joint effort [N m]" and so on; they are not read.
JSON: {"robot", "times": [s], "positions": {joint: [value per sample]}, "velocities", "accelerations": the same}; the
value of a joint of several coordinates is a list. Velocities and accelerations are those of independent joints.
YAML: one trajectory_msgs/JointTrajectory (header, joint_names, points with positions, velocities, accelerations and
time_from_start). It holds the independent joints; JointTrajectory has no place for the quaternions of ball and floating
joints, so these are left out and named in a comment at the top.
PVT: rows of time, and of position and velocity of each independent joint: a controller goes along the cubic that has
both at both ends. Those of `smooth_motion`, at the frames or between, are its own pieces. Joints with quaternions are
left out, and named in a comment at the top.
SVG: diagrams of positions, velocities and accelerations over time (see `plot`).
SERVO: as CSV, with the servo's angle of each joint in degrees, 0 to 180, for a hobby controller (see `servos`).
Numbers of the others are written so that reading gives the same bits.
"""

from __future__ import annotations

import csv
import io
import json
import logging
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from types import MappingProxyType

import numpy as np

from ...robokin.arrays import Array
from ...robokin.errors import ConfigurationError, FileFormatError, RobokinError
from ...robokin.files.text_file import checked_path, number, parse_json, read_text, write_text
from ...robokin.model.robot import Joint, RobotModel
from ...robokin.units import counted
from .dynamics import COLUMN
from .joint_trajectory import Quantities, motion_losses, plain_joints, trajectory_columns, trajectory_text
from .motion import Motion, checked_motion, coordinate_names
from .plot import plot_text
from .servos import servo_angles

TIME = "time"
WITH_QUANTITIES = ".csv", ".json", ".yaml", ".yml"
NONE: Quantities = MappingProxyType({})
Read = tuple[Motion, list[str], list[str]]  # as `read_known_motion`
MAX_BYTES = 256 << 20  # hours of a robot
logger = logging.getLogger(__name__)


def write_motion(motion: Motion, path: str | os.PathLike, quantities: Quantities = NONE) -> Path:
    """Write by the file's extension (.csv, .json, .yaml, .yml, .servo, .pvt, .svg), whole or not at all. Returns the
    path.

    quantities: name -> unit and values (F,), as `MotionDynamics.columns` has them, for .csv and .json; .yaml takes
    efforts of them. What the file has no place for is logged, see `motion_losses`.
    Raises FileFormatError for an unknown extension and for a path that cannot be written; ConfigurationError for
    angles of servos that cannot be, and for quantities that have no place in the file.
    """
    path = Path(checked_path(path, "a motion"))
    write = _by_extension(path, _WRITERS, "write")
    has_place = path.suffix.lower() in WITH_QUANTITIES
    if quantities and not has_place:
        raise ConfigurationError(f"{path.suffix} has no place for quantities (valid: {', '.join(WITH_QUANTITIES)})")
    own = checked_motion(motion)
    write_text(path, write(own, quantities) if has_place else write(own))
    for loss in motion_losses(own.model, path):
        logger.warning(loss)
    return path


def read_motion(path: str | os.PathLike, model: RobotModel) -> Motion:
    """Read a .csv, .json, .yaml or .yml motion of `model`, in any order of the joints. Joints without values are
    neutral. Raises FileFormatError naming file and line, also for a joint that the robot does not have.
    """
    motion, others, absent = read_known_motion(path, model)
    if absent:
        logger.warning(absent_note(path, absent))
    if others:
        valid = ", ".join(name for joint in model.joints if joint.nq for name in coordinate_names(joint))
        line = 1 if Path(path).suffix.lower() == ".csv" else None
        raise FileFormatError(Path(path), line, f"{others[0]!r} is no joint of {model.name!r} (valid: {valid})")
    return motion


def absent_note(path: str | os.PathLike, absent: list[str]) -> str:
    """One line on joints that a file has no values for."""
    return f"{Path(path).name} has no values for {', '.join(map(repr, absent))}: kept neutral"


def read_known_motion(path: str | os.PathLike, model: RobotModel) -> Read:
    """`read_motion` of the joints that the robot has; the names that it has not, in the order of the file; those of its
    joints that the file has no values for. Raises FileFormatError also where it has none of them."""
    path = Path(checked_path(path, "a motion"))
    read = _by_extension(path, _READERS, "read")
    text = read_text(path, "a motion", MAX_BYTES)
    try:
        return read(text, model, path)
    except FileFormatError:
        raise
    except RobokinError as problem:
        raise FileFormatError(path, None, str(problem)) from None


# -- writing ---------------------------------------------------------------------------------------------------------


def _shown(motion: Motion) -> list[tuple[Joint, Array]]:
    """Every moving joint, mimic joints included, with its (F, nq) values."""
    model, shown = motion.model, []
    for joint, slot in zip(model.joints, model.slots, strict=True):
        if joint.nq:
            values = motion.q[:, slot.q]
            if joint.mimic is not None:
                scale, offset = model.mimic_map(joint.name)
                values = scale * values + offset
            shown.append((joint, values))
    return shown


def _csv(motion: Motion, quantities: Quantities) -> str:
    shown = _shown(motion)
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    units = [f"{name} [{unit}]" for name, (unit, _) in quantities.items()]
    writer.writerow([TIME, *(name for joint, _ in shown for name in coordinate_names(joint)), *units])
    columns = [values for _, values in quantities.values()]
    table = np.column_stack([motion.times, *(values for _, values in shown), *columns])
    writer.writerows(table.tolist())
    return out.getvalue()


def _servo(motion: Motion) -> str:
    names, angles = servo_angles(motion.model, motion.q)
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([TIME, *names])
    for time, row in zip(motion.times.tolist(), angles.tolist(), strict=True):
        writer.writerow([f"{time:.6g}", *(f"{angle:.2f}" for angle in row)])
    return out.getvalue()


def _pvt(motion: Motion) -> str:
    joints, iq, iv, left_out = plain_joints(motion.model)
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    if left_out:
        out.write(f"# left out (their quaternions have no velocities): {', '.join(left_out)}\n")
    names = [name for joint in joints for name in coordinate_names(joint)]
    writer.writerow([TIME, *(column for name in names for column in (name, f"{name} velocity"))])
    pairs = np.stack((motion.q[:, iq], motion.v[:, iv]), axis=2).reshape(len(motion), -1)
    writer.writerows(np.column_stack([motion.times, pairs]).tolist())
    return out.getvalue()


def _json(motion: Motion, quantities: Quantities) -> str:
    model = motion.model

    def plain(values: Array) -> list:
        return values[:, 0].tolist() if values.shape[1] == 1 else values.tolist()

    data = {
        "robot": model.name,
        "times": motion.times.tolist(),
        "positions": {joint.name: plain(values) for joint, values in _shown(motion)},
    }
    for key, array in (("velocities", motion.v), ("accelerations", motion.a)):
        data[key] = {joint.name: plain(array[:, model.slot(joint.name).v]) for joint in model.moving_joints}
    if quantities:
        data["quantities"] = {
            name: {"unit": unit, "values": [x if np.isfinite(x) else None for x in values.tolist()]}
            for name, (unit, values) in quantities.items()
        }
    return json.dumps(data) + "\n"


# -- reading ---------------------------------------------------------------------------------------------------------


def _read_csv(text: str, model: RobotModel, path: Path) -> Read:
    rows = _rows(text, path)
    _, header = next(rows, (1, []))
    if not header or header[0].strip() != TIME:
        raise FileFormatError(path, 1, f"the first column must be {TIME!r}, not {(header or [''])[0]!r}")
    header = [name.strip() for name in header]
    table, lines = [], []
    for line, row in rows:
        if not row:
            continue
        lines.append(line)
        if len(row) != len(header):
            raise FileFormatError(path, line, f"{counted(len(row), 'value')} under {counted(len(header), 'column')}")
        try:
            table.append([number(cell) for cell in row])
        except ValueError as problem:
            raise FileFormatError(path, line, f"not a number: {problem}") from None
    if not table:
        raise FileFormatError(path, None, "has no samples")
    columns = dict(zip(header, np.array(table).T, strict=True))
    if len(columns) != len(header):
        twice = next(name for name in header if header.count(name) > 1)
        raise FileFormatError(path, 1, f"two columns are named {twice!r}")
    own = {TIME, *(name for joint in model.joints if joint.nq for name in coordinate_names(joint))}
    for name, values in columns.items():  # quantities may be none: where nothing presses there is no point
        if name in own and not (finite := np.isfinite(values)).all():
            raise FileFormatError(path, lines[int(np.argmin(finite))], f"{name!r} is not finite")
    times = columns.pop(TIME)
    if (late := np.diff(times) <= 0.0).any():
        sample = int(np.argmax(late)) + 1
        text = f"times must increase: {times[sample]:g} s comes after {times[sample - 1]:g} s"
        raise FileFormatError(path, lines[sample], text)
    return _of_columns(model, times, columns, path, 1)


def _read_yaml(text: str, model: RobotModel, path: Path) -> Read:
    return _of_columns(model, *trajectory_columns(text, path), path, None)


def _of_columns(model: RobotModel, times: Array, columns: dict[str, Array], path: Path, line: int | None) -> Read:
    values, others = {}, []
    known = {name: joint for joint in model.joints for name in coordinate_names(joint) if joint.nq}
    for name in columns:
        if name not in known:
            if not COLUMN.fullmatch(name):
                others.append(name)
            continue
        joint = known[name]
        missing = [part for part in coordinate_names(joint) if part not in columns]
        if missing:
            raise FileFormatError(path, line, f"joint {joint.name!r} lacks the column {missing[0]!r}")
        values[joint.name] = np.column_stack([columns[part] for part in coordinate_names(joint)])
    return _motion(model, times, values, path, others, line)


def _rows(text: str, path: Path) -> Iterator[tuple[int, list[str]]]:
    """(line, cells) of each row."""
    reader = csv.reader(io.StringIO(text))
    try:
        for row in reader:
            yield reader.line_num, row
    except csv.Error as problem:  # a cell of more than 131,072 characters
        raise FileFormatError(path, reader.line_num, str(problem)) from None


def _read_json(text: str, model: RobotModel, path: Path) -> Read:
    data = parse_json(text, path)
    if not isinstance(data, dict) or not isinstance(data.get("positions"), dict) or "times" not in data:
        raise FileFormatError(path, None, 'must be an object with "times" and "positions"')
    if not isinstance(data["times"], list):
        raise FileFormatError(path, None, f'"times" must be a list of seconds, not {str(data["times"])[:60]!r}')
    if _has_truth_values(data["times"]):
        raise FileFormatError(path, None, '"times" are not numbers')
    values, others = {}, []
    names = {joint.name for joint in model.joints}
    for name, given in data["positions"].items():
        if name not in names:
            others.append(name)
            continue
        joint = model.joint(name)
        try:
            array = np.array(given)
        except ValueError:
            array = np.array("")
        if array.dtype.kind not in "iuf" or _has_truth_values(given):
            raise FileFormatError(path, None, f"positions of {name!r} are not numbers, or not equally many")
        if not np.isfinite(array := array.astype(float)).all():
            raise FileFormatError(path, None, f"positions of {name!r} are not finite")
        values[name] = array[:, None] if array.ndim == 1 else array
        if values[name].ndim != 2 or values[name].shape[1] != joint.nq:
            raise FileFormatError(path, None, f"joint {name!r} takes {counted(joint.nq, 'value')} per sample")
    return _motion(model, data["times"], values, path, others, None)


def _has_truth_values(given: object) -> bool:
    """NumPy takes these for 0 and 1 where they are among numbers."""
    return any(map(_has_truth_values, given)) if isinstance(given, list) else isinstance(given, bool)


def _motion(
    model: RobotModel, times: object, values: dict[str, Array], path: Path, others: list[str], line: int | None
) -> Read:
    """Values (F, nq) per joint; those of mimic joints must agree with the joint they follow, when it is given."""
    if not values and (others or model.nq):
        valid = ", ".join(joint.name for joint in model.joints if joint.nq)
        what = f"{others[0]!r} is no joint of {model.name!r}, nor is another" if others else "has no values of a joint"
        raise FileFormatError(path, line, f"{what} (valid: {valid})")
    count = len(times) if isinstance(times, list | np.ndarray) else 0
    q = np.tile(model.neutral(), (count, 1))
    for name, array in values.items():
        if len(array) != count:
            raise FileFormatError(path, None, f"joint {name!r} has {len(array)} values for {count} times")
        if model.joint(name).mimic is None:
            q[:, model.slot(name).q] = array
    known = {name for name in values if model.joint(name).mimic is None}
    for name, array in values.items():
        if model.joint(name).mimic is None:
            continue
        scale, offset = model.mimic_map(name)
        slot = model.slot(name).q
        followed = next(j.name for j in model.moving_joints if model.slot(j.name).q == slot)
        if followed not in known and scale != 0.0:
            q[:, slot] = (array - offset) / scale
            known.add(followed)
        wrong = abs(scale * q[:, slot] + offset - array).max(axis=1, initial=0.0) > 1e-6
        if wrong.any():
            raise ConfigurationError(
                f"joint {name!r} mimics {followed!r} and disagrees in sample {int(np.argmax(wrong))}"
            )
    return Motion.of(model, times, q), others, [j.name for j in model.moving_joints if j.name not in known]


_WRITERS: dict[str, Callable] = {
    ".csv": _csv,
    ".json": _json,
    ".yaml": trajectory_text,
    ".yml": trajectory_text,
    ".servo": _servo,
    ".pvt": _pvt,
    ".svg": plot_text,
}
_READERS: dict[str, Callable] = {".csv": _read_csv, ".json": _read_json, ".yaml": _read_yaml, ".yml": _read_yaml}


def _by_extension(path: Path, table: dict[str, Callable], verb: str) -> Callable:
    found = table.get(path.suffix.lower())
    if found is None:
        raise FileFormatError(path, None, f"cannot {verb} motion as {path.suffix!r} (valid: {', '.join(table)})")
    return found
