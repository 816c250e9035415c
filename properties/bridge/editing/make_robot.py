"""An ordinary armature, or some of its bones, into a robot.

Every chosen bone becomes a link with a joint, the bones above it too (fixed, when they were not chosen), so that the
robot stands in one tree; other bones stay what they are and hang on it or stand beside it.
"""

from __future__ import annotations

from collections.abc import Collection
from contextlib import ExitStack
from itertools import permutations, product

import bpy
import numpy as np
from mathutils import Matrix

from ....robokin import clamp
from ....robokin.arrays import Array
from ....robokin.model.robot import Joint, Link
from ....robokin.model.topology import free_name
from ..belonging import has_object
from ..errors import BridgeError
from ..model.binding import binding
from ..parents import with_parents
from ..pose.configuration import read_configuration, write_configuration
from ..record.current import bone_placement, check_rest
from ..record.reading import read_robot
from ..record.rescale import rescaled_joint
from ..record.snapshot import OWN_CONSTRAINT, metres_per_unit, refuse_linked_bones
from ..record.stored import HELPER_KEY, KEY, ROBOT_KEY, BoneRecord, RobotRecord
from ..record.writing import write_robot
from ..rig.hand_posing import refresh_rigs
from .infer_joints import Guess, convertible_limit, guess_joint, says_something, stands_still
from .records import bone_record, put_records

BASE = "Base"
AUTO, FIXED, FLOATING, PLANAR, NEW = "AUTO", "FIXED", "FLOATING", "PLANAR", "NEW"
_TILTED = 1e-3
_INHERITANCE = (
    ("use_inherit_rotation", "Inherit Rotation is on", True),
    ("use_local_location", "Local Location is on", True),
    ("inherit_scale", "Inherit Scale is Full", "FULL"),
)


def robot_bones(obj: bpy.types.Object) -> list[str]:
    """The bones that a robot of the whole armature has: all but those that only steer others (targets and poles of
    inverse kinematics, and what other constraints aim at and deforms nothing) and trees that deform nothing."""
    bones = obj.data.bones
    steering: set[str] = set()
    for constraint in (c for bone in obj.pose.bones for c in bone.constraints):
        for target, name in (("target", "subtarget"), ("pole_target", "pole_subtarget")):
            bone = bones.get(getattr(constraint, name, "")) if getattr(constraint, target, None) == obj else None
            if bone is not None and (constraint.type == "IK" or not bone.use_deform):
                steering.add(bone.name)
    steering = {n for n in steering if all(b.name in steering or not b.use_deform for b in bones[n].children_recursive)}
    steering |= {below.name for name in steering for below in bones[name].children_recursive}
    trees = [[root, *root.children_recursive] for root in bones if root.parent is None]
    trees = [[b for b in tree if b.name not in steering] for tree in trees if tree[0].name not in steering]
    deforming = [tree for tree in trees if any(b.use_deform for b in tree)]
    return [b.name for tree in deforming or trees for b in tree]


def make_robot(
    context: bpy.types.Context, obj: bpy.types.Object, chosen: Collection[str], *, base: str, unlocked: str
) -> list[str]:
    """Make the chosen bones joints; bones that are joints already stay as they are. Object or Pose Mode.

    base: what the root bone is: "FIXED", "FLOATING", "PLANAR", a joint on a "NEW" fixed bone, or "AUTO": what its locks
    and limbs say.   unlocked: see `guess_joint`; "GUESS" is a hinge in a robot without branches.
    Returns notes on what of the rig was changed. Raises BridgeError, ModelError; nothing is changed then.
    """
    _refuse(obj, chosen)
    chosen = set(chosen)
    members = _with_bones_above(obj, chosen)
    new = [name for name in members if KEY not in obj.data.bones[name]]
    if not new and ROBOT_KEY in obj.data:
        raise BridgeError(f"{obj.name!r}: all these bones are joints already")
    for name in members:
        check_rest(name, np.array(obj.data.bones[name].matrix_local, float))
    for name in new:
        _refuse_constraints(obj.pose.bones[name])
        if not np.isfinite(np.array(obj.pose.bones[name].matrix_basis)).all():
            raise BridgeError(f"bone {name!r}: its pose is not a number: clear it")
    if unlocked == "GUESS" and not _branches(obj, members):
        unlocked = "HINGE"
    guesses = {name: _guess(obj.pose.bones[name], chosen, members, unlocked) for name in new}
    notes = [note for guess in guesses.values() for note in guess.notes]
    roots = [name for name in members if _parent(obj.data.bones[name], members) is None]
    root_type = _root_type(obj, roots, members, base)
    with ExitStack() as undo:
        if root_type is None:
            roots = [_add_base(context, obj, roots)]
            undo.callback(remove_bone, context, obj, roots[0])
            guesses = {roots[0]: Guess({"type": "fixed"}), **guesses}
        elif roots[0] in guesses:
            guesses[roots[0]] = Guess({"type": root_type})
        notes += _settle(obj, guesses, undo)
        _write(obj, guesses, roots[0], undo)
        model = binding(obj).model
        undo.pop_all()
    if root_type == "planar" and binding(obj).root[2, 2] < 1.0 - _TILTED:
        notes.append(f"root bone {roots[0]!r} is tilted, and with it the plane that it moves in")
    refresh_rigs(obj.data)
    write_configuration(obj, clamp(model, read_configuration(obj)))
    context.view_layer.update()
    return notes


