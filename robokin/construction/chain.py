"""Serial chains: what every row of a table says of its joint and link, and the robot that the rows make."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

import numpy as np

from ..arrays import Array, float_array, shown
from ..errors import ModelError, RobokinError
from ..model.geometry import Geometry
from ..model.robot import Joint, Link, RobotModel

BASE_LINK = "base_link"
TOOL_LINK = "tool"


@dataclass(frozen=True, kw_only=True, eq=False)
class ChainRow:
    """One joint of a serial chain and the link that it moves; SI and radians, q as the joint value.

    joint, link: names, "joint_1" and "link_1" (by the row's number) when empty. mass [kg]; com: (3,) [m] and
    inertia: (3, 3) about it [kg m^2], both in the frame that the kind of table says. visuals: in the link's frame.
    The rest as in `Joint`; a joint that turns without any bound is continuous.
    """

    joint: str = ""
    link: str = ""
    lower: float = -np.inf
    upper: float = np.inf
    velocity: float = np.inf
    effort: float = np.inf
    acceleration: float = np.inf
    damping: float = 0.0
    friction: float = 0.0
    rotor_inertia: float = 0.0
    mass: float = 0.0
    com: Array = field(default_factory=lambda: np.zeros(3))
    inertia: Array = field(default_factory=lambda: np.zeros((3, 3)))
    visuals: tuple[Geometry, ...] = ()


def each_row(rows: object) -> list:
    """All rows of a table. Raises ModelError for what is no list."""
    try:
        return list(rows)  # type: ignore[call-overload]
    except TypeError:
        raise ModelError(f"the rows of a table must be a list, not {shown(rows)}") from None


@dataclass(frozen=True, eq=False)
class ChainStep:
    """Geometry of a row. `placement`: (4, 4) of the joint in the previous link; `axis`: (3,) in the joint's frame;
    `type`: "revolute", "prismatic" or "screw", which has a `pitch` [m/rad]; `T_link_body`: (4, 4), the frame of the
    row's com and inertia."""

    type: str
    placement: Array
    axis: Array
    T_link_body: Array
    pitch: float = 0.0


def assemble(
    name: str, rows: Sequence[ChainRow], steps: Sequence[ChainStep], T_last_tool: Array, tool: str, root: str
) -> RobotModel:
    """The robot of the rows, ending in the fixed link `tool`. Raises ModelError naming the joint or link."""
    links, joints = [Link(BASE_LINK)], []
    for number, (row, step) in enumerate(zip(rows, steps, strict=True), start=1):
        with concerning(row):
            link = Link(row.link or f"link_{number}", row.mass, row.com, row.inertia, row.visuals)
            joints.append(_joint(row, step, row.joint or f"joint_{number}", links[-1].name, link.name))
        R, p = step.T_link_body[:3, :3], step.T_link_body[:3, 3]
        inertia = R @ link.inertia @ R.T
        links.append(replace(link, com=R @ link.com + p, inertia=(inertia + inertia.T) / 2.0))
    joints.append(Joint(f"{tool}_joint", "fixed", links[-1].name, tool, T_last_tool))
    return RobotModel(name, [*links, Link(tool)], joints, root)


def _joint(row: ChainRow, step: ChainStep, name: str, parent: str, child: str) -> Joint:
    unbounded = step.type == "revolute" and not np.isfinite([row.lower, row.upper]).any()
    return Joint(
        name=name,
        type="continuous" if unbounded else step.type,
        parent=parent,
        child=child,
        placement=step.placement,
        axis=step.axis,
        lower=row.lower,
        upper=row.upper,
        velocity=row.velocity,
        effort=row.effort,
        acceleration=row.acceleration,
        pitch=step.pitch,
        damping=row.damping,
        friction=row.friction,
        rotor_inertia=row.rotor_inertia,
    )


@contextmanager
def concerning(row: ChainRow) -> Iterator[None]:
    """Errors inside become ModelErrors `about` the row, by which readers of files find its line."""
    try:
        yield
    except RobokinError as error:
        raise ModelError(str(error), row) from None


def finite(value: object, size: int, what: str) -> Array:
    """`value` as (size,) finite numbers. Raises ModelError that speaks of `what`."""
    try:
        array = float_array(value)
    except ValueError:
        array = np.full(1, np.nan)
    if array.size != size or array.ndim > 1 or not np.isfinite(array).all():
        raise ModelError(
            f"{what} must be {'a finite number' if size == 1 else f'{size} finite numbers'}, not {shown(value)}"
        )
    return array.reshape(size)


def rigid(value: object, what: str) -> Array:
    """(4, 4) placement; None is the identity. Raises ModelError that speaks of `what`."""
    if value is None:
        return np.eye(4)
    try:
        T = float_array(value)
    except ValueError:
        T = np.full(1, np.nan)
    if T.shape != (4, 4) or not np.isfinite(T).all():
        raise ModelError(f"{what} must be a (4, 4) placement of finite numbers, not {shown(value)}")
    if abs(T[:3, :3] @ T[:3, :3].T - np.eye(3)).max() > 1e-6 or np.linalg.det(T[:3, :3]) < 0:
        raise ModelError(f"{what} is not a rigid placement (its rotation part is not a rotation)")
    if (T[3] != (0.0, 0.0, 0.0, 1.0)).any():
        raise ModelError(f"{what} is not a rigid placement (its last row is {T[3].tolist()}, not 0, 0, 0, 1)")
    return T
