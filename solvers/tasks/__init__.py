"""What can be asked of a robot. One kind of task per file."""

from .advance import AdvanceTask
from .aim import AimTask
from .axis import AxisTask
from .base import Part, Rows, Task
from .center_of_mass import CenterOfMassTask, SupportTask
from .curve import Curve, Curves
from .distance import DistanceTask
from .frame import FrameTask, TaskKind
from .joint_velocity import JointVelocityTask
from .laser import LaserTask
from .linear_velocity import LinearVelocityTask
from .loop_closure import LoopClosureTask
from .on_curve import AlongCurveTask, OnCurveTask
from .on_line import OnLineTask
from .on_plane import OnPlaneTask
from .pin import PinTask
from .pose import OrientationTask, PoseTask, PositionTask
from .posture import JointTask, PostureTask
from .relative import RelativePoseTask
from .surface import Mesh, Plane
from .twist import TwistTask

__all__ = [
    "AdvanceTask",
    "AimTask",
    "AlongCurveTask",
    "AxisTask",
    "CenterOfMassTask",
    "Curve",
    "Curves",
    "DistanceTask",
    "FrameTask",
    "JointTask",
    "JointVelocityTask",
    "LaserTask",
    "LinearVelocityTask",
    "LoopClosureTask",
    "Mesh",
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
    "SupportTask",
    "Task",
    "TaskKind",
    "TwistTask",
]
