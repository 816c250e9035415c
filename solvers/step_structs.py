"""What the kernel's differential step is given, as C structs (kernel/include/robokin_step.h)."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..robokin.backend.library import load_library
from ..robokin.errors import BackendError
from ..robokin.model import RobotModel
from ..robokin.tree import Tree, pack_placement, unpack_placement
from .criteria.base import Criterion, CriterionRecord
from .ik_data import TASK_RECORD
from .tasks import FrameTask
from .tasks.robot_rows import ROBOT_ROW

Array = np.ndarray


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
        *((name, ctypes.c_void_p) for name in ("model", "tasks", "bands", "first", "criteria", "scale")),
        *((name, ctypes.c_void_p) for name in ("largest", "change", "lower", "upper", "coordinate")),
        ("dt", ctypes.c_double),
        ("length", ctypes.c_double),
        ("n_criteria", ctypes.c_int32),
        ("n_robot_tasks", ctypes.c_int32),
    )


class DataStruct(ctypes.Structure):
    """`rk_step_data` of the kernel."""

    _fields_ = (
        *((name, ctypes.c_void_p) for name in ("q", "previous", "targets", "first_row", "stays")),
        *((name, ctypes.c_void_p) for name in ("robot_rows", "robot_at")),
        ("n_robot_rows", ctypes.c_int32),
        ("reserved", ctypes.c_int32),
        ("levels", ctypes.c_int32),
        ("n_active", ctypes.c_int32),
        *((name, ctypes.c_void_p) for name in ("start", "J", "low", "high", "damping", "H", "g")),
        *((name, ctypes.c_void_p) for name in ("v", "lacking", "points", "errors", "residuals", "costs")),
        *((name, ctypes.c_void_p) for name in ("freedom", "active")),
    )


def step_library() -> ctypes.CDLL:
    """The kernel, checked to have the structs that this file describes. Raises BackendError."""
    library = load_library()
    sizes = {"step": StepStruct, "step_data": DataStruct, "criterion": CriterionStruct}
    for name, size in {**{n: ctypes.sizeof(s) for n, s in sizes.items()}, "robot_row": ROBOT_ROW.itemsize}.items():
        found = getattr(library, f"rk_sizeof_{name}")()
        if found != size:
            raise BackendError(f"the kernel's rk_{name} has {found} bytes, not {size}")
    library.rk_step_workspace.restype = ctypes.c_int64
    return library


def task_record(task: FrameTask, length: float) -> np.void:
    record = np.zeros((), TASK_RECORD)
    record["kind"], record["tip_axes"] = task.record_kind, task.frame == "tip"
    for bit, weights in enumerate(np.split(task.weights, 2)):
        record["parts"] |= int(weights.any()) << bit
    record["exact"] = record["parts"]
    record["weights"] = task.weights / np.repeat((length, 1.0), 3)
    record["used"] = task.weights != 0.0
    record["axis"] = task.axis
    return record[()]  # type: ignore[return-value]


def tree_of_tips(model: RobotModel, tasks: Sequence[FrameTask]) -> Tree:
    """The model's tree with the tasks' tips for frames."""
    tree = model.tree
    links = [model.link_index(task.link) for task in tasks]
    placements = [unpack_placement(tree.frame_placement[link]) for link in links]
    tips = [pack_placement(T @ task.offset) for T, task in zip(placements, tasks, strict=True)]
    return replace(
        tree,
        frame_node=np.ascontiguousarray(tree.frame_node[links], np.int32),
        frame_placement=np.array(tips).reshape(-1, 12),
    )


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
