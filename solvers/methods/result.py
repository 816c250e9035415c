"""What a method of the papers did, from iterate to iterate."""

from __future__ import annotations

from dataclasses import dataclass

from ...robokin.arrays import Array


@dataclass(frozen=True, eq=False)
class MethodRun:
    """A method's way to one target.

    path: (n, nq), the start first.   goal: (4, 4) T_root_tip that it went for.   reason: one line.
    """

    path: list[Array]
    goal: Array
    converged: bool
    reason: str


@dataclass(frozen=True, eq=False)
class MethodResult:
    """path: (n, nq) every iterate, the start first; all are inside the limits.

    errors: (n, 2) of each iterate to the target that it goes for [m, rad].   targets: (n,) which target that is.
    converged: each target is met, as the method counts.   reason: one line.
    """

    method: str
    path: Array
    errors: Array
    targets: Array
    converged: bool
    reason: str

    @property
    def q(self) -> Array:
        """(nq,) the last iterate."""
        return self.path[-1]

    @property
    def iterations(self) -> int:
        """Steps from iterate to iterate."""
        return len(self.path) - 1

    def to_dict(self) -> dict[str, object]:
        """For JSON."""
        return {
            "method": self.method,
            "converged": self.converged,
            "reason": self.reason,
            "iterations": self.iterations,
            "path": self.path.tolist(),
            "errors": self.errors.tolist(),
            "targets": self.targets.tolist(),
        }
