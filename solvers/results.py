"""What a solver says: a status that is a claim which can be checked, and the evidence for it."""

from __future__ import annotations

import enum
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..robokin.arrays import Array

if TYPE_CHECKING:
    from ..robokin.collision.model import Near
    from .tasks import Task


class Status(enum.StrEnum):
    """Each value holds exactly when its comment does. A status is also its own name as a string."""

    CONVERGED = "CONVERGED"  # every residual within its tolerance, q inside the limits
    OUT_OF_REACH = "OUT_OF_REACH"  # a certificate: a target is farther than the chain is long, or no joint moves it so
    LIMIT = "LIMIT"  # converges once the bounds of the named joints are freed
    TASK_CONFLICT = "TASK_CONFLICT"  # each named task (each part of a single one) alone converges, not all
    SINGULAR = "SINGULAR"  # J'e is about 0, e is not, and J has fewer singular values above the threshold than around
    COLLISION = "COLLISION"  # converges where the named links come nearer than their margin, or would soon
    MAX_ITERATIONS = "MAX_ITERATIONS"  # none of the others was shown
    EMPTY = "EMPTY"  # there is no task


@dataclass(frozen=True)
class Diagnosis:
    """Why a solve failed. `joints`: those whose bounds LIMIT blames; `tasks`: the names of those in conflict; `links`:
    the two, or a link and an obstacle, that COLLISION is about, which are, or would be, `depth` [m] deep in each other;
    negative: so far apart."""

    status: Status
    reason: str
    joints: tuple[str, ...] = ()
    tasks: tuple[str, ...] = ()
    links: tuple[str, ...] = ()
    depth: float = 0.0

    @classmethod
    def collision(cls, near: Near, reason: str = "") -> Diagnosis:
        """COLLISION of two. reason: in place of how near they are."""
        return cls(Status.COLLISION, reason or near.sentence(), links=near.names, depth=-near.distance)

    def to_dict(self) -> dict:
        """Plain values for JSON; a collision has its two as a violation has them."""
        found = {"status": str(self.status), "reason": self.reason, "joints": list(self.joints)}
        found["tasks"] = list(self.tasks)
        return found | ({"links": list(self.links), "depth": self.depth} if self.links else {})


CONVERGED = Diagnosis(Status.CONVERGED, "every task is met")
EMPTY = Diagnosis(Status.EMPTY, "there is no task")


