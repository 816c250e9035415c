"""Finding the wheels of a base, or adding some.

Wheels are two revolute or continuous joints without a mimic, held to the base by fixed joints, with nothing that moves
behind them, that turn about one and the same line across the normal of the ground. Where there are none, a suspension
may carry them: joints that slide along the normal, which change nothing about how the base rolls. Their radius is that
of the cylinder, sphere or capsule that they wear, or of the mesh around their axle when the robot's meshes were
measured; else the height of the axle over the lowest shape of the robot.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations

import numpy as np

from ..arrays import Array
from ..errors import ModelError
from ..spatial.se3 import translation
from .drive import ALIGNED, WHEEL_TYPES, Drive
from .geometry import Box, Capsule, Cylinder, Geometry, Hull, Material, RoundedBox, Shape, Sphere
from .joint import Joint
from .joint_types import plane_basis
from .link import Link
from .topology import depth_first, free_name, root_link_name, unique

# Wheels that are added to a robot that has none: beside the origin of its root link, on the ground below it.
RADIUS, SEPARATION, WIDTH = 0.1, 0.5, 0.04  # [m]
_CALLED = re.compile("wheel|caster|castor|mecanum", re.IGNORECASE)
_TYRE = Material("tyre", (0.05, 0.05, 0.05, 1.0))
_Placed = list[tuple[Joint, Array]]


def with_wheels(links: Sequence[Link], joints: Sequence[Joint]) -> tuple[tuple[Link, ...], tuple[Joint, ...]]:
    """Links and joints of a wheeled robot. Where its root link carries no wheels, two massless ones are added,
    "left_wheel" and "right_wheel". Raises ModelError for what is not one tree."""
    by_name, declared = unique("link", links), unique("joint", joints)
    root = root_link_name(by_name, declared.values())
    base = Joint("base", "planar", None, root)
    if _wheel_joints(base, depth_first(root, by_name, declared.values())):
        return tuple(links), tuple(joints)
    turned = np.array([[1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [0.0, -1.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0]])
    added: list[tuple[Link, Joint]] = []
    for side, y in (("left", 0.5 * SEPARATION), ("right", -0.5 * SEPARATION)):
        tyre = Geometry(Cylinder(RADIUS, WIDTH), turned, _TYRE)
        link = Link(free_name(f"{side}_wheel_link", by_name), visuals=(tyre,))
        placement = translation((0.0, y, RADIUS))
        name = free_name(f"{side}_wheel", declared)
        added.append((link, Joint(name, "continuous", root, link.name, placement, np.array([0.0, 1.0, 0.0]))))
    return (*links, *(link for link, _ in added)), (*(joint for _, joint in added), *joints)


def find_drive(base: Joint, links: Mapping[str, Link], joints: Sequence[Joint]) -> Drive:
    """The drive of a wheeled joint. links: by name.   joints: of the robot, parents first.

    Raises ModelError when there is not one pair of wheels, or nothing gives their radius.
    """
    wheels = _wheel_joints(base, joints)
    who = f"wheeled joint {base.name!r}"
    if not wheels:
        raise ModelError(f"{who}: no two wheels on one axle below link {base.child!r}; name them in its drive", base)
    if len(wheels) > 1:
        shown = ", ".join(f"{left.name!r} and {right.name!r}" for (left, _), (right, _) in wheels)
        raise ModelError(f"{who}: several pairs could be its wheels ({shown}); name them in its drive", base)
    (left, T_left), (right, T_right) = wheels[0]
    radius = _radius(left, links, joints) or _radius(right, links, joints) or _height(base, T_left, links, joints)
    if not radius > 0.0:
        raise ModelError(f"{who}: nothing gives the radius of {left.name!r} and {right.name!r}; state its drive", base)
    return Drive(left.name, right.name, float(radius), float(np.linalg.norm(T_left[:3, 3] - T_right[:3, 3])))


def _wheel_joints(base: Joint, joints: Sequence[Joint]) -> list[tuple[tuple[Joint, Array], tuple[Joint, Array]]]:
    """Pairs of (joint, T_base_joint), the left one first: to the left of forward, u of the base's plane."""
    return _pairs_on(_rigid(base.child, joints), base, joints) or _pairs_on(_upright(base, joints), base, joints)


def _pairs_on(
    rigid: dict[str | None, Array], base: Joint, joints: Sequence[Joint]
) -> list[tuple[tuple[Joint, Array], tuple[Joint, Array]]]:
    """Pairs of wheels on the links of `rigid`, which are placed in the base."""
    u, w = plane_basis(base.axis)
    parents = {joint.parent for joint in joints if joint.type != "fixed"}
    found: _Placed = []
    for joint in joints:
        if joint.parent in rigid and joint.type in WHEEL_TYPES and joint.mimic is None:
            T = rigid[joint.parent] @ joint.placement
            last = not parents & set(_rigid(joint.child, joints))
            if last and abs((T[:3, :3] @ joint.axis) @ base.axis) < ALIGNED:
                found.append((joint, T))
    pairs = []
    for one, other in combinations(found, 2):
        axes = [T[:3, :3] @ joint.axis for joint, T in (one, other)]
        between = one[1][:3, 3] - other[1][:3, 3]
        apart = np.linalg.norm(between)
        if apart > 0.0 and all(np.linalg.norm(np.cross(axis, between)) < ALIGNED * apart for axis in axes):
            # Left of forward; of an axle along u, where there is no such side, ahead of it.
            aside = between @ w if abs(between @ w) > ALIGNED * apart else between @ u
            pairs.append((one, other) if aside > 0.0 else (other, one))
    return pairs


