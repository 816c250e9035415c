"""What can be asked of a robot. One kind of task per file."""

from .axis import AxisTask
from .base import Task, TaskKind
from .pose import OrientationTask, PoseTask, PositionTask

__all__ = ["AxisTask", "OrientationTask", "PoseTask", "PositionTask", "Task", "TaskKind"]
