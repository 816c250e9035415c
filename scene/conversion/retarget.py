"""A captured motion becomes tasks of a robot: targets that follow the bones of another armature.

The targets are parts of one empty. It stands where the source's world is to be in the robot's: turned, moved and scaled
so that the matched bones at rest lie on the tips as the robot stands now. Poses and orientations keep what they differ
from the bones by then, in the bones' frames; a position is the bone's own head. So feet that rest on the ground do so
too, though ankles and soles are at other heights. Many files have the hips of the rest pose at the origin, and their
height in the motion alone: so the lowest that feet come in the motion is where the robot's stand.
"""

from __future__ import annotations

from collections.abc import Sequence

import bpy
import numpy as np
from mathutils import Matrix

from ...properties.bridge import Binding, metres_per_unit, read_configuration, to_blender
from ...properties.bridge.visuals.new_data import all_or_nothing, collections_for
from ...robokin import RobokinError, UnknownNameError, forward_kinematics
from ...robokin.arrays import Array
from ...robokin.structure.body_parts import body_parts, words_of
from ...robokin.structure.natural_root import feet
from ...robokin.structure.tool_links import tool_links
from ..animation.frames import is_evaluated, visit_frames
from ..animation.lists import add_entry, remove_entry
from ..tasks.new_targets import MADE, is_spare, robot_size
from .arms import arm_frames

# Of each part: what is asked for, and its priority: feet are not to slide, hands may be out of reach.
PARTS = {
    "left foot": ("POSE", 1),
    "right foot": ("POSE", 1),
    "front left foot": ("POSITION", 1),
    "front right foot": ("POSITION", 1),
    "hind left foot": ("POSITION", 1),
    "hind right foot": ("POSITION", 1),
    "pelvis": ("POSE", 2),
    "left hand": ("POSITION", 3),
    "right hand": ("POSITION", 3),
    "head": ("ORIENTATION", 4),
}
LOOKS = 100  # at most, at frames of the source's motion, for how low its feet come
MADE_OF = "robokin_retarget"  # on a target: the armature that it follows


def check_source(obj: bpy.types.Object, source: bpy.types.Object | None) -> bpy.types.Object:
    """Raises RobokinError for what is no armature other than the robot."""
    if source is None or source == obj or source.type != "ARMATURE":
        instead = "" if source is None else f", not {source.name!r}"
        raise RobokinError(f"choose the armature whose motion {obj.name!r} is to follow as the source{instead}")
    return source


def guess_pairs(obj: bpy.types.Object, robot: Binding, source: bpy.types.Object, hands: str = "POSITION") -> None:
    """Fill the robot's table of pairs by the names of its links and of the source's bones: the parts of a body; of a
    robot that has none of them its tools, with no bone yet. hands: kind of their pairs, "POSITION" or, to turn
    too, "HAND"."""
    model = robot.model
    own = body_parts({joint.child: joint.parent for joint in model.joints})
    for foot in feet(model):  # of any name
        for side in {"left", "right"}.intersection(words_of(foot)):
            own.setdefault(f"{side} foot", foot)
    theirs = body_parts({bone.name: bone.parent.name if bone.parent else None for bone in source.data.bones})
    pairs = obj.robokin.retarget_pairs
    pairs.clear()
    for part, (kind, priority) in PARTS.items():
        if part == "pelvis" and model.root != "floating":
            continue
        if part in own and part in theirs and own[part] in robot.bone_of_link:
            chosen = hands if part.endswith("hand") else kind
            item = add_entry(obj, "retarget_pairs", part.capitalize(), chosen)
            item.tip, item.source, item.priority = robot.bone_of_link[own[part]], theirs[part], priority
    for link in tool_links(model) if not pairs else ():
        add_entry(obj, "retarget_pairs", link, "POSE").tip = robot.bone_of_link[link]
    obj.robokin.active_retarget_pair = 0


