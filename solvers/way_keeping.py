"""A frame whose velocities keep to their ways: as fast along them as limits allow.

The levels of a frame put what is across a way before what is along it, but to first order only. Where a frame that is
too fast ends off its way all the same, less of the speed is asked for, as much less as it takes to stay.
"""

from __future__ import annotations

import numpy as np

from .hierarchical_frame import Found, Frame
from .viability import StepLimits

Array = np.ndarray

SLOWER, PACES = 0.95, 6  # of the speed reached where a way was left; trials
SAME = 1e-9  # of that speed


def solve_on_the_way(frame: Frame, limits: StepLimits, most: int) -> Found:
    """As `Frame.solve`. residuals: of the whole speed."""
    found = frame.solve(limits, most)
    if not _leaves_way(frame, found):
        return found
    reached, stays = _reached(frame, found), None
    slow, fast, pace, steps = 0.0, 1.0, SLOWER, found.steps
    for _ in range(PACES):
        trial_frame = _slowed(frame, {i: pace * share for i, share in reached.items()})
        trial = trial_frame.solve(limits, most)
        steps += trial.steps
        if _leaves_way(trial_frame, trial):
            fast = pace
        else:
            slow, stays = pace, trial
        if fast - slow <= 1.0 - SLOWER + SAME:
            break
        pace = 0.5 * (slow + fast)
    if stays is None:
        return found._replace(steps=steps)
    residuals = frame.levels.residuals(frame.rows_at(stays), np.zeros(frame.levels.model.nv), frame.dt)
    return stays._replace(residuals=residuals, steps=steps, held=found.held)


def _leaves_way(frame: Frame, found: Found) -> bool:
    """Whether a velocity is led off its way, where it has to be slower than is asked for."""
    tasks = frame.levels.tasks
    if not any(task.has_way for task in tasks) or not found.held.any():
        return False
    if frame.is_met(found, len(frame.levels.priorities)):
        return False
    for task, rows in zip(tasks, frame.rows_at(found), strict=True):
        if rows.ahead is not None and len(rows.J):
            size = float(np.linalg.norm(rows.ahead)) or 1.0
            across = rows.e - rows.ahead / size * _along(rows.e, rows.ahead)
            for i, part in enumerate(task.parts):
                allowed = part.tolerance * (frame.dt if part.is_rate else 1.0)
                if np.linalg.norm(across[rows.part == i]) > allowed:
                    return True
    return False


def _reached(frame: Frame, found: Found) -> dict[int, float]:
    """Of each task that has a way, the share of it that a frame leads along."""
    shares = {}
    for i, (before, after) in enumerate(zip(frame.rows_at_start(), frame.rows_at(found), strict=True)):
        if before.ahead is not None and after.ahead is not None:
            whole, left = (abs(_along(e, ahead)) for e, ahead in ((before.e, before.ahead), (after.e, after.ahead)))
            shares[i] = max(0.0, 1.0 - left / whole) if whole else 1.0
    return shares


def _slowed(frame: Frame, shares: dict[int, float]) -> Frame:
    pairs = enumerate(zip(frame.levels.tasks, frame.asked.targets, strict=True))
    return frame.asking([task.slowed(target, shares[i]) if i in shares else target for i, (task, target) in pairs])


def _along(e: Array, ahead: Array) -> float:
    return float(e @ ahead) / (float(np.linalg.norm(ahead)) or 1.0)
