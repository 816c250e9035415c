"""What is asked of a bake, by the settings of a robot or in their place by a caller."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import bpy
import numpy as np

from ...properties.bridge import Binding
from ...robokin import RobokinError, TaskError
from ...robokin.arrays import Array
from ...solvers.criteria import Criterion
from ...solvers.optimal_control.rows.limit_sources import MotionBounds
from ...solvers.trajectories.motion_limits import MotionLimits
from ...solvers.traversal.traverse import Past
from ..criteria.solver_criteria import root_gravity
from ..tasks.ad_hoc import AdHocTask
from ..tasks.root_frames import metres_per_world_unit

WORD = "duration"


@dataclass(frozen=True)
class AtSingularities:
    """What a bake does at singularities. position [m], orientation [rad]: how far beside its path a tool may be that
    deviates."""

    past: Past
    position: float
    orientation: float


@dataclass(frozen=True, kw_only=True, eq=False)
class WholeMotion:
    """A bake of all frames at once. cost: what it minimizes, as in `optimize_motion` (the animation is that of the
    robot's curves). A cost with a duration frees the time: the bake then has as many frames as it needs from the first
    one on; then the robot brakes and rests until the last one.   bounds: what it keeps besides positions, velocities
    and accelerations.   soft: the weights of tasks by their names, in place of the tasks' own; 0: hard.
    is_enough: asked after each step, whether to end with the best so far."""

    cost: object
    bounds: MotionBounds | None = None
    soft: Mapping[str, float] = field(default_factory=dict)
    is_enough: Callable[[], bool] = bool

    @property
    def frees_time(self) -> bool:
        """Whether the cost has the duration in it."""
        return WORD in self.words

    @property
    def words(self) -> Sequence[object]:
        """What the cost adds up."""
        return list(self.cost) if isinstance(self.cost, Mapping) else [self.cost]

    @property
    def timed_cost(self) -> object:
        """The cost where the time is settled."""
        others = {word: w for word, w in self.cost.items() if word != WORD} if isinstance(self.cost, Mapping) else {}
        return others or "acceleration"


@dataclass(frozen=True, kw_only=True, eq=False)
class BakeChoices:
    """The frames of a bake, and how they are solved. q0: (nq,) the start; None: one is chosen from which every frame is
    met, rest first.   criteria: in place of the robot's own, whose costs are keyed.   ad_hoc: tasks besides the robot's
    own, or (not `use_own`) in place of them.   whole: all frames at once; None: frame by frame.   past: what to do at
    singularities; None: follow as near as limits allow.   avoid: whether it keeps away from obstacles and itself, in
    place of the robot's setting.   moments: in place of the frames, those of the scene that targets are read at.
    spare: how many frames more a motion takes that is late in these, then twice as many more."""

    frames: Sequence[int]
    q0: Array | None
    seed: int = 0
    new_action: bool = False
    criteria: Sequence[Criterion] | None = None
    ad_hoc: Sequence[AdHocTask] = ()
    use_own: bool = True
    whole: WholeMotion | None = None
    past: AtSingularities | None = None
    avoid: bool | None = None
    moments: Sequence[float] | None = None
    spare: int = 0

    @property
    def read_at(self) -> Sequence[float]:
        """Frames of the scene that targets are read at."""
        return self.frames if self.moments is None else self.moments

    @property
    def stretch(self) -> float:
        """How many times as long as the targets the motion takes."""
        given, own = self.read_at[-1] - self.read_at[0], self.frames[-1] - self.frames[0]
        return own / given if given else 1.0

    @property
    def keyed(self) -> range:
        """Frames that get keys: where the time is free, also those in which the robot rests after its motion."""
        return range(self.frames[0], max(self.frames[-1], round(self.read_at[-1])) + 1, self.step)

    @property
    def step(self) -> int:
        """From a frame to the next one."""
        return int(self.frames[1] - self.frames[0]) if len(self.frames) > 1 else 1


def chosen_traversal(
    obj: bpy.types.Object, past: str | None = None, position: float | None = None, orientation: float | None = None
) -> AtSingularities | None:
    """What the settings of a robot say, or in their place the words of the command line and bounds [m], [rad]; None to
    follow."""
    settings = obj.robokin.solver
    word = past or settings.at_singularities.lower().replace("_", "-")
    if word == "follow":
        return None
    if position is None:
        position = settings.deviation_position * metres_per_world_unit(obj)
    return AtSingularities(Past(word), position, settings.deviation_orientation if orientation is None else orientation)


def motion_bounds(
    obj: bpy.types.Object, robot: Binding, efforts: bool | None = None, jerk: bool | None = None
) -> MotionBounds:
    """What a whole motion keeps besides positions, velocities and accelerations, as the robot's settings say, or in
    their place `efforts` and `jerk`. Raises RobokinError for efforts of a robot without masses."""
    settings = obj.robokin.solver
    has_efforts = settings.efforts if efforts is None else efforts
    has_jerk = settings.bake_jerk if jerk is None else jerk
    limits = {"jerk": MotionLimits.of(robot.model).jerk} if has_jerk else None
    return MotionBounds.of(robot.model, limits, root_gravity(obj, robot) if has_efforts else None)


def chosen_cost(settings: bpy.types.PropertyGroup, mode: str | None = None, cost: str | None = None) -> object | None:
    """The cost of a bake, None for frame by frame: as the settings of a robot say, or in their place `mode` ("frames",
    "whole") and `cost` (a word, or "word=weight,..."). Raises RobokinError."""
    if cost is not None and mode == "frames":
        raise RobokinError("a cost is of a whole motion: not with the mode frames")
    if (mode or ("whole" if cost is not None else settings.bake_mode.lower())) == "frames":
        return None
    return parse_cost(cost) if cost is not None else with_duration(settings.motion_cost, settings.duration_weight)


def with_duration(word: str, weight: float) -> str | dict[str, float]:
    """A cost of the settings, and the duration of the motion with a weight beside it; 0: the time is given."""
    own = word.lower()
    return own if weight <= 0.0 or own == WORD else {own: 1.0, WORD: weight}


def parse_cost(text: str) -> str | dict[str, float]:
    """ "word", or "word=weight,word=weight". Raises RobokinError."""
    if "=" not in text and "," not in text:
        return text
    found: dict[str, float] = {}
    for item in text.split(","):
        word, _, weight = item.partition("=")
        try:
            found[word.strip()] = float(weight or 1.0)
        except ValueError:
            raise RobokinError(f"cost {item!r}: {weight!r} is not a number") from None
    return found


def parse_soft(texts: Sequence[str]) -> dict[str, float]:
    """ "NAME=WEIGHT" of each. Raises TaskError."""
    found = {}
    for text in texts:
        name, _, weight = text.rpartition("=")
        try:
            found[name] = float(weight)
        except ValueError:
            found[name] = -1.0
        if not name or not 0.0 <= found[name] < np.inf:
            raise TaskError(f"soft {text!r}: a task's name and its weight are needed, NAME=WEIGHT, 0 for a hard task")
    return found
