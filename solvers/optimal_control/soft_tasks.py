"""Soft tasks: their residuals are part of a motion's cost, and hold nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ...robokin.arrays import Array
from ...robokin.errors import TaskError
from ..tasks import Task
from ..tasks.base import Part
from ..tasks.checks import not_negative
from .costs import MotionCost
from .discretization import DiscreteMotion
from .rows.clearance_rows import ClearanceRows
from .rows.motion_rows import MotionRows
from .rows.row_blocks import RowBlock
from .rows.task_sources import TaskSource
from .start import TrackedFrames


@dataclass(frozen=True)
class SoftTask:
    """What became of a soft task. rms, largest: {part: its residual}, over the frames at which it has an influence, in
    these units."""

    name: str
    weight: float
    rms: dict[str, float]
    largest: dict[str, float]
    units: tuple[str, ...]

    @classmethod
    def of(cls, name: str, weight: float, parts: Sequence[Part], residuals: Array) -> SoftTask:
        """residuals: (frames, 2), NaN where it has no influence."""
        own = residuals[~np.isnan(residuals[:, 0])]
        rms = np.sqrt((own * own).mean(axis=0)) if len(own) else np.zeros(2)
        names, largest = [part.name for part in parts], own.max(axis=0, initial=0.0)
        each, most = (dict(zip(names, values.tolist(), strict=False)) for values in (rms, largest))
        return cls(name, weight, each, most, tuple(part.unit for part in parts))

    def sentence(self) -> str:
        """The result in a few words."""
        pairs = zip(self.rms.items(), self.largest.values(), self.units, strict=True)
        said = (f"{name} {rms:.3g} {unit} rms, {most:.3g} {unit} at most" for (name, rms), most, unit in pairs)
        return f"soft {self.name}: {', '.join(said)}"

    def to_dict(self) -> dict:
        """Plain values for JSON."""
        return {"task": self.name, "weight": self.weight, "rms": self.rms, "largest": self.largest}


class SoftTasks(MotionCost):
    """The sum of weight / 2 times the integral of the squared residual of each task, in radians and lengths over the
    robot's length L, weighted as its rows are: by the weights of its axes and its influence. Nothing inside a band."""

    def __init__(self, sources: Sequence[TaskSource], weights: Sequence[float]) -> None:
        self.rows, self.weights = MotionRows(sources), list(weights)
        self.order = self.rows.reach

    def value(self, at: DiscreteMotion) -> float:
        return sum(0.5 * size * float(block.residual @ block.residual) for block, size in self._sized(at))

    def quadratic(self, at: DiscreteMotion) -> tuple[Array, Array]:
        frames, n = at.steps.shape
        gradient, H = np.zeros((frames, n)), np.zeros((frames, self.order + 1, n, n))
        for block, size in self._sized(at):
            gradient -= block.gradient(size * block.residual, frames)
            own = np.zeros(H.shape)
            block.squares((block.residual != 0.0) | (block.lower == block.upper), own)
            H += size * own
        return gradient, H

    def bend(self, at: DiscreteMotion, H: Array) -> None:
        for block, size in self._sized(at):
            block.add_bend(H, -size * block.residual)

    def _sized(self, at: DiscreteMotion) -> Iterator[tuple[RowBlock, float]]:
        """Rows of each task, and what half their square is multiplied by: displacements of velocities are rates times
        the time between frames."""
        for source, weight, block in zip(self.rows.sources, self.weights, self.rows.blocks(at), strict=True):
            assert isinstance(source, TaskSource)
            is_rate = source.parts[0].is_rate
            yield block, weight * (1.0 / at.grid.dt if is_rate else at.grid.dt)


def checked_soft(tasks: Sequence[Task], soft: object) -> list[float]:
    """The weight of each task, 0 where it is hard. Raises TaskError."""
    if soft is None:
        return [0.0] * len(tasks)
    try:
        given = list(soft)  # type: ignore[call-overload]
    except TypeError:
        raise TaskError(f"soft must be one weight per task, 0 for a hard one, not {soft!r}") from None
    if len(given) != len(tasks):
        raise TaskError(f"there are {len(tasks)} tasks but {len(given)} weights of soft ones")
    weights = [not_negative(own, f"{task.name}: soft weight") for task, own in zip(tasks, given, strict=True)]
    for task, own in zip(tasks, weights, strict=True):
        if own and not task.priority:
            raise TaskError(f"{task.name} comes before all tasks: it cannot be soft")
    return weights


def parted_sources(
    sources: Sequence[Sequence[TaskSource | ClearanceRows]], parts: Sequence[TrackedFrames]
) -> tuple[list[TaskSource | ClearanceRows], SoftTasks]:
    """What is asked for of hard tasks, and the cost of soft ones. sources: of the tasks of each part."""
    hard: list[TaskSource | ClearanceRows] = []
    soft: list[TaskSource] = []
    weights: list[float] = []
    for own, part in zip(sources, parts, strict=True):
        for source, weight in zip(own, part.soft or [0.0] * len(own), strict=True):
            if weight and isinstance(source, TaskSource):
                soft.append(source)
                weights.append(weight)
            else:
                hard.append(source)
    return hard, SoftTasks(soft, weights)
