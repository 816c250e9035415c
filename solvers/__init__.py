"""Tasks, inverse kinematics and motion. No Blender."""

from .check import MotionCheck, Violation, check_motion
from .extended_jacobian import ExtendedJacobian
from .ik import IKProblem, solve_ik
from .motion import Motion
from .motion_files import read_motion, write_motion
from .results import BatchResult, Diagnosis, SolveResult, Status
from .tasks import AxisTask, FrameTask, OrientationTask, Part, PoseTask, PositionTask, Rows, Task
from .tracking import Tracker, TrackResult, track
from .velocity_step import VelocityConstraint, VelocityProblem, VelocityStep, velocity_step

__all__ = [
    "AxisTask",
    "BatchResult",
    "Diagnosis",
    "ExtendedJacobian",
    "FrameTask",
    "IKProblem",
    "Motion",
    "MotionCheck",
    "OrientationTask",
    "Part",
    "PoseTask",
    "PositionTask",
    "Rows",
    "SolveResult",
    "Status",
    "Task",
    "TrackResult",
    "Tracker",
    "VelocityConstraint",
    "VelocityProblem",
    "VelocityStep",
    "Violation",
    "check_motion",
    "read_motion",
    "solve_ik",
    "track",
    "velocity_step",
    "write_motion",
]
