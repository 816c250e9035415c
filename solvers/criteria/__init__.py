"""What to prefer among the motions that satisfy the tasks. One criterion per file."""

from ..kinematics.state import State
from .base import Criterion, Potential, Velocity, checked_criteria, combine, criterion_names
from .dynamic_torque import DynamicTorque
from .far_from_obstacles import FarFromObstacles
from .gravity_torque import GravityTorque
from .joint_springs import JointSprings
from .kinds import KINDS, criterion, options_of
from .kinetic_energy import KineticEnergy
from .manipulability import Manipulability
from .minimum_velocity import MinimumVelocity
from .rest_posture import RestPosture
from .smallest_singular_value import SmallestSingularValue
from .smooth import Smooth

__all__ = [
    "KINDS",
    "Criterion",
    "DynamicTorque",
    "FarFromObstacles",
    "GravityTorque",
    "JointSprings",
    "KineticEnergy",
    "Manipulability",
    "MinimumVelocity",
    "Potential",
    "RestPosture",
    "SmallestSingularValue",
    "Smooth",
    "State",
    "Velocity",
    "checked_criteria",
    "combine",
    "criterion",
    "criterion_names",
    "options_of",
]
