"""A configuration mirrored left to right, through the robot's plane of symmetry.

With S the reflection at that plane and D = P_a^-1 C P_b the reflection that takes the joint frame of a to that of its
counterpart b (P: placements in the parent links, C: the same reflection between those), the mirror image of a motion
J_a of joint a is D^-1 J_a D, and that is a motion of b where b's axes are those of a mirrored. A rotation about w
becomes one about -w mirrored (axes of rotation are pseudo-vectors), a translation along w one along w mirrored.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from .arrays import Array
from .configuration import clamp
from .errors import UnknownNameError
from .kinematics import rest_placements
from .model.joint import Joint
from .model.joint_types import MotionPrimitive
from .model.robot import RobotModel
from .spatial import quaternion, se3

# (4, 4) reflections x -> -x, y -> -y, z -> -z; the forward direction of most robots is x, so the left one is y.
PLANES = {"Y": np.diag([1.0, -1.0, 1.0, 1.0]), "X": np.diag([-1.0, 1.0, 1.0, 1.0]), "Z": np.diag([1.0, 1.0, -1.0, 1.0])}
_LETTERS = {"L": "R", "R": "L", "l": "r", "r": "l"}
_WORDS = (("left", "right"), ("Left", "Right"), ("LEFT", "RIGHT"))
_SIDES = (*_WORDS, *((b, a) for a, b in _WORDS), *_LETTERS.items())
_PARTS = {"arm", "leg", "hip", "knee", "ankle", "foot", "sole", "shoulder", "elbow", "wrist", "hand", "gripper", "eye"}
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Za-z][a-z]*")  # of snake_case and CamelCase
_PARALLEL = 1e-2  # sine of the angle up to which axes count as parallel: the two sides of drawn robots differ by 0.006
_ALIKE = 1e-3  # of a pitch: how much that of the other side may differ
_ROUNDING = 1e-6  # of a value in single precision, as a pose in Blender has them: not beyond a limit
_PLACE = 2e-2  # of the robot's size: how far apart a joint and its mirrored counterpart may be


@dataclass(frozen=True)
class Mirrored:
    """q: (nq,) mirrored, inside the limits.   kept: joints that have no mirror image and keep their values.
    clamped: joints whose mirror image was outside the limits.   other: {joint: where its image went}.
    plane: (4, 4) the reflection in the root frame."""

    q: Array
    kept: tuple[str, ...]
    clamped: tuple[str, ...]
    other: dict[str, str]
    plane: Array


def mirrored_configuration(model: RobotModel, q: Array, plane: str = "AUTO") -> Mirrored:
    """The mirror image of q: joints with a counterpart on the other side (`other_side`) swap values, others are
    mirrored in themselves.

    plane: "X", "Y", "Z", across that axis of the root frame through its origin; "AUTO": the plane between the
    counterparts at the neutral configuration, or without any the one of the three under which most joints have an
    image. Raises ConfigurationError for a bad q, UnknownNameError for a plane.
    """
    q = model.check_configuration(q)
    pairs = counterparts(model)
    rest = rest_placements(model)
    if not isinstance(plane, str) or plane not in ("AUTO", *PLANES):
        raise UnknownNameError("plane", plane, ("AUTO", *PLANES))
    S = _found_plane(model, pairs, rest) if plane == "AUTO" else PLANES[plane]
    images = _images(model, pairs, rest, S)
    result = q.copy()
    for joint in model.moving_joints:
        if joint.name in images:
            other, D = images[joint.name]
            result[model.slot(other).q] = _image(joint, model.joint(other), D, q[model.slot(joint.name).q])
    result = model.check_configuration(result)
    inside = clamp(model, result)
    far = abs(result - inside) > _ROUNDING * np.maximum(1.0, abs(result))
    outside = [j.name for j in model.moving_joints if far[model.slot(j.name).q].any()]
    kept = tuple(joint.name for joint in model.moving_joints if joint.name not in images)
    return Mirrored(inside, kept, tuple(outside), {name: other for name, (other, _) in images.items()}, S)


def mirrored_links(model: RobotModel) -> dict[str, tuple[str, Array]]:
    """{link: (link of the other side, (4, 4) reflection from its axes to those of that one)} at the neutral
    configuration, through the robot's plane of symmetry; of those that have one by their names (`other_side`)."""
    rest, names = rest_placements(model), set(model.link_names)
    S = _found_plane(model, counterparts(model), rest)
    place = dict(zip(model.link_names, rest, strict=True))
    others = {name: next(iter(other_side(name, names)), "") for name in names}
    return {
        name: (other, se3.inverse(place[other]) @ S @ place[name])
        for name, other in others.items()
        if other and others[other] == name
    }


def other_side(name: str, names: Mapping[str, object] | set[str]) -> list[str]:
    """The names among `names` that are `name` with its sides swapped: left and right, L and R as a word of their own,
    one of the letters of a short one (`LF_knee`, `arm.L`, `FR_hip`, `leftElbow`) or before a limb's (`RLEG`). Best ones
    first."""
    return [swapped for swapped in _swapped(name) if swapped in names]


def flipped_name(name: str) -> str:
    """The name with its sides swapped; itself when it has none."""
    return next(_swapped(name), name)


