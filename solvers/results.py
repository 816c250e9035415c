"""What a solver says: a status that is a claim which can be checked, and the evidence for it."""

from __future__ import annotations

import enum
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

Array = np.ndarray


class Status(enum.StrEnum):
    """Each value holds exactly when its comment does. A status is also its own name as a string."""

    CONVERGED = "CONVERGED"  # every residual within its tolerance, q inside the limits
    OUT_OF_REACH = "OUT_OF_REACH"  # a distance certificate: a target is farther than the chain is long
    LIMIT = "LIMIT"  # converges once the bounds of the named joints are freed
    TASK_CONFLICT = "TASK_CONFLICT"  # each named task alone converges, all together do not
    SINGULAR = "SINGULAR"  # J'e is about 0, e is not, and the smallest singular value is below its threshold
    COLLISION = "COLLISION"  # a collision row had to be relaxed
    MAX_ITERATIONS = "MAX_ITERATIONS"  # none of the others was shown
    INVALID_START = "INVALID_START"  # the start violates the limits and was not moved in
    EMPTY = "EMPTY"  # there is no task


@dataclass(frozen=True)
class Diagnosis:
    """Why a solve failed. `joints`: those whose bounds LIMIT blames; `tasks`: the names of those in conflict."""

    status: Status
    reason: str
    joints: tuple[str, ...] = ()
    tasks: tuple[str, ...] = ()


class SolveResult:
    """Outcome of one solve.

    diagnosis: status, reason, named joints and tasks.   q: (nq,) the best configuration found, inside the limits.
    residual_array: (tasks, 2) position [m] and orientation [rad] error of each task, over the axes that are not free.
    iterations, attempts: over all starts.
    """

    __slots__ = ("_active", "attempts", "diagnosis", "iterations", "q", "residual_array")

    def __init__(
        self,
        diagnosis: Diagnosis,
        q: Array,
        residual_array: Array,
        iterations: int,
        attempts: int,
        active: Callable[[Array], tuple[str, ...]],
    ) -> None:
        """`active(q)`: names of the joints at a bound; called when they are asked for."""
        self.diagnosis = diagnosis
        self.q = q
        self.residual_array = residual_array
        self.iterations = iterations
        self.attempts = attempts
        self._active = active

    @property
    def status(self) -> Status:
        return self.diagnosis.status

    @property
    def converged(self) -> bool:
        return self.status is Status.CONVERGED

    @property
    def residuals(self) -> list[dict[str, float]]:
        return [{"position": float(p), "orientation": float(r)} for p, r in self.residual_array]

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
            "status": str(self.status),
            "reason": self.reason,
            "q": [float(x) for x in self.q],
            "residuals": self.residuals,
            "limits_active": list(self.limits_active),
            "joints": list(self.joints),
            "tasks": list(self.tasks),
            "iterations": self.iterations,
            "attempts": self.attempts,
        }

    def __repr__(self) -> str:
        return f"SolveResult({self.status}, iterations={self.iterations}, residuals={self.residual_array.tolist()})"


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

    @property
    def converged(self) -> Array:
        """(b,) bool."""
        return np.array([status is Status.CONVERGED for status in self.status], bool)

    def __len__(self) -> int:
        return len(self.status)
