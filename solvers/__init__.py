"""Tasks, inverse kinematics and motion. No Blender."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .ik.problem import IKProblem
    from .ik.solve import solve_ik
    from .methods.result import MethodResult
    from .methods.solve_by import solve_by
    from .motion.check import MotionCheck, Violation, check_motion
    from .motion.dynamics import MotionDynamics
    from .motion.files import read_motion, write_motion
    from .motion.motion import Motion
    from .motion.singularities import MotionSingularities
    from .optimal_control.optimize import optimize_motion
    from .optimal_control.result import OptimizedMotion
    from .planning.plan import PathPlan, plan_path
    from .postures import PostureBatch, PostureProblem, Postures, all_postures
    from .program.moves import Move, read_moves
    from .program.run import program_motion, run_moves
    from .results import BatchResult, Diagnosis, SolveResult, Status
    from .retiming.retime import retime
    from .retiming.smooth_motion import smooth_motion
    from .retiming.timing import ActiveLimit, Retimed
    from .singularities.measure import Singularities, Singularity
    from .singularities.tool import Tool, tool_at, tools_of
    from .tasks import *  # noqa: F403
    from .tasks.clearance import ClearanceTask
    from .tracking.result import TrackResult
    from .tracking.track import Tracker, track
    from .trajectories.motion_limits import MotionLimits
    from .trajectories.point_to_point import point_to_point
    from .trajectories.trajectory import Trajectory
    from .traversal.traverse import Past, Traversal, traverse
    from .velocity.extended_jacobian import ExtendedJacobian
    from .velocity.step import VelocityConstraint, VelocityProblem, VelocityStep, velocity_step
else:
    from ..robokin.lazy import exports

    __getattr__, __dir__, __all__ = exports(__name__, renamed={"HierarchicalIK": "IKProblem", "Mesh": "MeshSurface"})