def retarget(
    obj: bpy.types.Object,
    robot: Binding,
    source: bpy.types.Object,
    scale: float = 0.0,
    hands: str = "POSITION",
) -> bpy.types.Object:
    """Make tasks and targets of the robot's table of pairs, which is guessed where it is empty, in place of those that
    were made for the same tips before. scale: of the source's motion; 0: as the robot's legs are to the source's, or
    all its chains. hands: as `guess_pairs`. Returns the empty that the targets are parts of. Raises RobokinError, which
    names the pair."""
    obj.robokin.retarget_source = check_source(obj, source)
    if not obj.robokin.retarget_pairs:
        guess_pairs(obj, robot, source, hands)
    pairs = [item for item in obj.robokin.retarget_pairs if item.source]
    if not pairs:
        raise RobokinError(f"no bone of {source.name!r} is paired with a tip of {obj.name!r}: choose them in the table")
    for item in pairs:
        if item.tip not in robot.link_of_bone:
            raise UnknownNameError(f"tip of pair {item.name!r}, a bone of the robot", item.tip, robot.link_of_bone)
        if item.source not in source.data.bones:
            raise UnknownNameError(
                f"bone of {source.name!r} in pair {item.name!r}", item.source, source.data.bones.keys()
            )
    links = forward_kinematics(robot.model, read_configuration(obj, robot))
    poses = {bone: np.array(to_blender(obj, links[link], None, robot)) for bone, link in robot.link_of_bone.items()}
    rise = Matrix.Translation((0, 0, _rise(source, [i.source for i in pairs if i.name.lower().endswith("foot")])))
    rests = {bone.name: np.array(rise @ source.matrix_world @ bone.matrix_local) for bone in source.data.bones}
    if not scale:
        scale = _size_ratio(obj, poses, source, rests, pairs)
    tips, bones = [poses[item.tip] for item in pairs], [rests[item.source] for item in pairs]
    root = _aligned(np.array(tips), np.array(bones), [item.kind == "POSE" for item in pairs], scale)
    _remove_former(obj, {item.tip for item in pairs})
    arms = arm_frames(obj, robot, source, poses, rests, root, pairs)
    with all_or_nothing():
        base = bpy.data.objects.new(f"{obj.name} follows {source.name}", None)
        base.matrix_world, base.empty_display_size = Matrix(root.tolist()), 0.2 * robot_size(obj) / scale
        collections_for(obj)[0].objects.link(base)
        for item, tip, rest in zip(pairs, tips, bones, strict=True):
            offset = np.eye(4) if item.kind == "POSITION" else np.linalg.inv(root @ rest) @ tip
            if item.kind == "HAND":
                offset[:3, 3] = 0.0
            parent, chest = base, ""
            if item.tip in arms:
                chest, there = arms[item.tip]
                parent = _follower(obj, f"Arm of {item.name}", base, source, chest, there)
            _add_task(
                obj, item, _follower(obj, f"{item.name} of {source.name}", parent, source, item.source, offset, chest)
            )
    return base


def _size_ratio(
    obj: bpy.types.Object, poses: dict, source: bpy.types.Object, rests: dict, pairs: Sequence[bpy.types.PropertyGroup]
) -> float:
    """Size of the robot over the source's, by poses (4, 4) of their bones: how far feet are from what is above the
    legs, or lengths of all chains where there are no feet."""
    legs = [item for item in pairs if item.name.lower().endswith("foot")]
    names = {item.source for item in pairs} | {item.tip for item in pairs}
    own = _size(obj, poses, [item.tip for item in legs or pairs], names, bool(legs))
    theirs = _size(source, rests, [item.source for item in legs or pairs], names, bool(legs))
    return own / theirs if min(own, theirs) > 1e-9 else 1.0


def _size(owner: bpy.types.Object, poses: dict, tips: Sequence[str], names: set[str], are_legs: bool) -> float:
    """Sum over the chains [units of the world] from tips to the next bone above that has a name, or that all share (a
    robot may stand on a mount that no body has), or the root: along the bones, or straight for legs, since the three
    axes of a hip may lie anywhere on their lines."""
    chains = [[tip, *(bone.name for bone in owner.data.bones[tip].parent_recursive)] for tip in tips]
    ends = names | (set.intersection(*(set(chain[1:]) for chain in chains)) if len(chains) > 1 else set())
    size = 0.0
    for chain in chains:
        last = next((i for i, name in enumerate(chain[1:], 1) if name in ends), len(chain) - 1)
        heads = np.array([poses[name][:3, 3] for name in chain[: last + 1]])
        steps = heads[[0, -1]] if are_legs else heads
        size += float(np.linalg.norm(np.diff(steps, axis=0), axis=1).sum())
    return size