def _rigid(link: str, joints: Iterable[Joint]) -> dict[str | None, Array]:
    """{link: T_link_other} of a link and of the links that fixed joints hold to it. joints: parents first."""
    placements: dict[str | None, Array] = {link: np.eye(4)}
    for joint in joints:
        if joint.type == "fixed" and joint.parent in placements:
            placements[joint.child] = placements[joint.parent] @ joint.placement
    return placements


def standing_wheels(base: Joint, links: Mapping[str, Link], joints: Sequence[Joint]) -> tuple[str, ...]:
    """Links that are the wheels of any kind that the base stands on, joints at zero: held by it, steered or sprung
    ones too, last in their chain; they turn whole turns about level axles that something round is around, or are
    called wheels or casters. () where fewer than three stand apart on one level, low down.

    joints: parents first."""
    moved = {joint.parent for joint in joints if joint.type != "fixed"}
    placed = _upright(base, joints, ("prismatic", *WHEEL_TYPES))
    found: dict[str, Array] = {}
    for joint in joints:
        if joint.parent not in placed or moved & set(_rigid(joint.child, joints)):
            continue
        T = placed[joint.parent] @ joint.placement
        turns = joint.type in WHEEL_TYPES and bool((joint.upper - joint.lower >= 2.0 * np.pi).all())
        is_level = turns and abs((T[:3, :3] @ joint.axis) @ base.axis) < ALIGNED
        is_named = (is_level or joint.child in placed) and _CALLED.search(f"{joint.name} {joint.child}")
        if is_named or (is_level and _radius(joint, links, joints) > 0.0):
            found[joint.child] = T[:3, 3]
    places = np.array([*found.values()]).reshape(-1, 3)
    u, w = plane_basis(base.axis)
    across = places @ np.column_stack((u, w))
    apart = np.linalg.svd(across - across.mean(axis=0), compute_uv=False) if len(found) > 2 else np.zeros(2)
    lowest = min(float(T[:3, 3] @ base.axis) for T in (*placed.values(), *map(translation, found.values())))
    stands = apart[1] > 0.1 * apart[0] and (places @ base.axis - lowest).max() < np.ptp(across, axis=0).max()
    return tuple(found) if stands else ()


def _upright(base: Joint, joints: Iterable[Joint], moving: Sequence[str] = ("prismatic",)) -> dict[str | None, Array]:
    """T_base_other of what only moves along the base's axis, or about it, by joints of some types; at zero. joints:
    parents first."""
    placements: dict[str | None, Array] = {base.child: np.eye(4)}
    for joint in joints:
        if joint.parent in placements:
            T = placements[joint.parent] @ joint.placement
            is_upright = joint.type in moving and np.linalg.norm(np.cross(T[:3, :3] @ joint.axis, base.axis)) < ALIGNED
            if is_upright or joint.type == "fixed":
                placements[joint.child] = T
    return placements


def _radius(wheel: Joint, links: Mapping[str, Link], joints: Iterable[Joint]) -> float:
    """[m] of the round shape that a wheel wears around its axle; 0 when there is none."""
    for name, T in _rigid(wheel.child, joints).items():
        for geometry in _shapes(links[str(name)]):
            placed = T @ geometry.placement
            off = np.linalg.norm(np.cross(wheel.axis, placed[:3, 3]))
            shape = geometry.shape
            if isinstance(shape, Sphere) and off < ALIGNED * shape.radius:
                return shape.radius
            if isinstance(shape, (Cylinder, Capsule)) and off < ALIGNED * shape.radius:
                if np.linalg.norm(np.cross(wheel.axis, placed[:3, 2])) < ALIGNED:
                    return shape.radius
    return 0.0


def _height(base: Joint, T_base_wheel: Array, links: Mapping[str, Link], joints: Sequence[Joint]) -> float:
    """[m] of an axle over the lowest shape of known size that moves with the base or its wheels at q = 0; 0 when
    there is none below it."""
    lowest = np.inf
    placed: dict[str | None, Array] = {base.child: np.eye(4)}
    for joint in joints:
        if joint.parent in placed:
            placed[joint.child] = placed[joint.parent] @ joint.placement
    for name, T in placed.items():
        for geometry in _shapes(links[str(name)]):
            lowest = min(lowest, _lowest(geometry.shape, T @ geometry.placement, base.axis))
    height = float(base.axis @ T_base_wheel[:3, 3]) - lowest
    return height if np.isfinite(height) and height > 0.0 else 0.0


def _shapes(link: Link) -> Iterator[Geometry]:
    yield from link.collisions
    yield from link.visuals


def _lowest(shape: Shape, T: Array, up: Array) -> float:
    """Least height of a shape placed at T; infinite where its size is not known."""
    middle, tilt = float(up @ T[:3, 3]), up @ T[:3, :3]
    match shape:
        case Sphere(radius):
            return middle - radius
        case RoundedBox(size, radius):
            return middle - 0.5 * float(abs(tilt) @ np.asarray(size)) - radius
        case Hull(points, radius):
            return middle + float((points @ tilt).min()) - radius
        case Box(size):
            return middle - 0.5 * float(abs(tilt) @ np.asarray(size))
        case Cylinder(radius, length):
            return middle - 0.5 * length * abs(tilt[2]) - radius * float(np.hypot(tilt[0], tilt[1]))
        case Capsule(radius, length):
            return middle - 0.5 * length * abs(tilt[2]) - radius
    return np.inf
