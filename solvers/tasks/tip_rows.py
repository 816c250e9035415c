"""Tasks on tips in the form in which the kernel makes their rows (rk_tip_rows in robokin_step.h).

The kernel places two tips, the task's own and another one or the root frame, and has a function for each kind that
gives the residual and its derivative by their twists; the same rows are those of the task's `rows`.
To add a kind: `tip_form` and `tip_target` of its class, its word here, and its function in kernel/src/step/tip_rows.c.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass

import numpy as np

from ...robokin.arrays import Array


class TipKind(enum.IntEnum):
    """The values are those of `enum rk_tip_kind` in the kernel, which tells the targets."""

    POSE = 0
    AXIS = 1
    RELATIVE = 2
    DISTANCE = 3
    AIM = 4
    PLANE = 5
    LINE = 6
    ADVANCE = 7
    LASER = 8
    TWIST = 9
    CURVE = 10
    SPOT = 11


AXES = {"world": 0, "tip": 1, "space": 2}  # the values are those of `enum rk_tip_axes`
TARGET = 16  # numbers of a target
WHOLE = frozenset((TipKind.POSE, TipKind.AXIS, TipKind.RELATIVE))  # whose targets are (4, 4), or None

# Field by field `struct rk_tip_rows`.
TIP_ROWS = np.dtype(
    [
        ("kind", np.int32),
        ("tip", np.int32),
        ("other", np.int32),
        ("axes", np.int32),
        ("side", np.int32),
        ("is_ball", np.int32),
        ("is_first", np.int32),  # 1: of the first level, whose rows criteria look at
        ("reserved", np.int32),
        ("weights", np.float64, 6),
        ("bands", np.float64, 6),
        ("axis", np.float64, 3),
        ("correction", np.float64),
    ],
    align=True,
)


@dataclass(frozen=True, eq=False)
class TipForm:
    """A task as the kernel takes it, before its target.

    link, offset: of the tip.   other: (link, offset) of the other tip; None: the root frame.
    weights: (6,) in units of the task, with its influence; 0: there is no such row. The first three count in the first
    part, the others in the second one.   bands: (6,) errors that do not count.
    axes: those that the task is expressed in.   side: 1 only the lower sides count, -1 the upper ones, 0 both.
    is_ball: the band is that of a length: one row, whose weight stands for all three.   axis: (3,) in the tip.
    correction: of a loop closure, whose rows are those of its motions; None: it is none.
    """

    kind: TipKind
    link: str
    offset: Array
    weights: Array
    bands: Array
    other: tuple[str, Array] | None = None
    axes: str = "world"
    side: int = 0
    is_ball: bool = False
    axis: Array | None = None
    correction: float | None = None

    def record(self, size: Array, tip: int, other: int, is_first: bool) -> np.void:
        """size: (2,) that makes each part dimensionless.   tip, other: the frames, -1 for none."""
        record = np.zeros((), TIP_ROWS)
        record["kind"], record["tip"], record["other"], record["is_first"] = self.kind, tip, other, is_first
        record["axes"], record["side"], record["is_ball"] = AXES[self.axes], self.side, self.is_ball
        record["weights"], record["bands"] = self.weights * np.repeat(size, 3), self.bands
        record["axis"] = 0.0 if self.axis is None else self.axis
        record["correction"] = self.correction or 0.0
        return record[()]  # type: ignore[return-value]


def uniform(weight: float, rows: int, band: float = 0.0) -> tuple[Array, Array]:
    """Weights (6,) and bands (6,) of so many rows of the first part."""
    weights, bands = np.zeros(6), np.zeros(6)
    weights[:rows], bands[:rows] = weight, band
    return weights, bands
