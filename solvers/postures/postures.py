"""All postures of a robot that meet its tasks: in closed form where it belongs to a family, else from many starts."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...robokin.arrays import MOST, Array, shown
from ...robokin.backend import get_backend
from ...robokin.errors import TaskError
from ...robokin.model.limits import PositionLimits
from ...robokin.model.robot import RobotModel, solvable_model
from ..families.closed_form import closed_form
from ..families.family import Branch, SearchFlag
from ..ik.restarts import checked_count, checked_seed
from ..ik.tip_ik import starts_of
from ..progress import finish
from ..tasks import Task
from ..tasks.base import checked_targets
from ..tasks.checks import LAST_ROW
from ..tasks.influence import is_partial
from ..velocity.recent_problems import RecentProblems
from ..velocity.task_levels import checked_tasks
from .multistart import Multistart

ROUNDED = 1e-7  # by which products of rows of a rotation are wrong that need no closer look
CONTINUUM = "of each continuum of postures one that is near"
HIDDEN = "a continuum was seen, but no posture of it inside the limits was found"
DOUBTFUL = "the axes are not quite those of the family, and near the border of the workspace a posture may be missing"


@dataclass(frozen=True, eq=False)
class Postures:
    """Distinct postures that meet the tasks, inside the limits, the nearest to q0 first.

    q: (n, nq).   names: of the branches, such as "shoulder right, elbow up, wrist no flip".
    complete: every branch is there: found in closed form.   family: of which the chain is; empty when of none.
    continuum: (n,) bool, the robot can move on from there without leaving its tasks (redundant or singular): the
    posture stands for its branch.   remark: what else is to be known; a line, empty when nothing is.
    """

    q: Array
    names: tuple[str, ...]
    complete: bool
    family: str
    continuum: Array
    remark: str = ""

    def __len__(self) -> int:
        return len(self.q)


@dataclass(frozen=True, eq=False)
class PostureBatch:
    """The postures of b sets of targets; `batch[i]` is a `Postures`.

    q: (b, most, nq), NaN behind the last posture of each.   count: (b,) how many.   complete: (b,) bool.
    """

    q: Array
    count: Array
    complete: Array
    _made: Any = field(repr=False)

    def __len__(self) -> int:
        return len(self.q)

    def __getitem__(self, index: int) -> Postures:
        return self._made(range(len(self))[index])


class PostureProblem:
    """Tasks of a model, looked at once: `solve` for as many targets as wanted.

    backend: "auto", "native" or "numpy".   limits: in place of the model's on positions.
    In closed form: one task on the pose of a tip, or on its position where that is all the chain can choose.
    Raises TaskError (also for no task), UnknownNameError, ModelError, BackendError.
    """

    def __init__(
        self, model: RobotModel, tasks: Sequence[Task], backend: str = "auto", limits: PositionLimits | None = None
    ) -> None:
        self.model, self.tasks = solvable_model(model), checked_tasks(tasks)
        for task in self.tasks:
            if is_partial(task.influence):
                raise TaskError(f"postures meet whole tasks: {task.name} has influence {task.influence:g}, not 1 or 0")
        if not any(task.influence for task in self.tasks):
            raise TaskError("postures of no task are all: at least one task of influence 1 is needed")
        self.limits = self.model.limits if limits is None else limits
        self.backend = get_backend(backend).name
        self.middle = self.limits.middle(self.model.neutral())
        self._closed_form = closed_form(self.model, self.tasks, self.limits, self.backend)
        if self._closed_form is None:
            self._multistart = Multistart(self.model, self.tasks, self.backend, self.limits)

    @property
    def family(self) -> str:
        """Which family the chain belongs to; empty when to none."""
        return "" if self._closed_form is None else self._closed_form.label

    def solve(self, targets: object = None, q0: object | None = None, seed: int = 0) -> Postures:
        """The postures for these targets, one per task, each in its task's own terms; the tasks' own when None.

        q0: (nq,) the start that postures are sorted by, and the nearest of which is taken where there is a choice
        (whole turns, continua); mid-range when None.   seed: of the starts where there is no closed form.
        Joints that do not move the tip keep q0's values. Raises TaskError, ConfigurationError.
        """
        return finish(self.solve_steps(targets, q0, seed))

    def solve_steps(
        self, targets: object = None, q0: object | None = None, seed: int = 0
    ) -> Generator[float, None, Postures]:
        """`solve` that yields the share of the work done (0..1) now and then, where it takes long."""
        start, own_seed = self.start(q0), checked_seed(seed)
        if self._closed_form is None:
            return (yield from self._searched(self._targets(targets), start, own_seed))
        goals = np.asarray(self._targets(targets)[0], float)[None]
        return self._closed(goals, start[None], None)[0]

    def solve_batch(
        self, targets: object, q0: object | None = None, seed: int = 0, threads: int | None = None
    ) -> PostureBatch:
        """The postures for b sets of targets; item i is that of `solve(targets[i], q0[i], seed)`.

        targets: (b, 1, 4, 4), or a list of b sets as `solve` takes.   q0: None, (nq,) or (b, nq).
        threads: at most so many; None: one per processor. Raises TaskError, ConfigurationError.
        """
        try:
            given: Any = targets if isinstance(targets, np.ndarray) else list(targets)  # type: ignore[call-overload]
        except TypeError:
            raise TaskError(f"targets must be a list of sets of targets, not {shown(targets)}") from None
        starts, own_seed = starts_of(self, q0, len(given)), checked_seed(seed)
        most = None if threads is None else checked_count(threads, "threads")
        if self._closed_form is not None:
            if isinstance(given, np.ndarray) and given.shape[1:] == (1, 4, 4) and given.dtype.kind in "fiu":
                goals = given[:, 0].astype(float)
                for i in np.flatnonzero(~_look_rigid(goals)):
                    self._targets(given[i])
            else:
                goals = np.array([self._targets(each)[0] for each in given], float).reshape(-1, 4, 4)
            return self._closed(goals, starts, most)
        found = [
            finish(self._searched(self._targets(each), start, own_seed))
            for each, start in zip(given, starts, strict=True)
        ]
        most = max(map(len, found), default=0)
        q = np.full((len(found), most, self.model.nq), np.nan)
        for own, each in zip(q, found, strict=True):
            own[: len(each)] = each.q
        count, complete = np.array([len(each) for each in found], int), np.zeros(len(found), bool)
        return PostureBatch(q, count, complete, found.__getitem__)

    # -- closed form ---------------------------------------------------------------------------------------------------

    def _closed(self, goals: Array, starts: Array, threads: int | None) -> PostureBatch:
        form = self._closed_form
        assert form is not None
        q, branch, found = form.postures(goals, starts, threads)
        hidden = (found[:, 1] & SearchFlag.HIDDEN) != 0
        doubtful = (found[:, 1] & SearchFlag.DOUBTFUL) != 0

        def made(i: int) -> Postures:
            count = int(found[i, 0])
            continuum = (branch[i, :count] & Branch.CONTINUUM) != 0
            lines = [
                line
                for line, holds in ((CONTINUUM, continuum.any()), (HIDDEN, hidden[i]), (DOUBTFUL, doubtful[i]))
                if holds
            ]
            names = tuple(form.names.name(bits) for bits in branch[i, :count].tolist())
            complete = not (hidden[i] or doubtful[i])
            return Postures(q[i, :count].copy(), names, complete, self.family, continuum, "; ".join(lines))

        return PostureBatch(q, found[:, 0].astype(int), ~(hidden | doubtful), made)

    def _searched(self, targets: list[Any], start: Array, seed: int) -> Generator[float, None, Postures]:
        found = yield from self._multistart.search(targets, start, seed)
        names = tuple(f"posture {i + 1}" for i in range(len(found.q)))
        return Postures(found.q, names, False, "", np.full(len(found.q), found.is_continuum), found.remark)

    # -- arguments -----------------------------------------------------------------------------------------------------

    def _targets(self, targets: object) -> list[Any]:
        return [task.target for task in self.tasks] if targets is None else checked_targets(self.tasks, targets)

    def start(self, q0: object | None) -> Array:
        """(nq,) where postures are counted from: mid-range for None. Raises ConfigurationError."""
        return self.middle if q0 is None else self.limits.clamp(self.model.check_configuration(q0))


def _look_rigid(poses: Array) -> Array:
    """(b,) bool of (b, 4, 4): surely rigid."""
    R = poses[:, :3, :3]
    a, b, c = R[:, 0], R[:, 1], R[:, 2]
    off = [abs((x * y).sum(axis=1) - (x is y)) for x, y in ((a, a), (b, b), (c, c), (a, b), (b, c), (a, c))]
    with np.errstate(over="ignore", invalid="ignore"):
        is_fine = (np.max(off, axis=0) < ROUNDED) & ((np.cross(a, b) * c).sum(axis=1) > 0.0)
        return is_fine & (abs(poses[:, :3, 3]).sum(axis=1) <= MOST) & (poses[:, 3] == LAST_ROW).all(axis=1)


def all_postures(
    model: RobotModel, tasks: Sequence[Task], q0: object | None = None, seed: int = 0, backend: str = "auto"
) -> Postures:
    """All postures that meet the tasks, nearest to q0 (mid-range when None) first; see `PostureProblem.solve`.

    Problems whose tasks differ in their targets only are looked at once. Raises TaskError, ConfigurationError,
    UnknownNameError, ModelError, BackendError.
    """
    given = checked_tasks(tasks)
    used = tuple(task for task in given if task.influence)

    recent = _recent.get(model, used, (), get_backend(backend).name)
    return recent.problem.solve(recent.targets, q0, seed)


_recent = RecentProblems(lambda model, tasks, _, backend: PostureProblem(model, tasks, backend))
