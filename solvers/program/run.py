"""A list of moves as motions: each from rest, or blended with those beside it."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from ...robokin.arrays import Array
from ...robokin.errors import ConfigurationError
from ...robokin.model.robot import RobotModel
from ..motion.motion import Motion
from ..motion.rolled import rolled, rolling
from ..progress import finish
from ..retiming.path import Path
from ..retiming.path_limits import PathLimits, ToolLimit
from ..retiming.retime import retime
from ..retiming.timing import Retimed
from ..trajectories.point_to_point import point_to_point
from ..trajectories.sampled import RATE, Sampled, sample_times
from .blends import joined
from .chains import chains, goes_freely, named
from .moves import Move

SAME_PLACE = 1e-9  # [rad, m] of two configurations
Parts = list[tuple[Move, Sampled]]


@dataclass(frozen=True, eq=False)
class PartOfMotion(Sampled):
    """From `start` [s] of a whole motion on, for `duration` [s]."""

    whole: Retimed
    start: float
    duration: float

    @property
    def model(self) -> RobotModel:  # type: ignore[override]
        return self.whole.model

    def states(self, t: Array) -> tuple[Array, Array, Array]:
        return self.whole.states(np.minimum(self.start + t, self.whole.duration))


def run_moves(
    model: RobotModel, moves: Sequence[Move], q0: object, limits: object = None, gravity: object = None
) -> list[tuple[Move, Sampled]]:
    """Each move with its motion, beginning where the one before ends. q0: (nq,).   limits, gravity: as of `retime`:
    velocity to jerk of joints, with gravity the drives' efforts and "power", and "tools", all at once.

    From rest to rest, but where a move blends into the next one: there the next begins at speed, where the path is
    nearest to the corner. Raises ConfigurationError, which names the move, where its end or its path is out of reach.
    """
    return finish(run_moves_steps(model, moves, q0, limits, gravity))


def run_moves_steps(
    model: RobotModel, moves: Sequence[Move], q0: object, limits: object = None, gravity: object = None
) -> Generator[float, None, list[tuple[Move, Sampled]]]:
    """`run_moves` that yields the share of the work done (0..1) now and then."""
    bound = PathLimits.of(model, limits, gravity)
    found: list[tuple[Move, Sampled]] = []
    yield 0.0
    for part in chains(model, moves, q0, bound):
        if part is None:
            yield len(found) / len(moves)
            continue
        chain, paths = part
        with named(chain[-1]):
            found += _fastest(model, chain, paths, bound) if isinstance(paths, list) else [(chain[0], paths)]
        yield len(found) / len(moves)
    return found


def _fastest(model: RobotModel, moves: Sequence[Move], paths: Sequence[Array], limits: PathLimits) -> Parts:
    """Moves that blend, but for corners that they pass sooner from rest to rest: so a blend costs no time."""
    together, halfway = _timed(model, moves, paths, limits)
    if len(moves) == 1:
        return together
    alone = [_alone(model, move, path, limits) for move, path in zip(moves, paths, strict=True)]
    ends = np.array([parts[0][1].duration for parts, _ in alone])
    halves = np.concatenate([half for _, half in alone])
    stops = 1 + np.flatnonzero(np.diff(halfway) > (ends - halves)[:-1] + halves[1:])
    choices = [together, [parts[0] for parts, _ in alone]]
    if len(stops):
        spans = pairwise([0, *stops, len(moves)])
        own = [alone[i] if j == i + 1 else _timed(model, moves[i:j], paths[i:j], limits) for i, j in spans]
        choices.append([part for parts, _ in own for part in parts])
    return min(choices, key=lambda parts: sum(motion.duration for _, motion in parts))


def _alone(model: RobotModel, move: Move, path: Array, limits: PathLimits) -> tuple[Parts, Array]:
    """A move from rest to rest, as `_timed` has several."""
    if not goes_freely(move, limits):
        return _timed(model, [move], [path], limits)
    done = point_to_point(model, path[0], path[-1], limits=limits.motion.slower(move.speed))
    return [(move, done)], np.array([0.5 * done.duration])


def _timed(model: RobotModel, moves: Sequence[Move], paths: Sequence[Array], limits: PathLimits) -> tuple[Parts, Array]:
    """Moves that blend, timed together, and when each is half-way along its path [s]."""
    whole_path = joined(model, moves, paths)
    length = np.linalg.norm(np.diff(whole_path.q, axis=0), axis=1)
    kept = np.append(True, length > SAME_PLACE)
    if kept.sum() < 2:
        return [(move, retime(model, whole_path.q[:1])) for move in moves], np.zeros(len(moves))
    owner = whole_path.owner[kept]
    q = np.array(Motion.of(model, np.arange(len(owner)), whole_path.q[kept]).unwrapped().q)
    knots = np.append(0.0, np.cumsum(np.linalg.norm(np.diff(q, axis=0), axis=1)))
    ends = np.stack((owner[:-1], owner[1:]))
    paces = np.array([move.speed for move in moves])[ends].min(axis=0)
    named_tools = {tool.link: tool for tool in limits.tools}
    for tip in sorted({move.tip for move in moves if move.tool_speed is not None}):
        named_tools.setdefault(tip, ToolLimit(tip, model.link_index(tip)))
    tips = list(named_tools)
    own = [[move.tool_speed if move.tip == tip and move.tool_speed else np.inf for tip in tips] for move in moves]
    caps = np.array(own).reshape(len(moves), len(tips))[ends].min(axis=0)
    path = Path.through(model, q, knots)
    done = retime(
        model, path, replace(limits, has_jerk=True, tools=tuple(named_tools.values()), paces=paces, caps=caps)
    )
    halfway = done.time_at(knots[(np.cumsum(kept) - 1)[whole_path.halfway]])
    if len(moves) == 1:
        return [(moves[0], done)], halfway
    changes = np.minimum(np.searchsorted(owner, np.arange(len(moves))), len(owner) - 1)
    times = np.append(done.time_at(knots[changes]), done.duration)
    return [
        (move, PartOfMotion(done, float(start), float(end - start)))
        for move, start, end in zip(moves, times[:-1], times[1:], strict=True)
    ], halfway


def program_motion(done: Sequence[tuple[Move, Sampled]], rate: float = RATE) -> Motion:
    """All of them one after another, with the waits, every 1/`rate` [s] and at the end. Raises
    ConfigurationError."""
    if not done:
        raise ConfigurationError("a program needs at least one move")
    ends = np.cumsum([motion.duration + move.wait for move, motion in done])
    times = sample_times(float(ends[-1]), rate)
    parts = np.split(times, np.searchsorted(times, ends[:-1]))
    rows = [
        motion.sample(np.clip(own - start, 0.0, motion.duration))[0]
        for own, start, (_, motion) in zip(parts, np.append(0.0, ends[:-1]), done, strict=True)
    ]
    whole = Motion.of(done[0][1].model, times, np.concatenate(rows))
    wholes = [part.whole if isinstance(part, PartOfMotion) else part for _, part in done]
    rolls = [each.rolls for each in wholes if isinstance(each, Retimed)]
    return rolled(whole, np.all([rolling(whole.model, whole.q), *rolls], axis=0)) if rolls else whole
