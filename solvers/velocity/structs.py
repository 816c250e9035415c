"""What the kernel's differential step is given, as C structs (kernel/include/robokin_step.h)."""

from __future__ import annotations

import ctypes

import numpy as np

from ...robokin.arrays import Array
from ...robokin.backend.library import library_with
from ..criteria.base import Criterion, CriterionRecord
from ..tasks.places.curve import SEGMENT
from ..tasks.places.surface import TRIANGLE
from ..tasks.robot_rows import ROBOT_ROW
from ..tasks.tip_rows import TIP_ROWS


class CriterionStruct(ctypes.Structure):
    """`rk_criterion` of the kernel."""

    _fields_ = (
        ("kind", ctypes.c_int32),
        ("rank", ctypes.c_int32),
        ("weight", ctypes.c_double),
        ("gain", ctypes.c_double),
        *((name, ctypes.c_void_p) for name in ("metric", "stiffness", "rest", "gravity")),
    )


class StepStruct(ctypes.Structure):
    """`rk_step` of the kernel."""

    _fields_ = (
        *((name, ctypes.c_void_p) for name in ("model", "tips", "criteria", "scale")),
        *((name, ctypes.c_void_p) for name in ("max_step", "max_step_change", "lower", "upper", "coordinate")),
        ("dt", ctypes.c_double),
        ("length", ctypes.c_double),
        *((name, ctypes.c_int32) for name in ("n_tips", "n_robot_tasks", "n_criteria", "most_first")),
        ("clearance", ctypes.c_void_p),
    )


class DataStruct(ctypes.Structure):
    """`rk_step_data` of the kernel."""

    _fields_ = (
        *((name, ctypes.c_void_p) for name in ("q", "previous", "targets", "stays", "first_row", "made_row", "shares")),
        *((name, ctypes.c_void_p) for name in ("robot_rows", "robot_at", "rates")),
        ("n_robot_rows", ctypes.c_int32),
        ("reserved", ctypes.c_int32),
        ("levels", ctypes.c_int32),
        ("n_active", ctypes.c_int32),
        *((name, ctypes.c_void_p) for name in ("start", "J", "low", "high", "damping", "H", "g")),
        *((name, ctypes.c_void_p) for name in ("v", "level_residuals", "points", "errors", "residuals", "costs")),
        *((name, ctypes.c_void_p) for name in ("freedom", "active", "from", "before", "path_directions", "remaining")),
        ("obstacles", ctypes.c_void_p),
        *((name, ctypes.c_int32) for name in ("clearance_row", "frame", "obstacles_move", "failed")),
    )


def step_library() -> ctypes.CDLL:
    """The kernel, checked to have the structs that this file describes. Raises BackendError."""
    records = {"robot_row": ROBOT_ROW, "tip_rows": TIP_ROWS, "segment": SEGMENT, "triangle": TRIANGLE}
    return library_with(step=StepStruct, step_data=DataStruct, criterion=CriterionStruct, **records)


def fill_criterion(struct: CriterionStruct, criterion: Criterion, record: CriterionRecord) -> list[Array]:
    """Fills a struct in; the arrays that it points to."""
    struct.kind, struct.weight, struct.gain = record.kind, criterion.weight, record.gain
    struct.rank = record.rank
    kept = []
    for name in ("metric", "stiffness", "rest", "gravity"):
        if getattr(record, name) is not None:
            kept.append(np.ascontiguousarray(getattr(record, name), np.float64))
            setattr(struct, name, kept[-1].ctypes.data)
    return kept
