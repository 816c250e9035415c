"""How the base of a robot moves, as far as its description lets one see."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

import numpy as np

from ..arrays import Array
from ..configuration import clamp
from ..errors import ModelError
from ..kinematics import forward_kinematics
from ..model.joint import Joint
from ..model.robot import RobotModel
from ..model.wheels import find_drive, standing_wheels
from .bodies import Bodies, rigid_bodies
from .body_parts import FINGERS, words_of

LEVEL = 0.15  # of the robot's height: how far above the lowest foot the others may be
Y, Z = 1, 2
_ROTOR = re.compile("rotor|propeller", re.IGNORECASE)
_FLIES = re.compile("(?:^|[^a-z])(?:[a-z]*copter|drone|flying|quadrotor|hexarotor)(?:$|[^a-z])", re.IGNORECASE)
LYING = 0.05  # of the robot's height: how far above the feet a root link is at most that lies on the ground
TOE = 0.02  # of the robot's height: how long a toe is at least
STANDS = 0.25  # of the robot's height: how far above its feet the root link is at least


def natural_root(model: RobotModel) -> str:
    """Where the root link carries one pair of wheels it is "wheeled"; where it stands on other wheels, "planar"; where
    it stands on legs, its root link high above the feet, or flies, "floating"; else "fixed". That of `model` itself
    does not matter."""
    wheels, is_pair = _wheels(model)
    if wheels:
        return "wheeled" if is_pair else "planar"
    if _flies(model):
        return "floating"
    heights = _heights(model, up_axis(model))
    stands = feet(model) and -min(heights.values()) > STANDS * np.ptp(list(heights.values()))
    return "floating" if stands else "fixed"


def _flies(model: RobotModel) -> bool:
    """Whether its root body carries three rotors or more, or a whole word of its name, or of its root
    link's, is that of what flies: a tool may be named after a drone too."""
    of = rigid_bodies(model).of
    own = (joint for joint in model.joints[1:] if of[str(joint.parent)] == model.root_link.name)
    rotors = sum(bool(_ROTOR.search(f"{joint.name} {joint.child}")) for joint in own)
    return rotors > 2 or any(map(_FLIES.search, (model.name, model.root_link.name)))


def wheels(model: RobotModel) -> tuple[str, ...]:
    """The links that are the wheels of its base; () where it does not drive."""
    return _wheels(model)[0] if model.root in ("planar", "wheeled") else ()


def _wheels(model: RobotModel) -> tuple[tuple[str, ...], bool]:
    """The wheels that its root link carries, whatever its root is; whether they are one pair."""
    own = (
        Joint("base", "planar", None, model.root_link.name),
        {link.name: link for link in model.links},
        model.joints[1:],
    )
    try:
        drive = find_drive(*own)
    except ModelError:
        return standing_wheels(*own), False
    return tuple(model.joint(name).child for name in (drive.left, drive.right)), True


@lru_cache(maxsize=8)
def feet(model: RobotModel) -> tuple[str, ...]:
    """The first links of the bodies that a legged robot stands on at q = 0, or near it inside the limits: ends of two
    or more limbs, on one level, with what carries the limbs high above. () for other robots."""
    return tuple(leg[0] for leg in legs(model))


@lru_cache(maxsize=8)
def legs(model: RobotModel) -> tuple[tuple[str, ...], ...]:
    """The legs of a robot that has `feet`, each as its bodies from the foot up."""
    return _legs(model, up_axis(model))


def up_axis(model: RobotModel) -> int:
    """Which axis of the root link is upward: 2 (Z), or 1 (Y) where a robot with legs and something above them has feet
    along that one alone."""
    if _legs(model, Z) or not _legs(model, Y):
        return Z
    heights = _heights(model, Y).values()
    return Y if max(heights) > STANDS * np.ptp(list(heights)) else Z


def _legs(model: RobotModel, axis: int) -> tuple[tuple[str, ...], ...]:
    placed, bodies = _placed(model), rigid_bodies(model)
    heights = _heights(model, axis)
    low, size = min(heights.values()), np.ptp(list(heights.values()))
    ends = [on for on in bodies.last if not bodies.carried[on] or _has_toes(on, bodies, placed, axis)]
    lowest = {on: min(heights[link] for link, body in bodies.of.items() if body == on) for on in ends}
    found = tuple(on for on, z in lowest.items() if z < low + LEVEL * size and bodies.movers[on] > 1)
    above = {joint.child: bodies.of[str(joint.parent)] for joint in model.joints[1:] if joint.nv}
    limbs = tuple(_limb(end, above, bodies) for end in found)
    parts = [body for limb in limbs for body in limb]
    if len(found) < 2 or len(set(parts)) < len(parts):  # fingers share an arm
        return ()
    fingers = FINGERS.intersection(word for body in parts for word in words_of(body))
    if len(fingers) > 1 or fingers & {"finger", "fingers"}:  # a leg of six may be the middle one
        return ()
    root = -min(lowest[end] for end in found) / size  # on the ground, or high above it, unlike that of hanging arms
    stands = root < LYING or root > STANDS
    if not stands or any(heights[limb[-1]] <= low + STANDS * size for limb in limbs):
        return ()
    flat = {
        on
        for on, z in heights.items()
        if z < low + LEVEL * size and on in parts and _has_toes(on, bodies, placed, axis)
    }
    return tuple(limb[max((i for i, on in enumerate(limb) if on in flat), default=0) :] for limb in limbs)


def _heights(model: RobotModel, axis: int) -> dict[str, float]:
    """Heights of the links [m], along that axis of the root link."""
    return {name: float(point[axis]) for name, point in _placed(model).items()}


@lru_cache(maxsize=8)
def _placed(model: RobotModel) -> dict[str, Array]:
    """(3,) of every link: its origin in the root link's frame [m]."""
    placed = forward_kinematics(model, clamp(model, model.neutral()))
    down = np.linalg.inv(placed[model.root_link.name])
    return {link.name: (down @ placed[link.name])[:3, 3] for link in model.links}


def _has_toes(body: str, bodies: Bodies, placed: Mapping[str, Array], axis: int) -> bool:
    """Whether what it carries lies beside it rather than below it, as toes and a heel do, and fingers that hang down
    or the second axis of an ankle do not."""
    away = np.array([placed[end] - placed[body] for end in bodies.carried[body]]).reshape(-1, 3)
    beside = np.linalg.norm(np.delete(away, axis, 1), axis=1)
    size = np.ptp([point[axis] for point in placed.values()])
    return bool(beside.max(initial=0.0) > max(-away[:, axis].min(initial=0.0), TOE * size))


def _limb(body: str, above: dict[str, str], bodies: Bodies) -> tuple[str, ...]:
    """The body and those that carry it, up to one that carries others too."""
    found = [body]
    while body in above and len(bodies.carried[above[body]]) == 1 and bodies.movers[above[body]]:
        body = above[body]
        found.append(body)
    return tuple(found)
