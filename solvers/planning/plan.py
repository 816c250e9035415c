"""A path from one configuration to another on which a robot touches nothing, timed inside its limits."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import dataclass

import numpy as np

from ...robokin.arrays import Array, shown
from ...robokin.collision import CollisionModel
from ...robokin.configuration import beside
from ...robokin.errors import ConfigurationError
from ...robokin.model.robot import RobotModel, solvable_model
from ..progress import at_once, mapped
from ..retiming.retime import Retimed, retime
from ..tasks.clearance import MARGIN
from ..trajectories.motion_limits import MotionLimits
from .free_space import FreeSpace
from .rrt_connect import connected
from .samples import Samples
from .shorten import SHORTCUTS, rounded, shortened

RESOLUTION, BUDGET = 0.001, 5000


@dataclass(frozen=True, eq=False)
class PathPlan:
    """reason: why there is no path, or which it is.   drawn: random configurations that were looked at.
    path: (k, nq) its corners before they were rounded; none without a path.   motion: None without a path."""

    reason: str
    drawn: int
    path: Array
    motion: Retimed | None

    @property
    def found(self) -> bool:
        return self.motion is not None

    def to_dict(self) -> dict:
        """Plain values for JSON."""
        duration = None if self.motion is None else self.motion.duration
        own = {"found": self.found, "reason": self.reason, "drawn": self.drawn, "duration": duration}
        return own | {"path": self.path.tolist()}


def plan_path_steps(
    model: RobotModel,
    collisions: CollisionModel,
    q0: object,
    q1: object,
    limits: object = None,
    *,
    margin: float = MARGIN,
    resolution: float = RESOLUTION,
    budget: int = BUDGET,
    seed: int = 0,
    backend: str = "auto",
) -> Generator[float, None, PathPlan]:
    """The motion from q0 to q1 (nq,), from rest to rest, during which nothing is nearer than `margin` [m], at any time.

    Two trees of free straight paths grow from both ends until they meet (RRT-Connect, Kuffner and LaValle 2000). The
    path is shortened, its corners are rounded, and it is timed inside `limits` as `retime` does, but not their jerk.
    resolution: [m] what is nearer than margin + resolution counts as too near; a smaller one finds narrower gaps, and
    takes longer.   budget: configurations drawn, at most.   seed: of what is drawn. The same call gives the same path.

    That no path is found is a result with its reason: an end that is too near to something, or the budget. It is no
    proof that there is none. Raises ConfigurationError for ends outside the limits, a wheeled base that would have to
    go somewhere, obstacles that move, links whose meshes are all left out, and numbers that are none.
    """
    start, goal = (_end(model, q, name) for q, name in ((q0, "q0"), (q1, "q1")))
    _check(model, collisions, margin, resolution, budget, seed)
    if isinstance(limits, Mapping) and limits.get("jerk") is not None:
        raise ConfigurationError("a planned path limits velocities and accelerations, not the jerk: retime its path")
    bound = MotionLimits.of(model, limits)
    samples = Samples(model, start, goal, int(seed))
    goal = beside(model, start, goal)
    space = FreeSpace(collisions, samples.low, samples.high, float(margin), float(resolution), backend)
    samples.weights = space.approach.weights()
    for q, which in ((start, "start"), (goal, "end")):
        near = space.nearest(q)
        if near is not None:
            return _none(model, f"at the {which} {near.sentence()}; {margin + resolution:.3g} m are asked for", 0)
    if (start == goal).all():
        return PathPlan("start and end are one", 0, start[None], retime(model, start[None], bound))
    path, drawn = [start, goal], 0
    if not space.is_straight_free(start, goal):
        search = connected(space, samples, start, goal, budget)
        path, drawn = yield from mapped(search, lambda drawn: 0.9 * drawn / budget)
        if not path:
            return _none(model, f"no path was found among {budget} configurations: there may be one", drawn)
        shortening = shortened(space, samples, _aligned(samples, path))
        path = yield from mapped(shortening, lambda tried: 0.9 + 0.1 * tried / SHORTCUTS)
    motion = retime(model, rounded(space, samples, path), bound)
    places = len(path) - 2
    by = f"a path by {places} configuration{'s' * (places > 1)} between" if places else "the straight path is free"
    return PathPlan(f"{by}; it takes {motion.duration:.3f} s at least", drawn, np.stack(path), motion)


plan_path = at_once(plan_path_steps, PathPlan)


def _aligned(samples: Samples, path: list[Array]) -> list[Array]:
    """The path with quaternions of continuous sign."""
    found = path[:1]
    for q in path[1:]:
        found.append(beside(samples.model, found[-1], q))
    return found


def _none(model: RobotModel, reason: str, drawn: int) -> PathPlan:
    return PathPlan(reason, drawn, np.empty((0, model.nq)), None)


def _end(model: RobotModel, q: object, name: str) -> Array:
    """Raises ConfigurationError."""
    end = solvable_model(model).check_configuration(q).copy()
    if not model.limits.contain(end, 1e-9):
        beyond = model.limits.beyond(end)
        joints = [joint.name for joint in model.moving_joints if beyond[model.slot(joint.name).q].any()]
        raise ConfigurationError(f"{name}: outside their position limits: {', '.join(joints)}")
    return model.limits.clamp(end)


def _check(
    model: RobotModel, collisions: object, margin: object, resolution: object, budget: object, seed: object
) -> None:
    """Raises ConfigurationError."""
    if not isinstance(collisions, CollisionModel):
        raise ConfigurationError(f"collisions must be a CollisionModel, not {shown(collisions)}")
    if (collisions.model.nq, collisions.model.link_names) != (model.nq, model.link_names):
        raise ConfigurationError(f"collisions are of {collisions.model.name!r}, not of {model.name!r}")
    if collisions.is_empty and collisions.left_out:  # nothing is in the way of what has no shape
        names = ", ".join(dict.fromkeys(collisions.left_out))
        raise ConfigurationError(f"the meshes of {names} are left out of the collisions: give them a hull")
    for obstacle in collisions.obstacles:
        if obstacle.placement.ndim == 3:
            raise ConfigurationError(f"obstacle {obstacle.name!r} moves: a path is planned around what stands still")
    for name, value, least in (("margin", margin, 0.0), ("resolution", resolution, 1e-6)):
        if isinstance(value, bool) or not isinstance(value, (int, float, np.number)) or not least <= value < 1e3:
            raise ConfigurationError(f"{name} must be a number of metres of at least {least:g}, not {shown(value)}")
    for name, value in (("budget", budget), ("seed", seed)):
        if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or not 0 <= value < 2**63:
            raise ConfigurationError(f"{name} must be a whole number from 0, not {shown(value)}")
