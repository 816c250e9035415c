"""Tasks, inverse kinematics and motion. No Blender."""

from typing import TYPE_CHECKING

from . import tasks

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

    __getattr__, __dir__ = exports(
        __name__,
        {
            "postures": ["PostureBatch", "PostureProblem", "Postures", "all_postures"],
            "motion.check": ["MotionCheck", "Violation", "check_motion"],
            "velocity.extended_jacobian": ["ExtendedJacobian"],
            "ik.problem": ["IKProblem"],
            "motion.motion": ["Motion"],
            "motion.singularities": ["MotionSingularities"],
            "singularities.measure": ["Singularities", "Singularity"],
            "singularities.tool": ["Tool", "tool_at", "tools_of"],
            "optimal_control.optimize": ["optimize_motion"],
            "optimal_control.result": ["OptimizedMotion"],
            "motion.dynamics": ["MotionDynamics"],
            "motion.files": ["read_motion", "write_motion"],
            "planning.plan": ["PathPlan", "plan_path"],
            "results": ["BatchResult", "Diagnosis", "SolveResult", "Status"],
            "ik.solve": ["solve_ik"],
            "methods.result": ["MethodResult"],
            "methods.solve_by": ["solve_by"],
            "tasks": tasks.__all__,
            "tasks.clearance": ["ClearanceTask"],
            "tracking.result": ["TrackResult"],
            "tracking.track": ["Tracker", "track"],
            "trajectories.motion_limits": ["MotionLimits"],
            "program.moves": ["Move", "read_moves"],
            "program.run": ["program_motion", "run_moves"],
            "trajectories.point_to_point": ["point_to_point"],
            "retiming.retime": ["retime"],
            "retiming.smooth_motion": ["smooth_motion"],
            "retiming.timing": ["ActiveLimit", "Retimed"],
            "trajectories.trajectory": ["Trajectory"],
            "traversal.traverse": ["Past", "Traversal", "traverse"],
            "velocity.step": ["VelocityConstraint", "VelocityProblem", "VelocityStep", "velocity_step"],
        },
        renamed={"HierarchicalIK": "IKProblem", "Mesh": "MeshSurface"},
    )

__all__ = [
    "ActiveLimit",
    "BatchResult",
    "ClearanceTask",
    "Diagnosis",
    "ExtendedJacobian",
    "IKProblem",
    "MethodResult",
    "Motion",
    "MotionCheck",
    "MotionDynamics",
    "MotionLimits",
    "MotionSingularities",
    "Move",
    "OptimizedMotion",
    "Past",
    "PathPlan",
    "PostureBatch",
    "PostureProblem",
    "Postures",
    "Retimed",
    "Singularities",
    "Singularity",
    "SolveResult",
    "Status",
    "Tool",
    "TrackResult",
    "Tracker",
    "Trajectory",
    "Traversal",
    "VelocityConstraint",
    "VelocityProblem",
    "VelocityStep",
    "Violation",
    "all_postures",
    "check_motion",
    "optimize_motion",
    "plan_path",
    "point_to_point",
    "program_motion",
    "read_motion",
    "read_moves",
    "retime",
    "run_moves",
    "smooth_motion",
    "solve_by",
    "solve_ik",
    "tool_at",
    "tools_of",
    "track",
    "traverse",
    "velocity_step",
    "write_motion",
]
__all__ += tasks.__all__
