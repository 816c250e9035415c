"""What can be asked of a robot. One kind of task per file."""

from .base import Part, Rows, Task
from .places.curve import Curve, Curves
from .places.distance import DistanceTask
from .places.laser import LaserTask
from .places.on_curve import AlongCurveTask, OnCurveTask
from .places.on_line import OnLineTask
from .places.on_plane import OnPlaneTask
from .places.surface import Mesh, Plane
from .tips.advance import AdvanceTask
from .tips.aim import AimTask
from .tips.axis import AxisTask
from .tips.frame import FrameTask, TaskKind
from .tips.loop_closure import LoopClosureTask
from .tips.pin import PinTask
from .tips.pose import OrientationTask, PoseTask, PositionTask
from .tips.relative import RelativePoseTask
from .tips.twist import TwistTask
from .whole_robot.center_of_mass import CenterOfMassTask, SupportTask
from .whole_robot.joint_velocity import JointVelocityTask
from .whole_robot.linear_velocity import LinearVelocityTask
from .whole_robot.posture import JointTask, PostureTask

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
