"""Keys of what a robot's tasks follow, moved in time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import bpy

from ..properties.bridge import Binding
from ..properties.bridge.record.snapshot import is_robot
from .animation import frames as animation
from .animation.curves import own_keys
from .tasks.solver_tasks import enabled_tasks
from .tasks.targets import places_of

SPLIT = ("BEZIER", "LINEAR")  # interpolations that another key does not change
_STILL = ("LIMIT_DISTANCE", "LIMIT_LOCATION", "LIMIT_ROTATION", "LIMIT_SCALE", "MAINTAIN_VOLUME")  # without a target
_OWN = ("robokin.tasks", "robokin.criteria")  # animated settings of a robot that a bake reads
_FOUND = ".cost"  # how one of them ends that a bake writes


def followed_by(obj: bpy.types.Object, robot: Binding) -> list[bpy.types.Object]:
    """What the enabled tasks of a robot follow, and the robot itself."""
    return [obj, *(mover for task in enabled_tasks(obj, robot) for mover, _ in places_of(task).values())]


def movers(followed: Iterable[bpy.types.Object]) -> list[bpy.types.ID]:
    """All whose keys move these: themselves, parents, and what their constraints lead to."""
    found: list[bpy.types.ID] = []
    _collect(followed, found)
    return found


def moved_otherwise(obj: bpy.types.Object, owners: Iterable[bpy.types.ID]) -> list[str]:
    """Names of those that more than the keys of `keys_after` moves: drivers, the NLA, physics, or the bake of another
    robot."""
    return [owner.name for owner in owners if not _is_moved_by_keys_only(obj, owner)]


def keys_after(
    obj: bpy.types.Object, robot: Binding, owners: Iterable[bpy.types.ID], first: int
) -> list[tuple[bpy.types.ID, bpy.types.FCurve]]:
    """(owner, curve) of what moves after the frame `first`; of the robot itself what a bake reads. A curve that several
    share comes with each."""
    found = ((owner, curve) for owner in owners for curve in _curves(obj, robot, owner))
    return [(owner, curve) for owner, curve in found if curve.range()[1] > first]


def stretch_keys(curves: Iterable[tuple[bpy.types.ID, bpy.types.FCurve]], first: int, factor: float) -> None:
    """Move the keys after the frame `first`, so that what comes after it takes `factor` times as long."""
    pairs = list(curves)
    for curve in {curve.as_pointer(): curve for _, curve in pairs}.values():  # several objects may share one
        _split(curve, first)
        for point in curve.keyframe_points:
            for place in (point.co, point.handle_left, point.handle_right):
                if place.x > first:
                    place.x = first + factor * (place.x - first)
        curve.update()
    for owner in dict.fromkeys(owner for owner, _ in pairs):
        owner.update_tag()


def _collect(owners: Iterable[bpy.types.Object | None], found: list[bpy.types.ID]) -> None:
    for owner in owners:
        if owner is None or owner in found:
            continue
        found.append(owner)
        if owner.type == "CURVE":
            found.append(owner.data)  # its evaluation time moves what follows it as a path
        _collect([owner.parent, *(target for each in _constraints(owner) for target in _targets(each))], found)


def _constraints(owner: bpy.types.Object) -> Iterator[bpy.types.Constraint]:
    bones = owner.pose.bones if owner.pose is not None else ()
    for holder in (owner, *bones):
        yield from (each for each in holder.constraints if not each.mute)


def _targets(constraint: bpy.types.Constraint) -> list[bpy.types.Object]:
    if constraint.type == "ARMATURE":
        return [each.target for each in constraint.targets if each.target is not None]
    target = getattr(constraint, "target", None)
    return [] if target is None else [target]


def _is_moved_by_keys_only(obj: bpy.types.Object, owner: bpy.types.ID) -> bool:
    data = owner.animation_data
    if data is not None and (data.nla_tracks or any(owner != obj or _counts(each.data_path) for each in data.drivers)):
        return False
    modifiers = [each for curve in animation.fcurves(owner).values() for each in curve.modifiers]
    if any(each.type != "CYCLES" and not each.mute for each in modifiers):
        return False
    if owner == obj or not isinstance(owner, bpy.types.Object):
        return True
    if owner.rigid_body is not None or (is_robot(owner) and animation.fcurves(owner)):
        return False
    return all(_targets(each) or each.type in _STILL for each in _constraints(owner))


def _curves(obj: bpy.types.Object, robot: Binding, owner: bpy.types.ID) -> Iterator[bpy.types.FCurve]:
    if owner != obj:
        yield from () if is_robot(owner) else animation.fcurves(owner).values()
        return
    joints = own_keys(robot).keys()
    yield from (curve for key, curve in animation.fcurves(owner).items() if key not in joints and _counts(key[0]))


def _counts(path: str) -> bool:
    """Whether a bake reads an animated property of the robot, and does not write it."""
    return animation.moves(path) or (path.startswith(_OWN) and not path.endswith(_FOUND))


def _split(curve: bpy.types.FCurve, frame: int) -> None:
    """What comes before the frame stays as fast as it was: where it goes on to a key after it, another key is between,
    on whose sides the speeds may differ."""
    sooner = [point for point in curve.keyframe_points if point.co.x <= frame]
    if not sooner or sooner[0].co.x == frame:
        return
    before = sooner[-1]
    if before.co.x < frame and before.interpolation in SPLIT and not curve.modifiers:
        before = curve.keyframe_points.insert(frame, curve.evaluate(frame))
    if before.co.x == frame:
        before.handle_left_type = before.handle_right_type = "FREE"
