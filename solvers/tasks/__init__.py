"""What can be asked of a robot. One kind of task per file."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .base import Part, Rows, Task
    from .places.curve import Curve, Curves
    from .places.distance import DistanceTask
    from .places.laser import LaserTask
    from .places.on_curve import AlongCurveTask, OnCurveTask
    from .places.on_line import OnLineTask
    from .places.on_plane import OnPlaneTask
    from .places.surface import MeshSurface, Plane
    from .protocols import HistoryTask, StartRelativeTask, VelocityTask
    from .tips.advance import AdvanceTask
    from .tips.aim import AimTask
    from .tips.axis import AxisTask
    from .tips.frame import FrameTask
    from .tips.loop_closure import LoopClosureTask
    from .tips.pin import PinTask
    from .tips.pose import OrientationTask, PoseTask, PositionTask
    from .tips.relative import RelativePoseTask
    from .tips.singular_value import SingularValueTask
    from .tips.twist import TwistTask
    from .whole_robot.center_of_mass import CenterOfMassTask, SupportTask
    from .whole_robot.joint_velocity import JointVelocityTask
    from .whole_robot.linear_velocity import LinearVelocityTask
    from .whole_robot.posture import JointTask, PostureTask
else:
    from ...robokin.lazy import exports

    __getattr__, __dir__ = exports(
        __name__,
        {
            "base": ["Part", "Rows", "Task"],
            "places.curve": ["Curve", "Curves"],
            "places.distance": ["DistanceTask"],
            "places.laser": ["LaserTask"],
            "places.on_curve": ["AlongCurveTask", "OnCurveTask"],
            "places.on_line": ["OnLineTask"],
            "places.on_plane": ["OnPlaneTask"],
            "places.surface": ["MeshSurface", "Plane"],
            "protocols": ["HistoryTask", "StartRelativeTask", "VelocityTask"],
            "tips.advance": ["AdvanceTask"],
            "tips.aim": ["AimTask"],
            "tips.axis": ["AxisTask"],
            "tips.frame": ["FrameTask"],
            "tips.loop_closure": ["LoopClosureTask"],
            "tips.pin": ["PinTask"],
            "tips.pose": ["OrientationTask", "PoseTask", "PositionTask"],
            "tips.relative": ["RelativePoseTask"],
            "tips.singular_value": ["SingularValueTask"],
            "tips.twist": ["TwistTask"],
            "whole_robot.center_of_mass": ["CenterOfMassTask", "SupportTask"],
            "whole_robot.joint_velocity": ["JointVelocityTask"],
            "whole_robot.linear_velocity": ["LinearVelocityTask"],
            "whole_robot.posture": ["JointTask", "PostureTask"],
        },
    )

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
    "HistoryTask",
    "JointTask",
    "JointVelocityTask",
    "LaserTask",
    "LinearVelocityTask",
    "LoopClosureTask",
    "MeshSurface",
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
    "SingularValueTask",
    "StartRelativeTask",
    "SupportTask",
    "Task",
    "TwistTask",
    "VelocityTask",
]
