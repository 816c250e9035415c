"""Keys of what a robot's tasks follow, moved in time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import bpy

from ..properties.bridge import Binding
from ..properties.bridge.record.snapshot import is_robot
from ..properties.overrides import takes_keys
from .animation import frames as animation
from .animation.curves import own_keys
from .tasks.solver_tasks import enabled_tasks
from .tasks.targets import places_of

_SPLIT = ("BEZIER", "LINEAR")  # interpolations that another key does not change
_FROM_FILES = ("TRANSFORM_CACHE", "CAMERA_SOLVER", "OBJECT_SOLVER", "FOLLOW_TRACK")  # kinds of constraints
_TARGETS = ("target", "pole_target")
_OWN = ("robokin.tasks", "robokin.criteria")  # animated settings of a robot that a bake reads
_FOUND = ".cost"  # how one of them ends that a bake writes


class ScaledRange(NamedTuple):
    """The frames first..last take `factor` times as long; what comes sooner stays, and what comes later comes as much
    later, or sooner, as they end."""

    first: int
    last: int
    factor: float

    def at(self, frame: float) -> float:
        inside = min(max(frame, self.first), self.last) - self.first
        return frame + (self.factor - 1.0) * inside


def followed_by(obj: bpy.types.Object, robot: Binding) -> list[bpy.types.Object]:
    """What the enabled tasks of a robot follow."""
    return [mover for task in enabled_tasks(obj, robot) for mover, _ in places_of(task).values()]


def movers(followed: Iterable[bpy.types.Object]) -> list[bpy.types.ID]:
    """All whose keys move these: themselves, parents, and what their constraints lead to."""
    found: list[bpy.types.ID] = []
    pending: list[bpy.types.Object | None] = [*followed]
    while pending:
        owner = pending.pop(0)
        if owner is None or owner in found:
            continue
        found.append(owner)
        if owner.type == "CURVE":
            found.append(owner.data)  # its evaluation time moves what follows it as a path
        pending += [owner.parent, *(target for each in _constraints(owner) for target in _targets(each))]
    return found


def moved_otherwise(obj: bpy.types.Object, owners: Iterable[bpy.types.ID], of: ScaledRange) -> list[str]:
    """Names of those that more than the keys of `keys_within` moves: drivers, the NLA, physics, modifiers of curves,
    files, or the bake of another robot."""
    return [owner.name for owner in owners if not _is_moved_by_keys_only(obj, owner, of)]


def keys_within(
    obj: bpy.types.Object, robot: Binding, owners: Iterable[bpy.types.ID], of: ScaledRange
) -> list[tuple[bpy.types.ID, bpy.types.FCurve]]:
    """(owner, curve) of what moves after the first frame and can be changed; of the robot itself what a bake reads. A
    curve that several share comes with each."""
    found = ((owner, curve) for owner in owners if takes_keys(owner) for curve in _curves(obj, robot, owner))
    return [(owner, curve) for owner, curve in found if curve.keyframe_points and curve.range()[1] > of.first]


def stretch_keys(curves: Iterable[tuple[bpy.types.ID, bpy.types.FCurve]], of: ScaledRange) -> None:
    pairs = list(curves)
    for curve in {curve.as_pointer(): curve for _, curve in pairs}.values():  # several objects may share one
        for frame in of[:2]:
            _split(curve, frame)
        begins, ends = curve.range()
        for point in curve.keyframe_points:
            _move(point, (begins, ends), of)
        curve.update()
    for owner in dict.fromkeys(owner for owner, _ in pairs):
        owner.update_tag()


def _move(point: bpy.types.Keyframe, ends: tuple[float, float], of: ScaledRange) -> None:
    """A key and its handles, each as its side of the key is stretched. Where the sides differ the handles are free."""
    x = point.co.x
    left, right = (of.factor if inside else 1.0 for inside in (of.first < x <= of.last, of.first <= x < of.last))
    left, right = right if x <= ends[0] else left, left if x >= ends[1] else right  # there is nothing on that side
    if left != right:
        point.handle_left_type = point.handle_right_type = "FREE"
    reach = left * (point.handle_left.x - x), right * (point.handle_right.x - x)
    point.co.x = of.at(x)
    point.handle_left.x, point.handle_right.x = (point.co.x + each for each in reach)


def _constraints(owner: bpy.types.Object) -> Iterator[bpy.types.Constraint]:
    bones = owner.pose.bones if owner.pose is not None else ()
    for holder in (owner, *bones):
        yield from (each for each in holder.constraints if not each.mute and each.influence > 0.0)


def _targets(constraint: bpy.types.Constraint) -> list[bpy.types.Object | None]:
    if constraint.type == "ARMATURE":
        return [each.target for each in constraint.targets]
    return [getattr(constraint, name, None) for name in _TARGETS]


def _is_moved_by_keys_only(obj: bpy.types.Object, owner: bpy.types.ID, of: ScaledRange) -> bool:
    data, curves = owner.animation_data, animation.fcurves(owner)
    if data is not None and any(not track.mute and track.strips for track in data.nla_tracks):
        return False
    counts = _counts if owner == obj else animation.moves
    if data is not None and any(not each.mute and counts(each.data_path) for each in data.drivers):
        return False
    if any(counts(path) and _goes_its_own_way(curve, of) for (path, _), curve in curves.items()):
        return False
    if owner == obj or not isinstance(owner, bpy.types.Object):
        return True
    if owner.rigid_body is not None or (curves and (is_robot(owner) or not takes_keys(owner))):
        return False
    return not any(each.type in _FROM_FILES for each in _constraints(owner))


def _goes_its_own_way(curve: bpy.types.FCurve, of: ScaledRange) -> bool:
    """Whether a curve is not just what its keys say, or goes on where it has none that are moved."""
    begins, ends = curve.range()
    kinds = {each.type for each in curve.modifiers if not each.mute}
    if not curve.keyframe_points or kinds - {"CYCLES"}:
        return True
    if kinds:  # turn by turn it stays the same where all of a turn is stretched, and none of those before is shown
        return begins < of.first or ends > of.last
    if curve.extrapolation == "LINEAR" and len(curve.keyframe_points) > 1 and ends <= of.first:
        return True
    crossing = [key for key in (_crossing(curve, frame) for frame in of[:2]) if key is not None]
    return any(key.interpolation not in (*_SPLIT, "CONSTANT") for key in crossing)


def _curves(obj: bpy.types.Object, robot: Binding, owner: bpy.types.ID) -> Iterator[bpy.types.FCurve]:
    if owner != obj:
        is_other = isinstance(owner, bpy.types.Object) and is_robot(owner)
        yield from () if is_other else animation.fcurves(owner).values()
        return
    joints = own_keys(robot).keys()
    yield from (curve for key, curve in animation.fcurves(owner).items() if key not in joints and _counts(key[0]))


def _counts(path: str) -> bool:
    """Whether a bake reads an animated property of the robot, and does not write it."""
    return animation.moves(path) or (path.startswith(_OWN) and not path.endswith(_FOUND))


def _split(curve: bpy.types.FCurve, frame: int) -> None:
    """What comes before the frame and what comes after it may differ in speed: where a curve goes from one to the other
    there is a key between."""
    crossing = _crossing(curve, frame)
    if crossing is not None and crossing.interpolation in _SPLIT and not curve.modifiers:
        curve.keyframe_points.insert(frame, curve.evaluate(frame))


def _crossing(curve: bpy.types.FCurve, frame: int) -> bpy.types.Keyframe | None:
    """The key from which a curve goes across a frame to the next one; None where there is a key, or nothing."""
    keys = {point.co.x: point for point in curve.keyframe_points}
    sooner = [x for x in keys if x < frame]
    return keys[max(sooner)] if sooner and frame not in keys and max(keys) > frame else None