def _refuse(obj: bpy.types.Object, chosen: Collection[str]) -> None:
    if obj.data.library is not None or obj.data.override_library is not None:
        raise BridgeError(f"armature {obj.data.name!r} is linked from another file: make it a robot there")
    if not chosen:
        raise BridgeError(f"{obj.name!r} has no bones to make joints of")
    if not np.isfinite(np.array(obj.matrix_world)).all():
        raise BridgeError(f"{obj.name!r} is nowhere: its location, rotation or scale is not a number")
    scale = obj.matrix_world.to_scale()
    if max(map(abs, scale)) < 1e-12:
        raise BridgeError(f"{obj.name!r} has scale 0: give it a size")
    if max(scale) - min(scale) > 1e-4 * max(map(abs, scale)) or obj.matrix_world.is_negative:
        shown = ", ".join(f"{x:.6g}" for x in scale)
        whose = f" with that of its parent {obj.parent.name!r}" if obj.parent is not None else ""
        raise BridgeError(f"{obj.name!r} has the scale {shown}{whose}: apply it first (Object > Apply > Scale)")


def _refuse_constraints(bone: bpy.types.PoseBone) -> None:
    for constraint in bone.constraints:
        ours = constraint.name.startswith(OWN_CONSTRAINT)
        if constraint.enabled and constraint.influence > 0.0 and not ours and not convertible_limit(constraint):
            raise BridgeError(
                f"bone {bone.name!r} has the constraint {constraint.name!r}, which a joint does not obey: mute it, or "
                "use Convert Rig"
            )


def _with_bones_above(obj: bpy.types.Object, chosen: Collection[str]) -> list[str]:
    """The chosen bones and all above them, in the armature's order (parents first)."""
    bones = obj.data.bones
    wanted: set[str] = set()
    for name in (*chosen, *(bone.name for bone in bones if KEY in bone)):
        for above in with_parents(bones[name]):
            if above.name in wanted:
                break
            wanted.add(above.name)
    return [bone.name for bone in bones if bone.name in wanted and HELPER_KEY not in bone]


def _parent(bone: bpy.types.Bone, members: Collection[str]) -> str | None:
    """The nearest bone above that is one of the robot's."""
    return next((above.name for above in with_parents(bone.parent) if above.name in members), None)


def _branches(obj: bpy.types.Object, members: Collection[str]) -> bool:
    parents = [bone.parent.name for bone in obj.data.bones if bone.name in members and bone.parent is not None]
    return len(set(parents)) < len(parents)


def _guess(bone: bpy.types.PoseBone, chosen: Collection[str], members: Collection[str], unlocked: str) -> Guess:
    if bone.name not in chosen:
        return Guess({"type": "fixed"})
    return guess_joint(bone, members, unlocked)


def _root_type(obj: bpy.types.Object, roots: list[str], members: Collection[str], base: str) -> str | None:
    """The joint type of the root bone; None: a new bone is to be the root."""
    if len(roots) > 1 or base == NEW:
        return None
    if base != AUTO:
        return base.lower()
    root = obj.pose.bones[roots[0]]
    if KEY in root.bone or stands_still(root):
        return "fixed"
    if says_something(root):
        return None
    branches = sum(child.name in members for child in root.children)
    return "floating" if branches > 1 else "fixed"


def _add_base(context: bpy.types.Context, obj: bpy.types.Object, roots: list[str]) -> str:
    """A new root bone, along the armature's axes, below the roots: where the only one is, else at the origin."""
    with EditMode(context, obj) as bones:
        size = 0.5 * max(bone.length for bone in bones)
        bone = bones.new(BASE)
        bone.use_deform = False
        bone.head, bone.tail = (0.0, 0.0, 0.0), (0.0, size, 0.0)
        bone.matrix = Matrix.Translation(bones[roots[0]].head if len(roots) == 1 else (0.0, 0.0, 0.0))
        for name in roots:
            bones[name].parent = bone
        return bone.name


