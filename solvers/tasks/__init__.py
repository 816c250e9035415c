"""What can be asked of a robot. One kind of task per file."""

from .axis import AxisTask
from .base import Part, Rows, Task
from .frame import FrameTask, TaskKind
from .pose import OrientationTask, PoseTask, PositionTask

__all__ = [
    "AxisTask",
    "FrameTask",
    "OrientationTask",
    "Part",
    "PoseTask",
    "PositionTask",
    "Rows",
    "Task",
    "TaskKind",
]
