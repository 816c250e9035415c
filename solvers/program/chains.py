"""A list of moves as chains: what goes from rest to rest, of one move or of several that blend."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager

from ...robokin.arrays import Array, shown
from ...robokin.errors import ConfigurationError, RobokinError
from ...robokin.model.robot import RobotModel
from ..retiming.path_limits import PathLimits
from ..trajectories.point_to_point import point_to_point
from ..trajectories.sampled import Sampled
from .keyed import keyed_motion_steps
from .moves import Move, called
from .paths import end_of, path_of


def chains(
    model: RobotModel, moves: Sequence[Move], q0: object, limits: PathLimits
) -> Generator[tuple[list[Move], list[Array] | Sampled] | None, None, None]:
    """The moves from one rest to the next, with their paths, which are not timed yet; of a joint move, which has none
    but the joints' own, with its motion. Where drives or tools are limited, joint moves have a path, too. q0: (nq,).
    None where the work on one goes on. Raises ConfigurationError, which names the move, where its end or its path is
    out of reach."""
    q = model.check_configuration(q0)
    if not isinstance(moves, Sequence) or not all(isinstance(move, Move) for move in moves):
        raise ConfigurationError(f"moves must be a list of Move, not {shown(moves)}")
    chain: list[Move] = []
    paths: list[Array] = []
    for number, move in enumerate(moves):
        blends = move.blend > 0.0 and number + 1 < len(moves)
        with named(move):
            if move.progress is not None and not chain:
                done: Sampled = yield from keyed_motion_steps(model, move, path_of(model, move, q), limits)
                q = done.sample(done.duration)[0]
            elif move.progress is not None:
                raise ConfigurationError("its progress begins at rest: the move before it cannot blend into it")
            elif goes_freely(move, limits) and not chain and not blends:
                done = point_to_point(model, q, end_of(model, move, q), limits=limits.motion.slower(move.speed))
                q = done.sample(done.duration)[0]
            else:
                chain.append(move)
                paths.append(path_of(model, move, q))
                q = paths[-1][-1]
        if not chain:
            yield [move], done
        elif not blends:
            yield chain, paths
            chain, paths = [], []


def goes_freely(move: Move, limits: PathLimits) -> bool:
    """Whether each joint goes by itself from rest to rest: nothing asks for a path."""
    is_free = limits.power is None and limits.gravity is None and not limits.tools
    return is_free and move.kind == "joint" and move.tool_speed is None


class MoveError(ConfigurationError):
    """A move that cannot be made. move: which."""

    def __init__(self, move: Move, problem: RobokinError) -> None:
        super().__init__(f"{called(move.name)}: {problem}")
        self.move = move


@contextmanager
def named(move: Move) -> Iterator[None]:
    """Inside, an error names the move."""
    try:
        yield
    except RobokinError as problem:
        raise MoveError(move, problem) from None
