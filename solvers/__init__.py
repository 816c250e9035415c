"""Tasks, inverse kinematics and motion. No Blender."""

from .ik import IKProblem, solve_ik
from .results import BatchResult, Diagnosis, SolveResult, Status
from .tasks import AxisTask, OrientationTask, PoseTask, PositionTask, Task

__all__ = [
    "AxisTask",
    "BatchResult",
    "Diagnosis",
    "IKProblem",
    "OrientationTask",
    "PoseTask",
    "PositionTask",
    "SolveResult",
    "Status",
    "Task",
    "solve_ik",
]