class SolveResult:
    """Outcome of one solve.

    diagnosis: status, reason, named joints and tasks.   q: (nq,) the best configuration found, inside the limits.
    residual_array: (tasks, 2) of the parts of each task, in their units; position [m] and orientation [rad] of
    a task on one tip, over the axes that are not free; 0 for a second part that a task has not.
    iterations, attempts: over all starts, and over the levels one after another.
    costs: value of each criterion by its name.
    kkt_residual: of the criteria's gradient, what no task, limit or inequality holds, relative to it; about 0 where
    they are stationary. is_optimal: that is so, and nothing better was found around. Both None where no criterion has a
    say: when there is none, or the first level is not met.
    """

    __slots__ = (
        "_active",
        "_explain",
        "_parts",
        "attempts",
        "costs",
        "diagnosis",
        "is_optimal",
        "iterations",
        "kkt_residual",
        "q",
        "residual_array",
    )

    def __init__(
        self,
        diagnosis: Diagnosis,
        q: Array,
        residual_array: Array,
        iterations: int,
        attempts: int,
        active: Callable[[Array], tuple[str, ...]],
        parts: Sequence[tuple[str, ...]] | None = None,
        costs: dict[str, float] | None = None,
        kkt_residual: float | None = None,
        is_optimal: bool | None = None,
        explain: Callable[[], Diagnosis] | None = None,
    ) -> None:
        """`active(q)`: names of the joints at a bound; called when they are asked for.   parts: names of each task's
        residuals; None: those of tasks on one tip.   explain: looks for the reason of a failure by further solves."""
        self.diagnosis = diagnosis
        self.q = q
        self.residual_array = residual_array
        self.iterations = iterations
        self.attempts = attempts
        self.costs = {} if costs is None else costs
        self.kkt_residual, self.is_optimal = kkt_residual, is_optimal
        self._active = active
        self._parts = parts
        self._explain = explain

    def diagnose(self) -> Diagnosis:
        """Look for the reason of a failure, by a bounded number of further solves: the `diagnosis` from then on. What
        has converged, or was looked into, stays as it is."""
        if self._explain is not None:
            explain, self._explain = self._explain, None
            self.diagnosis = explain()
        return self.diagnosis

    def among(self, counting: Sequence[bool], parts: Sequence[tuple[str, ...]]) -> SolveResult:
        """The result of the tasks that count, as one of all: the others have no residual. parts: names, of all."""
        residuals = np.zeros((len(counting), 2))
        residuals[np.array(counting, bool)] = self.residual_array
        self.residual_array, self._parts = residuals, parts
        return self

    def first(self, count: int) -> SolveResult:
        """The result as one of the first tasks alone."""
        self.residual_array = self.residual_array[:count]
        self._parts = None if self._parts is None else self._parts[:count]
        return self

    @property
    def status(self) -> Status:
        return self.diagnosis.status

    @property
    def converged(self) -> bool:
        return self.status is Status.CONVERGED

    @property
    def residuals(self) -> list[dict[str, float]]:
        """Per task, its residual by the name of each part."""
        return named_residuals(self.residual_array, self._parts)

    @property
    def limits_active(self) -> tuple[str, ...]:
        """Joints with a coordinate at a bound."""
        return self._active(self.q)

    @property
    def reason(self) -> str:
        return self.diagnosis.reason

    @property
    def joints(self) -> tuple[str, ...]:
        return self.diagnosis.joints

    @property
    def tasks(self) -> tuple[str, ...]:
        return self.diagnosis.tasks

    def to_dict(self) -> dict:
        """Plain values for JSON."""
        return {
            **self.diagnosis.to_dict(),
            "q": [float(x) for x in self.q],
            "residuals": self.residuals,
            "limits_active": list(self.limits_active),
            "iterations": self.iterations,
            "attempts": self.attempts,
            **({"costs": self.costs} if self.costs else {}),
            **({} if self.is_optimal is None else {"kkt_residual": self.kkt_residual, "is_optimal": self.is_optimal}),
        }

    def __repr__(self) -> str:
        return f"SolveResult({self.status}, iterations={self.iterations}, residuals={self.residual_array.tolist()})"


def named_residuals(array: Array, parts: Sequence[tuple[str, ...]] | None) -> list[dict[str, float]]:
    """Residuals (tasks, 2) by task: the first ones of each under the names of its parts."""
    if parts is None:
        return [{"position": float(p), "orientation": float(r)} for p, r in array]
    return [dict(zip(names, row, strict=False)) for names, row in zip(parts, array.tolist(), strict=True)]


@dataclass(frozen=True, eq=False)
class BatchResult:
    """Outcome of b solves. status: b of them; q: (b, nq); residuals: (b, tasks, 2); iterations, attempts: (b,).

    A batch does not look for the reason of a failure: a status is CONVERGED, OUT_OF_REACH, EMPTY or MAX_ITERATIONS.
    Solve the one that failed again for LIMIT, TASK_CONFLICT or SINGULAR.
    """

    status: list[Status]
    q: Array
    residuals: Array
    iterations: Array
    attempts: Array

    @classmethod
    def of(cls, found: Sequence[SolveResult], nq: int, tasks: int) -> BatchResult:
        return cls(
            [each.status for each in found],
            np.array([each.q for each in found]).reshape(len(found), nq),
            np.array([each.residual_array for each in found]).reshape(len(found), tasks, 2),
            np.array([each.iterations for each in found], np.int32),
            np.array([each.attempts for each in found], np.int32),
        )

    @property
    def converged(self) -> Array:
        """(b,) bool."""
        return np.array([status is Status.CONVERGED for status in self.status], bool)

    def __len__(self) -> int:
        return len(self.status)


def part_names(tasks: Sequence[Task]) -> list[tuple[str, ...]]:
    return [tuple(part.name for part in task.parts) for task in tasks]
