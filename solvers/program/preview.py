"""Where a list of moves will go, before it is timed."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass

import numpy as np

from ...robokin.arrays import Array
from ...robokin.model.robot import RobotModel
from ..retiming.path_limits import PathLimits
from .blends import joined
from .chains import MoveError, chains, named
from .moves import Move

PLACES = 31  # of a joint move


@dataclass(frozen=True, eq=False)
class MovesPreview:
    """q: (n, nq) along all moves.   owner: (n,) index of the move that each belongs to.   problem: why there is no more
    of it; "" where all moves can be made.   failing: index of the move that cannot be made; -1 where all can."""

    q: Array
    owner: Array
    problem: str
    failing: int = -1


def preview_steps(
    model: RobotModel, moves: Sequence[Move], q0: Array, limits: object = None, gravity: object = None
) -> Generator[float, None, MovesPreview]:
    """Yield the share of the work done (0..1) now and then. q0: (nq,).   limits, gravity: as of `run_moves_steps`."""
    rows, owners, count = [np.asarray(q0)[None]], [np.zeros(1, int)], 0
    problem, failing = "", -1
    try:
        for part in chains(model, moves, q0, PathLimits.of(model, limits, gravity)):
            if part is None:
                yield count / len(moves)
                continue
            chain, paths = part
            if isinstance(paths, list):
                with named(chain[-1]):
                    path = joined(model, chain, paths)
                q, owner = path.q, path.owner
            else:
                q = paths.sample(np.linspace(0.0, paths.duration, PLACES))[0]
                owner = np.zeros(PLACES, int)
            rows.append(q)
            owners.append(owner + count)
            count += len(chain)
            yield count / len(moves)
    except MoveError as error:
        problem = str(error)
        failing = next(index for index, move in enumerate(moves) if move is error.move)
    return MovesPreview(np.concatenate(rows), np.concatenate(owners), problem, failing)