def _aligned(tips: Array, rests: Array, are_poses: Sequence[bool], scale: float) -> Array:
    """(4, 4) from the source's world to the robot's: turned about Z for all pairs, moved for those that hold poses."""
    own, theirs = tips[:, :2, 3], rests[:, :2, 3]
    own, theirs = own - own.mean(axis=0), theirs - theirs.mean(axis=0)
    sine = np.sum(theirs[:, 0] * own[:, 1] - theirs[:, 1] * own[:, 0])
    turn = np.arctan2(sine, np.sum(theirs * own))
    T = np.diag([scale, scale, scale, 1.0])
    T[:2, :2] = scale * np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
    led = np.array(are_poses) if any(are_poses) else np.ones(len(tips), bool)
    T[:3, 3] = (tips[led, :3, 3] - rests[led, :3, 3] @ T[:3, :3].T).mean(axis=0)
    return T


def _rise(source: bpy.types.Object, feet: Sequence[str]) -> float:
    """How far above the lowest of these bones at rest the lowest in the motion is, in the world."""
    action = source.animation_data and source.animation_data.action
    if not (feet and action and is_evaluated(source, bpy.context.view_layer)):
        return 0.0
    frames = np.unique(np.linspace(*action.frame_range, LOOKS).round())
    bones = [source.pose.bones[foot] for foot in feet]
    lowest = min((source.matrix_world @ bone.head).z for _ in visit_frames(bpy.context.scene, frames) for bone in bones)
    return lowest - min((source.matrix_world @ bone.bone.head_local).z for bone in bones)


def _follower(
    obj: bpy.types.Object,
    name: str,
    parent: bpy.types.Object,
    source: bpy.types.Object,
    bone: str,
    offset: Array,
    of: str = "",
) -> bpy.types.Object:
    """An empty that is where its parent has the source's bone, and beside it by the offset (4, 4) in the bone's frame.
    of: the bone of the source in whose frame the parent has it; that of the world unless given."""
    empty = bpy.data.objects.new(name, None)
    empty[MADE], empty[MADE_OF] = True, source.name
    empty.empty_display_type, empty.show_in_front = "ARROWS", True
    empty.empty_display_size = 0.1 * robot_size(obj) / parent.matrix_world.median_scale
    empty.parent, empty.matrix_basis = parent, Matrix(offset.tolist())
    constraint = empty.constraints.new("COPY_TRANSFORMS")
    constraint.target, constraint.subtarget = source, bone
    constraint.owner_space, constraint.mix_mode = "LOCAL", "BEFORE_FULL"
    if of:
        constraint.target_space, constraint.space_object, constraint.space_subtarget = "CUSTOM", source, of
    collections_for(obj)[0].objects.link(empty)
    return empty


def _add_task(obj: bpy.types.Object, item: bpy.types.PropertyGroup, target: bpy.types.Object) -> None:
    task = add_entry(obj, "tasks", item.name, "POSE" if item.kind == "HAND" else item.kind)
    task.tip, task.target, task.priority = item.tip, target, item.priority
    task.position_tolerance /= metres_per_unit(obj)


def _remove_former(obj: bpy.types.Object, tips: set[str]) -> None:
    """What an earlier retargeting made for these tips."""
    for i in reversed(range(len(obj.robokin.tasks))):
        task = obj.robokin.tasks[i]
        target = task.target
        if task.tip in tips and target is not None and MADE_OF in target:
            remove_entry(obj, "tasks", i)
            if is_spare(obj, target):
                above = target.parent
                bpy.data.objects.remove(target)
                while above is not None and not above.children and above.type == "EMPTY":
                    spare, above = above, above.parent
                    bpy.data.objects.remove(spare)
