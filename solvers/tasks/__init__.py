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

    __getattr__, __dir__, __all__ = exports(__name__)