class EditMode:
    """`with EditMode(context, obj) as edit_bones`: the object's edit bones; afterwards its mode is as it was."""

    def __init__(self, context: bpy.types.Context, obj: bpy.types.Object) -> None:
        self._context, self._obj, self._mode = context, obj, obj.mode

    def __enter__(self) -> bpy.types.ArmatureEditBones:
        """Raises BridgeError where bones cannot be edited."""
        refuse_linked_bones(self._obj)
        if not has_object(self._context.view_layer, self._obj):
            raise BridgeError(f"{self._obj.name!r} is not in the view layer {self._context.view_layer.name!r}")
        self._set("EDIT")
        return self._obj.data.edit_bones

    def __exit__(self, *_: object) -> None:
        self._set(self._mode)
        self._context.view_layer.update()

    def _set(self, mode: str) -> None:
        active = self._context.view_layer.objects.active
        self._context.view_layer.objects.active = self._obj
        with self._context.temp_override(object=self._obj, active_object=self._obj):
            bpy.ops.object.mode_set(mode=mode)
        self._context.view_layer.objects.active = active


def remove_bone(context: bpy.types.Context, obj: bpy.types.Object, name: str) -> None:
    with EditMode(context, obj) as bones:
        bones.remove(bones[name])


def _settle(obj: bpy.types.Object, guesses: dict[str, Guess], undo: ExitStack) -> list[str]:
    """Give bones the inheritance that joints need, and mute the limits that their joints now have; notes."""
    notes = []
    for name in (name for name in guesses if name in obj.pose.bones):
        bone = obj.data.bones[name]
        for flag, label, wanted in _INHERITANCE:
            if getattr(bone, flag) != wanted:
                undo.callback(setattr, bone, flag, getattr(bone, flag))
                setattr(bone, flag, wanted)
                notes.append(f"bone {name!r}: {label}, as joints need it")
        for constraint in obj.pose.bones[name].constraints:
            if constraint.enabled and convertible_limit(constraint):
                undo.callback(setattr, constraint, "mute", False)
                constraint.mute = True
    return notes


def _write(obj: bpy.types.Object, guesses: dict[str, Guess], root: str, undo: ExitStack) -> None:
    bones = obj.data.bones
    records = {bone.name: bone_record(bone) for bone in bones if KEY in bone}
    if ROBOT_KEY not in obj.data:
        obj.data[ROBOT_KEY] = write_robot(RobotRecord(obj.name, metres_per_unit(obj)))
        undo.callback(obj.data.pop, ROBOT_KEY)
    unit = read_robot(obj.data[ROBOT_KEY], obj.data.name).metres_per_unit
    links = {record.link.name for record in records.values()}
    rests = {bone.name: np.array(bone.matrix_local, float) for bone in bones}
    members = records.keys() | guesses.keys()
    for place, (name, guess) in enumerate(guesses.items(), 1 + max((r.index for r in records.values()), default=-1)):
        parent = _parent(bones[name], members)
        frame, rest, placement = np.eye(3), rests[name], np.eye(4)
        if name == root:
            frame = _nearest_axes(rest[:3, :3])
        if parent is not None:
            rest = np.linalg.inv(rests[parent]) @ rest
            placement = bone_placement(rest, records[parent].frame, frame, 1.0)
        joint = rescaled_joint(Joint(name, parent=None, child=name, placement=placement, **guess.fields), unit, None)
        records[name] = BoneRecord(name, place, joint, Link(free_name(name, links)), frame, rest)
        links.add(records[name].link.name)
    for name in guesses:
        undo.callback(_forget, bones[name])
    put_records(obj.data, {name: records[name] for name in guesses})


def _forget(bone: bpy.types.Bone) -> None:
    bone.pop(KEY, None)
    bone.property_unset("robokin")


def _nearest_axes(rotation: Array) -> Array:
    """(3, 3) the rotation by quarter turns that is nearest to `rotation`: with it as R_link_bone a root link, in which
    tasks and planes are expressed, stands as the armature does."""
    turns = [np.eye(3)[list(p)] * signs for p in permutations(range(3)) for signs in product((1.0, -1.0), repeat=3)]
    return max((turn for turn in turns if np.linalg.det(turn) > 0.0), key=lambda turn: float((turn * rotation).sum()))
