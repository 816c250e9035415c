"""A list of moves, like a robot's program: joint, line, circle and screw moves, one after another."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ...robokin.arrays import MOST, Array, shown
from ...robokin.backend import get_backend
from ...robokin.errors import ConfigurationError, FileFormatError, RobokinError, UnknownNameError
from ...robokin.files.text_file import read_text
from ...robokin.kinematics import forward_kinematics
from ...robokin.model.robot import RobotModel
from ...robokin.spatial import quaternion, se3
from ..ik.solve import solve_ik
from ..motion.motion import FASTEST, Motion
from ..motion.rolled import rolled, rolling
from ..retiming.retime import retime
from ..retiming.timing import Retimed
from ..tasks import PoseTask, PositionTask
from ..tracking.track import track
from ..trajectories.motion_limits import MotionLimits
from ..trajectories.point_to_point import point_to_point
from ..trajectories.sampled import RATE, Sampled, check_count

KINDS = ("joint", "line", "circle", "screw")
PLACES = 120  # of a tool's way, each solved from the one before
LEAP = 0.5  # [rad, m] between two places: no way of a tool asks for that
UNHURRIED = 1e4  # [s] between them: limits on speed are those of the timing
MAX_BYTES = 16 << 20
_SAME = 1e-9  # of the time between two samples: nearer ones are one
_FIELDS = ("name", "kind", "joints", "tip", "position", "quaternion", "via", "speed", "wait")


@dataclass(frozen=True, eq=False)
class Move:
    """kind: "joint" goes from configuration to configuration; "line", "circle" and "screw" lead the tip. joints: where
    a joint move ends. Else the tip does: position (3,) [m] and quaternion (4,), w first, in the root frame; without
    one a joint move is free to turn, the others keep the tip's rotation. via: (3,) a point of a circle, between start
    and end. speed: share of the limits, 0 to 1. wait: [s] afterwards."""

    name: str
    kind: str = "joint"
    joints: Mapping[str, object] | None = None
    tip: str = ""
    position: Sequence[float] | None = None
    quaternion: Sequence[float] | None = None
    via: Sequence[float] | None = None
    speed: float = 1.0
    wait: float = 0.0

    def __post_init__(self) -> None:
        who = f"move {shown(self.name)}"
        if self.kind not in KINDS:
            raise UnknownNameError("kind of move", self.kind, KINDS)
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
        if not _number(self.wait) or not 0.0 <= self.wait < 1e6:
            raise ConfigurationError(f"{who}: wait must be a number of seconds, not {shown(self.wait)}")


def run_moves(
    model: RobotModel, moves: Sequence[Move], q0: object, limits: object = None
) -> list[tuple[Move, Sampled]]:
    """Each move with its motion, from rest to rest, beginning where the one before ends. q0: (nq,).

    Raises ConfigurationError, which names the move, where its end or its way is out of reach.
    """
    q = model.check_configuration(q0)
    bound, found = MotionLimits.of(model, limits), []
    for move in moves:
        own = bound.slower(move.speed)
        try:
            done: Sampled = _joint_move(model, move, q, own) if move.kind == "joint" else _tip_move(model, move, q, own)
        except RobokinError as problem:
            raise ConfigurationError(f"move {move.name!r}: {problem}") from None
        found.append((move, done))
        q = done.sample(done.duration)[0]
    return found


def program_motion(done: Sequence[tuple[Move, Sampled]], rate: float = RATE) -> Motion:
    """All of them one after another, with the waits, every 1/`rate` [s] of the whole and at each end. Raises
    ConfigurationError."""
    if not (isinstance(rate, (int, float, np.number)) and 0.0 < rate < FASTEST):
        raise ConfigurationError(f"rate must be a positive number of samples per second, not {shown(rate)}")
    if not done:
        raise ConfigurationError("a program needs at least one move")
    check_count(sum(motion.duration + move.wait for move, motion in done), float(rate))
    times: list[Array] = []
    rows: list[Array] = []
    now = 0.0
    for move, motion in done:
        end = now + motion.duration
        inside = np.arange(np.floor(now * rate + _SAME) + 1.0, np.ceil(end * rate - _SAME)) / rate
        own = np.unique(np.concatenate(([now], inside, [end])))
        q = motion.sample(own - now)[0]
        fresh = slice(1 if times else 0, None)
        times.append(own[fresh])
        rows.append(q[fresh])
        now = end
        if move.wait > 0.0:
            now += move.wait
            times.append(np.array([now]))
            rows.append(q[-1:])
    whole = Motion.of(done[0][1].model, np.concatenate(times), np.concatenate(rows))
    ways = [part.rolls for _, part in done if isinstance(part, Retimed)]
    return rolled(whole, np.all([rolling(whole.model, whole.q), *ways], axis=0)) if ways else whole


def read_moves(path: str | os.PathLike) -> list[Move]:
    """The moves of a JSON file: {"moves": [{"name", "kind", "joints" or "tip", "position", "quaternion", "via",
    "speed" [%], "wait" [s]}]}. Raises FileFormatError."""
    text = read_text(path, "a list of moves", MAX_BYTES)
    try:
        data = json.loads(text)
    except json.JSONDecodeError as problem:
        raise FileFormatError(path, problem.lineno, f"is not JSON: {problem.msg}") from None
    except (ValueError, RecursionError) as problem:
        raise FileFormatError(path, None, f"is not JSON: {problem}") from None
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
            fields["speed"] = fields["speed"] / 100.0 if _number(fields["speed"]) else fields["speed"]
        return Move(**fields)
    except RobokinError as problem:
        raise FileFormatError(path, None, f"move {number}: {problem}") from None


def _joint_move(model: RobotModel, move: Move, q: Array, limits: MotionLimits) -> Sampled:
    if move.joints is not None:
        end = q.copy()
        for name, value in move.joints.items():
            joint = model.joint(name)
            if joint.mimic is not None:
                raise ConfigurationError(f"joint {name!r} mimics another: name that one")
            end[model.slot(name).q] = joint.coordinates(value)
        return point_to_point(model, q, end, limits=limits)
    assert move.position is not None
    if move.quaternion is None:
        solved = solve_ik(model, [PositionTask(move.tip, move.position)], q)
    else:
        solved = solve_ik(model, [PoseTask(move.tip, _pose(move.position, move.quaternion))], q)
    if not solved.converged:
        raise ConfigurationError(f"its end is not reached: {solved.reason}")
    return point_to_point(model, q, solved.q, limits=limits)


def _tip_move(model: RobotModel, move: Move, q: Array, limits: MotionLimits) -> Sampled:
    start = forward_kinematics(model, q)[move.tip]
    assert move.position is not None
    end = start.copy()
    end[:3, 3] = move.position
    if move.quaternion is not None:
        end[:3, :3] = _pose(move.position, move.quaternion)[:3, :3]
    share = np.linspace(0.0, 1.0, PLACES + 1)
    turned = start[:3, :3] @ _rotations(start[:3, :3].T @ end[:3, :3], share)
    poses = np.tile(np.eye(4), (PLACES + 1, 1, 1))
    poses[:, :3, :3] = turned
    if move.kind == "line":
        poses[:, :3, 3] = start[:3, 3] + share[:, None] * (end[:3, 3] - start[:3, 3])
    elif move.kind == "circle":
        poses[:, :3, 3] = _arc(start[:3, 3], np.asarray(move.via), end[:3, 3], share)
    else:
        poses = start @ se3.exp(share[:, None] * se3.log(np.linalg.inv(start) @ end))
    followed = track(model, [PoseTask(move.tip, start)], poses[:, None], q, UNHURRIED)
    missed = np.flatnonzero(~followed.converged)
    if len(missed):
        reason = followed.diagnosis(int(missed[0])).reason
        raise ConfigurationError(f"its way is not met at {missed[0] / PLACES:.0%}: {reason}")
    way = followed.q.copy()
    way[0] = q
    leap = abs(get_backend().difference(model.tree, way[:-1], way[1:])).max(axis=1, initial=0.0)
    if leap.max() > LEAP:
        raise ConfigurationError(
            f"at {leap.argmax() / PLACES:.0%} of its way the joints would leap: it is singular there"
        )
    return retime(model, Motion.of(model, np.arange(len(way)), way), limits)


def _rotations(R: Array, share: Array) -> Array:
    turn = quaternion.log(quaternion.from_matrix(R))
    return quaternion.to_matrix(quaternion.exp(share[:, None] * turn))


def _arc(start: Array, via: Array, end: Array, share: Array) -> Array:
    """Points of the circle through three points, from the first over the second to the third. A full turn where start
    and end are one: then via is opposite."""
    if np.linalg.norm(end - start) < 1e-9:
        raise ConfigurationError("a circle ends elsewhere than it starts: take two halves")
    a, b = via - start, end - start
    normal = np.cross(a, b)
    square = float(normal @ normal)
    if square < 1e-18 * float(a @ a) * float(b @ b) or not a.any():
        raise ConfigurationError("the three points of a circle are on one line")
    centre = start + np.cross(normal, float(a @ a) * b - float(b @ b) * a) / (-2.0 * square)
    u = start - centre
    w = np.cross(normal / np.sqrt(square), u)

    def angle(point: Array) -> float:
        return float(np.arctan2((point - centre) @ w, (point - centre) @ u) % (2.0 * np.pi))

    return centre + np.cos(share * angle(end))[:, None] * u + np.sin(share * angle(end))[:, None] * w


def _pose(position: Sequence[float], turned: Sequence[float]) -> Array:
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = quaternion.to_matrix(quaternion.normalize(np.asarray(turned, float))), position
    return T


def _vector(value: object, size: int, what: str) -> Array:
    try:
        array = np.array(value, float)
    except (TypeError, ValueError, OverflowError):
        array = np.empty(0)
    if array.shape != (size,) or not np.isfinite(array).all() or (size == 4 and np.linalg.norm(array) < 1e-9):
        raise ConfigurationError(f"{what} must be {size} numbers, not {shown(value)}")
    return array


def _number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) <= MOST