def _swapped(name: str) -> Iterator[str]:
    places: list[tuple[int, int, str]] = []
    for match in _WORD.finditer(name):
        word, at = match[0], match.start()
        places += [(at, match.end(), other) for one, other in _SIDES if word == one]
        if len(word) == 2:  # LF, hr: front or hind with a side
            places += [(at + i, at + i + 1, _LETTERS[c]) for i, c in enumerate(word) if c in _LETTERS]
        elif word[0] in _LETTERS and word[1:].lower() in _PARTS:  # RLEG, larm
            places.append((at, at + 1, _LETTERS[word[0]]))
    places = places[:6]
    # All of them at once, as in left_arm_left_wrist, before some.
    for count in range(len(places), 0, -1):
        for chosen in itertools.combinations(places, count):
            swapped = name
            for start, end, word in reversed(chosen):
                swapped = swapped[:start] + word + swapped[end:]
            if swapped != name:
                yield swapped


def counterparts(model: RobotModel) -> dict[str, str]:
    """{joint: joint of the other side} of those joints that have one of the same type."""
    moving = {joint.name: joint for joint in model.moving_joints}
    pairs: dict[str, str] = {}
    for name, joint in moving.items():
        for other in other_side(name, moving):
            alike = moving[other].kind.motions == joint.kind.motions and other not in pairs.values()
            if alike and pairs.get(other, name) == name:
                pairs[name] = other
                break
    return {name: other for name, other in pairs.items() if pairs.get(other) == name}


def _found_plane(model: RobotModel, pairs: dict[str, str], rest: list[Array]) -> Array:
    points = [(rest[model.joint_index(a)][:3, 3], rest[model.joint_index(b)][:3, 3]) for a, b in pairs.items() if a < b]
    apart = np.array([a - b for a, b in points]).reshape(-1, 3)
    size = max((float(np.linalg.norm(T[:3, 3])) for T in rest), default=0.0)
    if np.linalg.norm(apart) <= 1e-6 * max(size, 1e-9):
        return max(PLANES.values(), key=lambda S: len(_images(model, pairs, rest, S)))
    # Normal: the direction in which counterparts lie most apart, whichever of the two is the left one.
    normal = np.linalg.svd(apart)[2][0]
    nearest = np.eye(3)[np.argmax(abs(normal))]
    if abs(normal @ nearest) > 0.999:  # few robots are built askew: what is nearly an axis is one
        normal = nearest
    offset = float(np.mean([(a + b) @ normal / 2 for a, b in points]))
    S = np.eye(4)
    S[:3, :3] -= 2.0 * np.outer(normal, normal)
    S[:3, 3] = 2.0 * (offset if abs(offset) > 1e-3 * size else 0.0) * normal
    return S


def _images(model: RobotModel, pairs: dict[str, str], rest: list[Array], S: Array) -> dict[str, tuple[str, Array]]:
    """{joint: (its counterpart or itself, D)} of the moving joints that have a mirror image."""
    size = max((float(np.linalg.norm(T[:3, 3])) for T in rest), default=0.0)
    found: dict[str, tuple[str, Array]] = {}
    for joint in model.moving_joints:
        other = model.joint(pairs.get(joint.name, joint.name))
        D = se3.inverse(rest[model.joint_index(joint.name)]) @ S @ rest[model.joint_index(other.name)]
        if _has_image(joint, other, D, max(size, 1e-9)):
            found[joint.name] = (other.name, D)
    return {name: image for name, image in found.items() if image[0] in found}


def _has_image(joint: Joint, other: Joint, D: Array, size: float) -> bool:
    across = D[:3, 3]
    for own, its in zip(joint.kind.decompose(joint), other.kind.decompose(other), strict=True):
        if not own.motion.has_axis:
            continue
        mapped = D[:3, :3].T @ own.axis
        turns = own.motion is not MotionPrimitive.TRANSLATION
        if (turns or joint.nv == 1) and np.linalg.norm(np.cross(mapped, its.axis)) > _PARALLEL:
            return False
        # The mirror image of a right-handed screw is a left-handed one.
        if abs(own.pitch + its.pitch) > _ALIKE * abs(own.pitch):
            return False
        if turns:
            # Where along its axis a joint's frame stands says nothing.
            across = across - own.axis * (own.axis @ across)
    slides = any(motion in (MotionPrimitive.TRANSLATION, MotionPrimitive.FREE) for motion in joint.kind.motions)
    return slides or bool(np.linalg.norm(across) <= _PLACE * size)


def _image(joint: Joint, other: Joint, D: Array, own: Array) -> Array:
    """(nq,) coordinates of `other` that mirror those of `joint`."""
    result = np.zeros(other.nq)
    R = D[:3, :3]
    slides: list[tuple[int, Array]] = []
    moved = np.zeros(3)
    at = 0
    for step, its in zip(joint.kind.decompose(joint), other.kind.decompose(other), strict=True):
        here = slice(at, at + step.motion.nq)
        at = here.stop
        if step.motion is MotionPrimitive.TRANSLATION:
            moved += own[here] * (R.T @ step.axis)
            slides.append((here.start, its.axis))
        elif step.motion is MotionPrimitive.BALL:
            result[here] = _mirrored_quaternion(own[here], R)
        elif step.motion is MotionPrimitive.FREE:
            T = np.linalg.inv(D) @ se3.placement(quaternion.to_matrix(own[here][3:]), own[here][:3]) @ D
            result[here] = (*T[:3, 3], *_mirrored_quaternion(own[here][3:], R))
        else:
            result[here] = -own[here] * np.sign(its.axis @ (R.T @ step.axis))
    if slides:
        axes = np.array([axis for _, axis in slides]).T
        result[[i for i, _ in slides]] = np.linalg.lstsq(axes, moved, rcond=None)[0]
    return result


def _mirrored_quaternion(own: Array, R: Array) -> Array:
    return np.array([own[0], *(-(R.T @ own[1:]))])
