"""Which tasks the kernel's step makes the rows of, and how it is given them."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import Any, TypeGuard

import numpy as np

from ...robokin.arrays import DOUBLE, Array
from ...robokin.model.robot import RobotModel
from ...robokin.model.tree import Tree
from ...robokin.spatial.se3 import pack, unpack
from ..alike import content
from . import Task, TwistTask
from .base import states_rows_of
from .checks import is_mapping
from .clearance import ClearanceTask
from .influence import Remaining
from .protocols import KernelRobotTask, KernelTipTask
from .robot_rows import ROBOT_ROW, RowKind, bits
from .tip_rows import TARGET, TIP_ROWS, WHOLE, TipForm, TipKind

_IS_NONE = partial(operator.is_, None)
_ADDRESSES = {TipKind.CURVE: [0], TipKind.LASER: [3], TipKind.SPOT: [0, 2]}  # numbers of targets: of curves and meshes


def tip_form_of(task: Task) -> TipForm | None:
    """The form of a task on tips whose rows the kernel makes; None when it does not."""
    if isinstance(task, KernelTipTask) and states_rows_of(type(task), "tip_form"):
        return task.tip_form()
    return None


def is_on_robot(task: Task, model: RobotModel) -> TypeGuard[KernelRobotTask]:
    """Whether the kernel makes the rows of a task on the whole robot."""
    if isinstance(task, KernelRobotTask) and states_rows_of(type(task), "robot_rows"):
        return task.rates(model) is not None
    return False


def is_kernel_clearance(task: Task, influence: float = 1.0) -> bool:
    """Whether the kernel makes the rows of a task: of a clearance made with influence 1, while it has that."""
    return type(task) is ClearanceTask and task.influence == influence == 1.0


def whole_only(tasks: Sequence[Task], influence: Sequence[float]) -> set[int]:
    """The tasks that the kernel knows with influence 1 only, and that have another one."""
    shared = enumerate(zip(tasks, influence, strict=True))
    return {i for i, (task, share) in shared if is_kernel_clearance(task) and not is_kernel_clearance(task, share)}


class TipTasks:
    """The tasks on tips: records, targets, and how many rows each has.

    tree: the model's, with the tips for frames.   records: (n,) TIP_ROWS.   counts: rows of each task.
    goes: whether each has a path.   shape: changes with the numbers of rows and paths.
    remaining: (n, 6) what is not asked for of each task's rows (`fade`).
    targets: (n, 16), stays: (n,) int32 whether a target is counted from where the tip is.
    """

    def __init__(
        self,
        model: RobotModel,
        tasks: Sequence[KernelTipTask],
        forms: Sequence[TipForm],
        first: Sequence[bool],
        length: float,
    ) -> None:
        """first: whether each is of the first level, for criteria."""
        self.tasks, self.forms = tasks, forms
        tips: list[tuple[str, Array]] = []
        self.records = np.zeros(len(forms), TIP_ROWS)
        for k, (task, form) in enumerate(zip(tasks, forms, strict=True)):
            size = _sizes(task, length)
            other = -1 if form.other is None else len(tips) + 1
            self.records[k] = form.record(size, len(tips), other, first[k])
            tips.append((form.link, form.offset))
            if form.other is not None:
                tips.append(form.other)
        self.tree = _tree_of_tips(model, tips)
        self.counts = [int(np.count_nonzero(form.weights)) for form in forms]
        self.targets, self.stays = np.zeros((len(forms), TARGET)), np.zeros(len(forms), np.int32)
        self.remaining = np.zeros((len(forms), 6))
        self._weights, self._are_first = self.records["weights"].copy(), self.records["is_first"].copy()
        self._is_there, self._rows = [True] * len(forms), list(self.counts)  # rows: of each that is there
        self._poses, self._numbers = list(self.targets.reshape(-1, 4, 4)), list(self.targets)
        self._stays: list[bool | None] = [False] * len(forms)
        self.goes, self.shape = [False] * len(forms), 0
        self._aimed_at: Sequence[Any] = ()
        self._are_whole = all(form.kind in WHOLE for form in forms)
        self._going = [(k, task) for k, task in enumerate(tasks) if isinstance(task, TwistTask)]
        self._distances = [
            (k, form.side, *(int(np.count_nonzero(form.weights[:rows])) for rows in (1, 6)))
            for k, form in enumerate(forms)
            if form.kind == TipKind.DISTANCE
        ]

    def aim(self, targets: Sequence[Any]) -> bool:
        """targets: checked. Returns False for targets that the kernel does not know."""
        self._aimed_at = targets  # kept alive: of a curve the kernel has the address
        stays: list[bool | None] = [False] * len(targets)
        if self._are_whole and not any(map(_IS_NONE, targets)):
            for pose, target in zip(self._poses, targets, strict=True):
                pose[...] = target
        else:
            own = zip(self.tasks, targets, self._numbers, strict=True)
            stays = [task.tip_target(target, numbers) for task, target, numbers in own]
            if None in stays:
                return False
        if stays != self._stays:
            self.stays[...], self._stays = np.array(stays, bool), stays
        if self._distances or self._going:
            self._find_shape(targets)
        return True

    def fade(self, own: Sequence[tuple[float, Remaining | None]]) -> bool:
        """own: of each task how much its rows weigh, 0: it has none, and what is not asked for of them: of a beam,
        whose rows are not comparable, the kernel wants the length of each part where that begins. Whether each has as
        many rows as before."""
        shape = self.shape
        self.remaining[...] = 0.0
        for k, (factor, remaining) in enumerate(own):
            self.records["weights"][k] = factor * self._weights[k]
            self._is_there[k] = factor > 0.0
            self.records["is_first"][k] = self._are_first[k] and self._is_there[k]
            self._count(k, self._rows[k])
            if remaining is not None and self.tasks[k].is_comparable:
                self.remaining[k, : len(remaining.e)] = remaining.e
            elif remaining is not None:
                lengths = remaining.lengths(self.tasks[k].parts)
                self.remaining[k, : 3 * len(lengths) : 3] = lengths
        return shape == self.shape

    def poses(self, targets: Sequence[Any]) -> Array | None:
        """(n, 4, 4) checked targets of the tasks, one set after another, where all take whole poses; None else."""
        if not (targets and self._are_whole) or any(map(_IS_NONE, targets)):
            return None
        return np.concatenate(targets).reshape(-1, 4, 4)

    def without_addresses(self, targets: Array) -> tuple[Array, list[int]]:
        """Targets (frames, n, 16) without addresses, which do not say whether two are equal, and the tasks that have
        one there."""
        places = [(k, _ADDRESSES[form.kind]) for k, form in enumerate(self.forms) if form.kind in _ADDRESSES]
        found = [(k, at) for k, at in places if targets[:, k, at].any()]
        numbers = targets.copy() if found else targets
        for k, at in found:
            numbers[:, k, at] = 0.0
        return numbers, [k for k, _ in found]

    def knows(self, number: int, target: Any) -> bool:
        """Whether the kernel knows a checked target of one of the tasks."""
        return self.tasks[number].tip_target(target, np.zeros(TARGET)) is not None

    def _find_shape(self, targets: Sequence[Any]) -> None:
        for k, side, apart, together in self._distances:
            self._count(k, apart if targets[k][0] != 0.0 or side > 0 else together)
        for k, twist in self._going:
            is_going = twist.is_going(targets[k])
            self.shape += is_going != self.goes[k]
            self.goes[k] = is_going

    def _count(self, k: int, rows: int) -> None:
        self._rows[k], count = rows, rows if self._is_there[k] else 0
        self.shape += count != self.counts[k]
        self.counts[k] = count


class RobotTask:
    """The rows of a task on the whole robot, the `number`-th of these, as the kernel takes them. Of its sums of
    velocities (`Task.rates`) the first is number `first_rate` of all."""

    def __init__(
        self, model: RobotModel, task: KernelRobotTask, number: int, is_first: bool, length: float, first_rate: int
    ) -> None:
        self._model, self._task, self._number, self._is_first = model, task, number, is_first
        self._size, self._first_rate = _sizes(task, length), first_rate
        self._target: Any = None
        self._names: list[str] | None = None
        self._sides: Callable[[Any], tuple[Array, Array]] | None = None
        self._hold(np.zeros(0, ROBOT_ROW))

    def _hold(self, rows: Array) -> None:
        self.rows, self.bits, self._lower, self._upper = rows, bits(rows), rows["lower"], rows["upper"]

    def aim(self, target: Any) -> bool:
        """Set the target; whether it changes the rows."""
        if not self._task.influence:
            return False
        if same_target(target, self._target):
            self._target = target  # the very object is faster to compare
            return False
        names = [*target] if is_mapping(target) else None
        if self._sides is not None and names == self._names:
            self._lower[...], self._upper[...] = self._sides(target)
            self._target = target
            return True
        rows = self._task.robot_rows(self._model, target)
        assert rows is not None
        has_sides = states_rows_of(type(self._task), "sides")
        self._sides = self._task.sides(self._model, rows.copy(), target) if has_sides else None
        rows["weight"] *= self._size[rows["residual"]]
        rows["residual"] += 2 * self._number
        rows["is_first"] = self._is_first
        rows["component"][rows["kind"] == RowKind.RATES] += self._first_rate
        self._target, self._names = target, names
        self._hold(rows)
        return True


class RobotTasks:
    """The tasks on the whole robot.

    each: of one task.   rates: (k, nv) sums of velocities that rows of kind RATES refer to.   rows: (n,) ROBOT_ROW of
    all, another array when there are more or fewer.   counts: of each task, 0 where it is not there.
    most_first: equations that those of the first level may have.
    """

    def __init__(
        self, model: RobotModel, tasks: Sequence[KernelRobotTask], first: Sequence[bool], length: float
    ) -> None:
        """first: whether each is of the first level, for criteria."""
        self.each: list[RobotTask] = []
        self.rates, self.rows = np.zeros((0, model.nv)), np.zeros(0, ROBOT_ROW)
        self._is_whole = True  # rows hold what each task has
        self._bits = bits(self.rows)
        self.counts, self._places = [0] * len(tasks), [slice(0, 0)] * len(tasks)
        self._is_there = [True] * len(tasks)
        for k, task in enumerate(tasks):
            self.each.append(RobotTask(model, task, k, first[k], length, len(self.rates)))
            rates = task.rates(model)
            assert rates is not None
            self.rates = np.vstack((self.rates, rates))
        self.most_first = sum(first) * (3 + model.nv) + len(self.rates)

    def aim(self, targets: Sequence[Any]) -> bool:
        """targets: checked. Whether each task has as many rows as before."""
        was_whole, self._is_whole = self._is_whole, False  # also when one of the tasks refuses its target
        aimed = [task.aim(target) for task, target in zip(self.each, targets, strict=True)]
        self._is_whole = True
        return True if was_whole and not any(aimed) else self._gather()

    def _gather(self) -> bool:
        """Take the rows of each task that is there. Whether each has as many as before."""
        before = self.counts
        self.counts = [len(task.rows) * there for task, there in zip(self.each, self._is_there, strict=True)]
        is_alike = before == self.counts
        if not is_alike:
            ends = [0, *itertools.accumulate(self.counts)]
            self._places = [slice(*pair) for pair in itertools.pairwise(ends)]
            if ends[-1] != len(self.rows):
                self.rows = np.empty(ends[-1], ROBOT_ROW)
            self._bits = bits(self.rows)
        for place, task, there in zip(self._places, self.each, self._is_there, strict=True):
            if there:
                self._bits[place] = task.bits
        return is_alike

    def fade(self, own: Sequence[tuple[float, Remaining | None]], dt: float) -> bool:
        """`TipTasks.fade` on the whole robot, in a frame of dt."""
        self._is_there = [factor > 0.0 for factor, _ in own]
        is_alike = self._gather()
        for place, task, (factor, remaining) in zip(self._places, self.each, own, strict=True):
            rows, whole = self.rows[place], task.rows
            if factor > 0.0:
                rows["weight"] = factor * whole["weight"]
            if factor > 0.0 and remaining is not None:
                is_rate = (whole["kind"] == RowKind.RATE) | (whole["kind"] == RowKind.RATES)
                for side in ("lower", "upper"):
                    rows[side] = whole[side] - remaining.e / np.where(is_rate, dt, 1.0)
        return is_alike


def _sizes(task: Task, length: float) -> Array:
    """(2,) what makes each part dimensionless."""
    found = np.ones(2)
    found[: len(task.parts)] = [1.0 / length if part.is_length else 1.0 for part in task.parts]
    return found


def _tree_of_tips(model: RobotModel, tips: Sequence[tuple[str, Array]]) -> Tree:
    """The model's tree with tips, each in a link, for frames."""
    tree = model.tree
    links = [model.link_index(link) for link, _ in tips]
    placements = [unpack(tree.frame_placement[link]) for link in links]
    packed = [pack(T @ offset) for T, (_, offset) in zip(placements, tips, strict=True)]
    return replace(
        tree,
        frame_node=np.ascontiguousarray(tree.frame_node[links], np.int32),
        frame_placement=np.array(packed).reshape(-1, 12),
    )


def same_target(one: Any, other: Any) -> bool:
    """Whether checked targets say the same."""
    if one is other:
        return True
    if type(one) is type(other) is np.ndarray and one.dtype is other.dtype is DOUBLE:  # takes less time
        return one.shape == other.shape and one.tobytes() == other.tobytes()
    if type(one) is type(other) is MappingProxyType:
        return [*one] == [*other] and all(map(same_target, one.values(), other.values()))
    return content(one) == content(other)
