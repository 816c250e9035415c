"""What optimising a whole motion came to."""

from __future__ import annotations

from dataclasses import dataclass

from ..tracking.result import TrackResult


@dataclass(frozen=True, eq=False)
class OptimizedMotion(TrackResult):
    """Frames as of `track`, and what became of the cost over all of them.

    cost_before, cost_after: of the frame-by-frame start and of the result, in the cost's own unit.   kkt: the relative
    KKT residual: of the cost's gradient what no task and no limit holds, and how far sides that push are off.
    is_optimal: kkt is at most 1e-6 and the tasks lack no more than at the start.   note: one sentence on it.
    """

    cost_before: float = 0.0
    cost_after: float = 0.0
    kkt: float = float("inf")
    is_optimal: bool = False
    note: str = ""
    steps: int = 0

    def to_dict(self) -> dict:
        """Plain values for JSON."""
        return {
            "cost_before": self.cost_before,
            "cost_after": self.cost_after,
            "kkt": self.kkt,
            "is_optimal": self.is_optimal,
            "note": self.note,
        }
