"""What a check found, as rows for people: frames in a row that break the same limit or miss the same tasks."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...robokin.arrays import Array
from ...solvers import Status
from ...solvers.motion.check import Violation
from ..bake.report import MET

_ORDERS = {"velocity": 1, "acceleration": 2, "jerk": 3, "tool speed": 1, "tool acceleration": 2}  # rates of time
_OF_PLACES = ("tool speed", "tool acceleration", "tipping", "slip", "collision")
_STATUSES = {"singularity": Status.SINGULAR, "collision": Status.COLLISION}  # of kinds that are no limits of joints


@dataclass(frozen=True)
class CheckRow:
    """first, last: scene frames.   peak: the one where it is worst.   reason: a sentence."""

    first: int
    last: int
    peak: int
    status: Status
    reason: str


def time_needed(violations: Iterable[Violation]) -> float:
    """How many times as long the motion must take for its speeds and accelerations to be inside their limits; 1 when
    they are, infinite where a limit is zero."""
    return max((_time(violation) for violation in violations), default=1.0)


def needs(time: float) -> str:
    """In words, rounded up."""
    return f"needs {np.ceil(100.0 * time - 1e-6) / 100.0:.4g} times more time"


def limit_rows(frames: Sequence[int], violations: Sequence[Violation], world: float) -> list[CheckRow]:
    """Violations of limits by frame; of neighbouring frames the worst of each joint. world: as `world_scale` has it."""
    rows = []
    ordered = sorted(violations, key=lambda v: (v.joint, v.kind, v.frame))
    for _, own in itertools.groupby(ordered, key=lambda v: (v.joint, v.kind)):
        for run in _runs(list(own)):
            worst = in_world(max(run, key=_excess), world)
            status = _STATUSES.get(worst.kind, Status.LIMIT)
            rows.append(
                CheckRow(frames[run[0].frame], frames[run[-1].frame], frames[worst.frame], status, _sentence(worst))
            )
    return sorted(rows, key=lambda row: row.first)


def in_world(violation: Violation, world: float) -> Violation:
    """A violation whose lengths of places are in metres of the world; a joint's stay as its limits are."""
    if violation.kind not in _OF_PLACES or not violation.unit.startswith("m"):
        return violation
    return replace(violation, value=world * violation.value, limit=world * violation.limit)


def task_rows(
    frames: Sequence[int],
    statuses: Sequence[Status],
    missed: Array,
    residuals: Array,
    names: Sequence[str],
    units: Sequence[Sequence[str]],
    world: float,
) -> list[CheckRow]:
    """missed, residuals: (n, k, 2) of the parts of the tasks.   names, units: of the tasks, of their parts.
    world: as `world_scale` has it."""
    rows = []
    keys = [
        None if status in MET else (status, tuple(own.any(axis=1)))
        for status, own in zip(statuses, missed, strict=True)
    ]
    for key, group in itertools.groupby(range(len(frames)), key=lambda i: keys[i]):
        if key is None:
            continue
        run = list(group)
        sentences, peak = [], run[0]
        for task in np.flatnonzero(key[1]):
            own = np.where(missed[run, task], residuals[run, task], 0.0)
            worst = own.max(axis=0)
            peak = run[int(own.sum(axis=1).argmax())]
            parts = zip(worst, units[task], strict=False)
            off = " and ".join(
                f"{value * (world if unit.startswith('m') else 1.0):.3g} {unit}".rstrip()
                for value, unit in parts
                if value
            )
            sentences.append(f"{names[task]} is off by up to {off}")
        rows.append(CheckRow(frames[run[0]], frames[run[-1]], frames[peak], key[0], "; ".join(sentences)))
    return rows


def _runs(violations: list[Violation]) -> list[list[Violation]]:
    runs = [violations[:1]]
    for before, violation in itertools.pairwise(violations):
        if violation.frame == before.frame + 1:
            runs[-1].append(violation)
        else:
            runs.append([violation])
    return runs


def _excess(violation: Violation) -> float:
    """The size of a violation, to compare those of one limit."""
    return (
        abs(violation.value)
        if violation.kind in _ORDERS or violation.kind in ("effort", "power", "slip")
        else _beyond(violation)
    )


def _beyond(violation: Violation) -> float:
    return (violation.value - violation.limit) * (-1.0 if violation.kind in ("lower", "singularity") else 1.0)


def _time(violation: Violation) -> float:
    order = _ORDERS.get(violation.kind)
    if order is None:
        return 1.0
    ratio = abs(violation.value) / violation.limit if violation.limit else np.inf
    return float(ratio ** (1.0 / order))


def _sentence(violation: Violation) -> str:
    joint, unit = violation.joint, f" {violation.unit}".rstrip()
    allowed = f"{violation.limit:.4g}{unit}"
    if violation.kind in _ORDERS:
        does = ("moves at", "accelerates at", "jerks by")[_ORDERS[violation.kind] - 1]
        need = _time(violation)
        more = f": {needs(need)}" if np.isfinite(need) else ""
        return f"too fast: {joint} {does} {abs(violation.value):.4g}{unit}, allowed {allowed}{more}"
    if violation.kind in ("lower", "upper"):
        return f"{joint} is at {violation.value:.4g}{unit}, its {violation.kind} limit is {allowed}"
    if violation.kind in ("effort", "power"):
        return f"too heavy: {joint} needs {abs(violation.value):.4g}{unit}, allowed {allowed}"
    return f"{violation.sentence()}{' between two frames' if violation.half else ''}"
