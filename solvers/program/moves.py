"""A list of moves, like a robot's program: what each move is, and lists of them as files."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ...robokin.arrays import MOST, Array, shown
from ...robokin.errors import ConfigurationError, FileFormatError, RobokinError, UnknownNameError
from ...robokin.files.text_file import parse_json, read_text

KINDS = ("joint", "line", "circle", "screw", "spline", "curve")
MAX_BYTES = 16 << 20
ENDS = 1e-6  # of a path: progress that is not quite 0 or 1 by rounding
_FIELDS = (
    *("name", "kind", "joints", "tip", "position", "quaternion", "via", "points"),
    *("speed", "tool_speed", "progress", "blend", "wait"),
)


@dataclass(frozen=True, eq=False)
class Move:
    """kind: "joint" goes from configuration to configuration, the others lead the tip. joints: where a joint move ends.
    Else the tip does: position (3,) [m] and quaternion (4,), w first, in the root frame; without one a joint move is
    free to turn, the others keep the tip's rotation. via: (3,) a point of a circle, between start and end.
    points: (n, 3) of a "spline", which passes them, or a "curve", of which they are samples; the last one is the end.
    speed: share of the limits, 0 to 1.   tool_speed: [m/s] that the tip has at most.   blend: [m] from the move's end,
    where the tip leaves its path for that of the next move, without rest.   wait: [s] afterwards.
    progress: (n, 2) times [s] from 0 on, and the share of the path, from 0 to 1, at which the move is then, in place of
    the fastest timing."""

    name: str
    kind: str = "joint"
    joints: Mapping[str, object] | None = None
    tip: str = ""
    position: Sequence[float] | None = None
    quaternion: Sequence[float] | None = None
    via: Sequence[float] | None = None
    points: Sequence[Sequence[float]] | None = None
    speed: float = 1.0
    tool_speed: float | None = None
    blend: float = 0.0
    wait: float = 0.0
    progress: Sequence[Sequence[float]] | None = None

    def __post_init__(self) -> None:
        who = called(self.name)
        if not isinstance(self.name, str):
            raise ConfigurationError(f"{who}: name must be a text")
        if self.kind not in KINDS:
            raise UnknownNameError("kind of move", self.kind, KINDS)
        self._check_points(who)
        for field, size in (("position", 3), ("quaternion", 4), ("via", 3)):
            value = getattr(self, field)
            if value is not None:
                object.__setattr__(self, field, _vector(value, size, f"{who}: {field}"))
        if self.joints is not None and (self.kind != "joint" or self.position is not None):
            raise ConfigurationError(f"{who}: joints are for a joint move, in place of a position")
        if self.joints is not None and not isinstance(self.joints, Mapping):
            raise ConfigurationError(f'{who}: joints must be {{"joint": value}}, not {shown(self.joints)}')
        if self.joints is None and self.position is None:
            raise ConfigurationError(f"{who} has no end: give joints, or a position")
        if self.joints is None and not self.tip:
            raise ConfigurationError(f"{who} leads a tip: name its link")
        if (self.kind == "circle") != (self.via is not None):
            raise ConfigurationError(f"{who}: a circle goes by a point `via`, and nothing else does")
        if not _number(self.speed) or not 0.0 < self.speed <= 1.0:
            raise ConfigurationError(f"{who}: speed must be a share of the limits in (0, 1], not {shown(self.speed)}")
        for field, unit in (("wait", "seconds"), ("blend", "metres")):
            value = getattr(self, field)
            if not _number(value) or not 0.0 <= value < 1e6:
                raise ConfigurationError(f"{who}: {field} must be a number of {unit} from 0 on, not {shown(value)}")
        speed = self.tool_speed
        if speed is not None and not (_number(speed) and speed > 0.0):
            raise ConfigurationError(f"{who}: tool_speed must be a positive number of m/s, not {shown(speed)}")
        if speed is not None and not self.tip:
            raise ConfigurationError(f"{who}: tool_speed is that of a tip: name its link, or leave it out")
        if self.progress is not None:
            object.__setattr__(self, "progress", _checked_progress(self.progress, f"{who}: progress"))
            if self.blend:
                raise ConfigurationError(f"{who}: its progress ends at rest, so it cannot blend")
        if self.blend and self.wait:
            raise ConfigurationError(f"{who}: it blends into the next move, so it cannot wait")

    def _check_points(self, who: str) -> None:
        """The end of a move through points is the last of them."""
        if (self.kind in ("spline", "curve")) != (self.points is not None):
            raise ConfigurationError(f"{who}: a spline and a curve have points, and nothing else does")
        if self.points is None:
            return
        if self.position is not None:
            raise ConfigurationError(f"{who} ends at the last of its points: it takes no position")
        is_list = isinstance(self.points, Sequence) or (isinstance(self.points, np.ndarray) and self.points.ndim > 0)
        if not is_list or not len(self.points):
            raise ConfigurationError(f"{who}: points must be a list of places, not {shown(self.points)}")
        points = np.array([_vector(point, 3, f"{who}: each of its points") for point in self.points])
        object.__setattr__(self, "points", points)
        object.__setattr__(self, "position", points[-1])


def called(name: object) -> str:
    """How a message names a move: those without a name are "move 1", "move 2"."""
    return name if isinstance(name, str) and name.startswith("move ") else f"move {shown(name)}"


def read_moves(path: str | os.PathLike) -> list[Move]:
    """The moves of a JSON file: {"moves": [{"name", "kind", "joints" or "tip", "position", "quaternion", "via",
    "points", "speed" [%], "tool_speed" [m/s], "progress", "blend" [m], "wait" [s]}]}. Raises FileFormatError."""
    data = parse_json(read_text(path, "a list of moves", MAX_BYTES), path)
    given = data.get("moves") if isinstance(data, dict) else None
    if not isinstance(given, list) or not given:
        raise FileFormatError(path, None, 'must be an object with "moves", a list of moves')
    return [_read(Path(path), number, entry) for number, entry in enumerate(given, 1)]


def _read(path: Path, number: int, entry: object) -> Move:
    if not isinstance(entry, dict):
        raise FileFormatError(path, None, f"move {number} must be an object, not {shown(entry)}")
    try:
        for field in entry:
            if field not in _FIELDS:
                raise UnknownNameError("field of a move", field, _FIELDS)
        fields: dict[str, Any] = {"name": f"move {number}"} | entry
        if "speed" in fields:
            percent = fields["speed"]
            if not _number(percent) or not 0.0 < percent <= 100.0:
                raise ConfigurationError(f"speed must be % of the limits, over 0 and up to 100, not {shown(percent)}")
            fields["speed"] = percent / 100.0
        return Move(**fields)
    except RobokinError as problem:
        own, said = called(entry.get("name", f"move {number}")), str(problem)
        said = said.removeprefix(own) if said.startswith(own) else f": {said}"
        raise FileFormatError(path, None, f"move {number}{said}") from None


def _checked_progress(value: object, what: str) -> Array:
    try:
        array = np.array(value, float)
    except (TypeError, ValueError, OverflowError):
        array = np.empty(0)
    if array.ndim != 2 or array.shape[1] != 2 or len(array) < 2 or not np.isfinite(array).all():
        raise ConfigurationError(f"{what} must be pairs of a time and a share of the path, not {shown(value)}")
    times, shares = array.T
    if times[0] != 0.0 or (np.diff(times) <= 0.0).any():
        raise ConfigurationError(f"{what}: its times must begin at 0 and increase")
    if (shares < 0.0).any() or (shares > 1.0).any() or shares[0] > ENDS or shares[-1] < 1.0 - ENDS:
        raise ConfigurationError(
            f"{what} must go from 0 to 1 and stay between, not from {shares[0]:g} to {shares[-1]:g}"
        )
    array[[0, -1], 1] = 0.0, 1.0
    return array


def _vector(value: object, size: int, what: str) -> Array:
    try:
        array = np.array(value, float)
    except (TypeError, ValueError, OverflowError):
        array = np.empty(0)
    if array.shape != (size,) or not (abs(array) <= MOST).all():
        raise ConfigurationError(f"{what} must be {size} numbers, not {shown(value)}")
    if size == 4 and np.linalg.norm(array) < 1e-9:
        raise ConfigurationError(f"{what} is no rotation: its numbers are 0")
    return array


def _number(value: object) -> bool:
    if isinstance(value, (np.integer, np.floating)):
        value = value.item()
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) <= MOST
