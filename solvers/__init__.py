"""Tasks, inverse kinematics and motion. No Blender."""

from .check import MotionCheck, Violation, check_motion
from .extended_jacobian import ExtendedJacobian
from .hierarchical_ik import HierarchicalIK
from .hierarchical_tracking import HierarchicalTracker
from .ik import IKProblem
from .motion import Motion
from .motion_files import read_motion, write_motion
from .results import BatchResult, Diagnosis, SolveResult, Status
from .solve import solve_ik
from .tasks import (
    AdvanceTask,
    AimTask,
    AlongCurveTask,
    AxisTask,
    CenterOfMassTask,
    Curve,
    DistanceTask,
    FrameTask,
    JointTask,
    JointVelocityTask,
    LaserTask,
    LinearVelocityTask,
    LoopClosureTask,
    Mesh,
    OnCurveTask,
    OnLineTask,
    OnPlaneTask,
    OrientationTask,
    Part,
    PinTask,
    Plane,
    PoseTask,
    PositionTask,
    PostureTask,
    RelativePoseTask,
    Rows,
    SupportTask,
    Task,
    TwistTask,
)
from .track_result import TrackResult
from .tracking import Tracker, track
from .velocity_step import VelocityConstraint, VelocityProblem, VelocityStep, velocity_step

__all__ = [
    "AdvanceTask",
    "AimTask",
    "AlongCurveTask",
    "AxisTask",
    "BatchResult",
    "CenterOfMassTask",
    "Curve",
    "Diagnosis",
    "DistanceTask",
    "ExtendedJacobian",
    "FrameTask",
    "HierarchicalIK",
    "HierarchicalTracker",
    "IKProblem",
    "JointTask",
    "JointVelocityTask",
    "LaserTask",
    "LinearVelocityTask",
    "LoopClosureTask",
    "Mesh",
    "Motion",
    "MotionCheck",
    "OnCurveTask",
    "OnLineTask",
    "OnPlaneTask",
    "OrientationTask",
    "Part",
    "PinTask",
    "Plane",
    "PoseTask",
    "PositionTask",
    "PostureTask",
    "RelativePoseTask",
    "Rows",
    "SolveResult",
    "Status",
    "SupportTask",
    "Task",
    "TrackResult",
    "Tracker",
    "TwistTask",
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
