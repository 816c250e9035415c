"""What panels show of the present pose that only solvers can compute. The operators' side fills it in when it is
registered, since panels and properties know no solver."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import bpy

from ...robokin.arrays import Array


@dataclass(frozen=True)
class CriterionReadout:
    """cost: of what the robot shows now; None where it cannot be computed, `problem` then says why.
    slope: how steeply the cost rises.   pulls: (joint, how much the cost rises when it moves on by a radian or by the
    robot's size, or when its velocity does, per second), strongest first.   is_present: not of an earlier pose, while
    that of the present one is being computed."""

    cost: float | None
    slope: float = 0.0
    pulls: tuple[tuple[str, float], ...] = ()
    problem: str = ""
    is_present: bool = True


@dataclass(frozen=True)
class LiveReadout:
    """text: what following its targets comes to, in one line.   is_met: nothing is missed.   notes: what else there is
    to know.   is_searched: no other posture would do better, as a search or a distance has shown."""

    text: str
    is_met: bool = True
    notes: tuple[str, ...] = ()
    is_searched: bool = False


@dataclass(frozen=True)
class TaskReadout:
    """The residual of a task in the present pose. position: Blender units.   orientation: radians.   reached: it is
    within its tolerances.   problem: why it cannot be asked for at all.   singular_value: the smallest of its tip's
    Jacobian; None of what is no pose, position or orientation, or not active.   singularity: which one is near, in
    words; "" when none is."""

    position: float
    orientation: float
    reached: bool
    problem: str = ""
    singular_value: float | None = None
    singularity: str = ""


@dataclass(frozen=True, eq=False)
class Goal:
    """Where a task of a tip, or of the centre of mass, wants it now. task: its place in the list.   link: the tip's;
    "" of the centre of mass.   point: (3,) in the world.   normal: (3,) the point is anywhere on the plane across it;
    line: (3,) anywhere on the line along it; None: at the point."""

    task: int
    link: str
    point: Array
    normal: Array | None = None
    line: Array | None = None


@dataclass(frozen=True, eq=False)
class ShownMotion:
    """The motion that a robot's keys are. frames: (n,).   q: (n, nq).   shares: (n,) 0 where all is well, 1 where a
    limit or a tolerance is broken, NaN where that is not known."""

    frames: Array
    q: Array
    shares: Array


@dataclass(frozen=True, eq=False)
class ShownMoves:
    """Where the moves of a list will go. names: of the moves.   q: (n, nq).   owner: (n,) which move each belongs to.
    problem: why there is no more of it, or "".   failing: index of the move that cannot be made, or -1.   start: the
    frame whose pose it begins from; None for the present pose."""

    names: tuple[str, ...]
    q: Array
    owner: Array
    problem: str
    failing: int = -1
    start: int | None = None


@dataclass(frozen=True)
class BrokenRow:
    """Frames in a row in which the curves miss a task or break a limit. status: a word of `Status`.   reason: a
    sentence."""

    first: int
    last: int
    status: str
    reason: str


@dataclass(frozen=True)
class BrokenFrames:
    """What is wrong with the curves as they are being edited. count: of frames.   unseen: names of tasks that are not
    judged, as what they follow is not moved by keys alone."""

    rows: tuple[BrokenRow, ...]
    count: int
    unseen: tuple[str, ...] = ()


@dataclass(frozen=True)
class Quantity:
    """A quantity of the motion at the present frame. group: of `dynamics_curves`.   values: one, or along x, y, z of
    the root frame; NaN where there is none.   limit: infinite where there is none."""

    group: str
    name: str
    unit: str
    values: tuple[float, ...]
    limit: float = math.inf


@dataclass(frozen=True)
class DynamicsReadout:
    """joints: what each does and takes.   robot: what all of it does and takes, and how its links move."""

    joints: dict[str, tuple[Quantity, ...]]
    robot: tuple[Quantity, ...]


def nothing(obj: bpy.types.Object) -> Sequence:
    return ()


def no_points(obj: bpy.types.Object) -> Array | None:
    return None


def no_motion(obj: bpy.types.Object, color: str, mark: int) -> ShownMotion | None:
    return None


def no_moves(obj: bpy.types.Object) -> ShownMoves | None:
    return None


def no_dynamics(obj: bpy.types.Object) -> DynamicsReadout | None:
    return None


def not_judged(obj: bpy.types.Object) -> BrokenFrames | None:
    return None


def never() -> int:
    return 0


def no_poses(obj: bpy.types.Object, frames: Sequence[float]) -> Array | None:
    return None


def always(obj: bpy.types.Object, result: str) -> bool:
    return True


criteria: Callable[[bpy.types.Object], Sequence[CriterionReadout]] = nothing
goals: Callable[[bpy.types.Object], Sequence[Goal]] = nothing
support: Callable[[bpy.types.Object], Array | None] = no_points  # (n, 3) that a support task names, in the world
motion: Callable[[bpy.types.Object, str, int], ShownMotion | None] = no_motion
motion_count: Callable[[], int] = never  # how often a motion was judged anew
poses: Callable[[bpy.types.Object, Sequence[float]], Array | None] = no_poses  # (n, nq) that the keys are at frames
dynamics: Callable[[bpy.types.Object], DynamicsReadout | None] = no_dynamics
broken: Callable[[bpy.types.Object], BrokenFrames | None] = not_judged  # by the curves as they are
broken_count: Callable[[], int] = never  # how often they were judged anew
moves: Callable[[bpy.types.Object], ShownMoves | None] = no_moves
moves_count: Callable[[], int] = never  # how often a preview was made anew
tasks: Callable[[bpy.types.Object], Sequence[TaskReadout | None]] = nothing
is_present: Callable[[bpy.types.Object, str], bool] = always  # of the last "solve", "bake" or "check"


def not_live(obj: bpy.types.Object) -> LiveReadout | None:
    return None


live: Callable[[bpy.types.Object], LiveReadout | None] = not_live
