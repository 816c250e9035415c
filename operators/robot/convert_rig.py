"""Convert Rig: locks and limits of a rig become joints, its constraints tasks (IK, iTaSC, Copy, Track, Distance)."""

from __future__ import annotations

import itertools
from contextlib import ExitStack
from dataclasses import replace

import bpy
import numpy as np
from mathutils import Matrix

from ...properties.bridge import (
    Binding,
    binding_held,
    is_robot,
    make_robot,
    read_configuration,
    robot_bones,
    robot_model,
    write_configuration,
)
from ...properties.bridge.editing.infer_joints import convertible_limit, says_something
from ...properties.bridge.editing.make_robot import EditMode, remove_bone
from ...properties.bridge.record.snapshot import OWN_CONSTRAINT
from ...properties.bridge.record.stored import KEY
from ...robokin import RobokinError
from ...robokin.units import counted
from ...scene.animation.lists import move_curves
from ...scene.conversion.constraint_goals import ConstraintGoal, ProxyEmpty, link_axis, read_constraint
from ...scene.conversion.copied_goals import copied_goal, is_copied
from ...scene.conversion.goal_targets import target_of, turned
from ...scene.conversion.ik_goals import chain, read_goal
from ...scene.conversion.rig_copies import copy_rig, remove_rig
from ...scene.tasks.cycles import refuse_cycles
from ..tasks.tasks import add_task, tip_pose
from .make_robot import BASES, UNLOCKED, ArmatureOperator, animation_notes

Owned = tuple[bpy.types.PoseBone, bpy.types.Constraint]


class ROBOKIN_OT_convert_rig(ArmatureOperator, bpy.types.Operator):
    """Make the rig a robot: IK, copy, track, distance, parent and floor constraints become tasks, locks and limits
    joints; the constraints are muted, and what could not be converted is reported"""

    bl_idname = "robokin.convert_rig"
    bl_label = "Convert Rig"

    base: bpy.props.EnumProperty(name="Base", description="What carries the robot", items=BASES)
    unlocked: bpy.props.EnumProperty(
        name="Without Locks",
        description="What bones without any locks or limits become",
        items=UNLOCKED,
        default="BALL",
    )

    def work(self, context: bpy.types.Context) -> set[str]:
        obj = context.object
        notes = convert_rig(context, obj, self.base, self.unlocked)
        model = robot_model(obj)
        for note in (*notes, *animation_notes(obj)):
            self.report({"WARNING"}, note)
        joints, tasks = counted(len(model.moving_joints), "moving joint"), counted(len(obj.robokin.tasks), "task")
        self.report(
            {"INFO"},
            f"robot {model.name!r} with {joints} and {tasks}",
        )
        return {"FINISHED"}


def convert_rig(context: bpy.types.Context, obj: bpy.types.Object, base: str, unlocked: str) -> list[str]:
    """Make `obj` a robot that its tasks move as its constraints did.

    Returns what was changed beside, and what could not be converted, one line each by bone and constraint. Raises
    RobokinError; nothing is changed then.
    """
    members = robot_bones(obj) if not is_robot(obj) else [bone.name for bone in obj.data.bones if KEY in bone]
    constraints = _foreign_constraints(obj, members)
    goals, lost = _goals(obj, members, constraints)
    if base == "AUTO" and not is_robot(obj):
        base = _base(obj, members, constraints, goals)
    with ExitStack() as undo:
        rig = copy_rig(obj, members, undo) if any(each.proxy_empty is ProxyEmpty.RIG for each in _all(goals)) else None
        if obj.data.pose_position == "POSE":
            context.view_layer.update()
            _keep_pose(obj, members, undo)
        for bone, constraint in constraints:
            undo.callback(_unmute, obj, bone.name, constraint.name)
            constraint.mute = True
        tips = _tips(context, obj, goals, undo)
        new = [name for name in (*members, *tips.values()) if KEY not in obj.data.bones[name]]
        notes = make_robot(context, obj, new, base=base, unlocked=unlocked) if new else []
        undo.pop_all()
    with binding_held(obj) as robot:
        _drop_foreign_channels(obj, robot, members)
        lost += _add_tasks(context, obj, robot, goals, tips, rig)
    context.view_layer.update()
    return notes + lost


def _foreign_constraints(obj: bpy.types.Object, members: list[str]) -> list[Owned]:
    """What acts on the robot's bones and is neither Robokin's nor a limit that a joint can have."""
    return [
        (obj.pose.bones[name], constraint)
        for name in members
        for constraint in obj.pose.bones[name].constraints
        if constraint.enabled and not constraint.name.startswith(OWN_CONSTRAINT) and not convertible_limit(constraint)
    ]


def _goals(
    obj: bpy.types.Object, members: list[str], constraints: list[Owned]
) -> tuple[list[ConstraintGoal], list[str]]:
    goals, lost = [], []
    for name, owned in itertools.groupby(constraints, key=lambda pair: pair[0].name):
        bone, own = obj.pose.bones[name], [constraint for _, constraint in owned]
        problems: list[str] = []
        copied = copied_goal(bone, own, members, problems)
        goals += [copied] if copied is not None else []
        lost += [_lost(name, copied.constraint, problem) for problem in problems if copied is not None]
        for constraint in own:
            problems = []
            if constraint.type == "IK":
                goal = read_goal(obj, bone, constraint, members, problems)
            elif copied is None or not is_copied(constraint):
                goal = read_constraint(bone, constraint, problems)
            else:
                continue
            goals += [goal] if goal is not None else []
            lost += [_lost(name, constraint.name, problem) for problem in problems]
    return goals, lost


def _lost(bone: str, constraint: str, problem: str) -> str:
    return f"could not be converted: bone {bone!r}, constraint {constraint!r}: {problem}"


def _base(obj: bpy.types.Object, members: list[str], constraints: list[Owned], goals: list[ConstraintGoal]) -> str:
    """A root bone that a constraint turns is a joint, one that it carries along floats; one that says nothing of itself
    stays where it is."""
    root = next((obj.pose.bones[name] for name in members if obj.pose.bones[name].parent is None), None)
    moved = {name for bone, c in constraints if c.type == "IK" for name in chain(obj, c, bone)}
    if root is None or root.name in moved:
        return "NEW"
    kinds = {goal.kind for goal in goals if goal.bone == root.name and not goal.at_tail}
    if kinds:
        return "NEW" if kinds <= {"ORIENTATION", "AIM"} or says_something(root) else "FLOATING"
    return "AUTO" if says_something(root) else "FIXED"


def _keep_pose(obj: bpy.types.Object, members: list[str], undo: ExitStack) -> None:
    """Let the bones' own channels say the pose that the constraints gave them."""
    shown: dict[str, Matrix] = {}
    for name in members:
        bone, above = obj.pose.bones[name], obj.pose.bones[name].parent
        parent = (
            {} if above is None else {"parent_matrix": above.matrix, "parent_matrix_local": above.bone.matrix_local}
        )
        shown[name] = bone.bone.convert_local_to_pose(bone.matrix, bone.bone.matrix_local, **parent, invert=True)
    for name, basis in shown.items():
        undo.callback(_set_basis, obj, name, obj.pose.bones[name].matrix_basis.copy())
        _set_basis(obj, name, basis)


def _set_basis(obj: bpy.types.Object, bone: str, basis: Matrix) -> None:
    obj.pose.bones[bone].matrix_basis = basis


def _drop_foreign_channels(obj: bpy.types.Object, robot: Binding, members: list[str]) -> None:
    """What constraints had moved and no joint can move stands still."""
    q = read_configuration(obj, robot)
    for name in members:
        _set_basis(obj, name, Matrix())
    write_configuration(obj, q, robot)


def _unmute(obj: bpy.types.Object, bone: str, constraint: str) -> None:
    obj.pose.bones[bone].constraints[constraint].mute = False


def _tips(
    context: bpy.types.Context, obj: bpy.types.Object, goals: list[ConstraintGoal], undo: ExitStack
) -> dict[tuple[str, bool], str]:
    """{(bone, whether it is its tail): the bone whose head is the tip}. A tail where no other bone begins, or whose
    rotation counts, gets a bone of its own, turned as the one that it ends."""
    tips: dict[tuple[str, bool], str] = {}
    turned = {(goal.bone, goal.at_tail) for goal in _all(goals) if goal.is_turned}
    for place in {(goal.bone, goal.at_tail): None for goal in _all(goals)}:
        name, at_tail = place
        followers = [child.name for child in obj.data.bones[name].children if child.use_connect]
        if not at_tail:
            tips[place] = name
        elif followers and place not in turned:
            tips[place] = followers[0]
        else:
            tips[place] = _add_tip(context, obj, name, undo)
    return tips


def _add_tip(context: bpy.types.Context, obj: bpy.types.Object, name: str, undo: ExitStack) -> str:
    with EditMode(context, obj) as bones:
        bone = bones.new(f"tip.{name}")
        bone.use_deform = False
        bone.head, bone.tail = (0.0, 0.0, 0.0), (0.0, 0.25 * bones[name].length, 0.0)
        bone.matrix = Matrix.Translation(bones[name].tail) @ bones[name].matrix.to_3x3().to_4x4()
        bone.parent = bones[name]
        tip = bone.name
    undo.callback(remove_bone, context, obj, tip)
    obj.pose.bones[tip].lock_location = obj.pose.bones[tip].lock_rotation = (True,) * 3
    return tip


def _all(goals: list[ConstraintGoal]) -> list[ConstraintGoal]:
    return [each for goal in goals for each in (goal, *goal.beside)]


def _add_tasks(
    context: bpy.types.Context,
    obj: bpy.types.Object,
    robot: Binding,
    goals: list[ConstraintGoal],
    tips: dict[tuple[str, bool], str],
    rig: bpy.types.Object | None,
) -> list[str]:
    """What could not be converted. rig: the copy, which goes where nothing follows it."""
    lost = list[str]()
    shown: set[tuple[str, str]] = set()
    for goal in goals:
        for each in (goal, *goal.beside):
            wanted, tip = each, tips[each.bone, each.at_tail]
            if rig is not None and each.proxy_empty is ProxyEmpty.RIG:
                if (each.bone, each.kind) in shown or (each is not goal and not _moves(obj, robot, each.bone)):
                    continue
                wanted = replace(each, target=rig)
            problems = _add_task(context, obj, robot, wanted, tip)
            lost += problems
            if problems:
                break  # so that nothing is to be done with other bones for it
            shown |= {(each.bone, each.kind)} if each.proxy_empty is ProxyEmpty.RIG else set()
    if rig is not None and not shown:
        remove_rig(rig)
    return lost


def _add_task(
    context: bpy.types.Context, obj: bpy.types.Object, robot: Binding, goal: ConstraintGoal, tip: str
) -> list[str]:
    """What could not be converted."""
    R_link_bone = robot.frames[robot.bones.index(tip)]
    axis = link_axis(R_link_bone, goal.axis)
    is_askew = goal.is_turned and goal.kind != "AIM" and abs(R_link_bone - np.eye(3)).max() > 1e-4
    if (goal.is_turned and goal.kind == "AIM" and axis is None) or (
        is_askew and goal.of_tip and not all(goal.rotation)
    ):
        return [_lost(goal.bone, goal.constraint, "the axes of the link are not those of the bone")]
    between_bones = goal.kind == "DISTANCE" and goal.target == obj and goal.subtarget in robot.link_of_bone
    pose = tip_pose(obj, robot, tip)
    if not between_bones:
        try:
            refuse_cycles(obj, goal.target, goal.constraint, f"bone {goal.subtarget}" if goal.subtarget else "")
            if goal.space is not None:
                refuse_cycles(obj, goal.space[0], goal.constraint, f"bone {goal.space[1]}" if goal.space[1] else "")
        except RobokinError:
            hung = goal.subtarget or goal.target.name
            return [_lost(goal.bone, goal.constraint, f"its target {hung!r} hangs on the robot")]
    task = add_task(obj, robot, goal.kind, tip, pose)
    if between_bones:
        task.other = goal.subtarget
    else:
        task.target, task.subtarget = target_of(context, obj, goal, pose)
        if is_askew:
            task.target, task.subtarget = turned(obj, goal, task.target, task.subtarget, R_link_bone.T), ""
    task.side = "ABOVE" if goal.kind == "PLANE" else "ON"
    task.relation, task.distance = goal.relation, goal.distance
    if axis is not None:
        task.axis = axis
    task.use_location, task.use_rotation = goal.position, goal.rotation
    task.frame = "TIP" if goal.of_tip else "WORLD"
    task.position_weight, task.orientation_weight = goal.position_weight, goal.orientation_weight
    task.priority, task.influence = goal.priority, goal.influence
    if goal.proxy_empty is ProxyEmpty.RIG:
        return []
    bone, constraint = (bpy.utils.escape_identifier(name) for name in (goal.bone, goal.constraint))
    for name in ("influence", *(["distance"] if goal.kind == "DISTANCE" else [])):
        old = f'pose.bones["{bone}"].constraints["{constraint}"].{name}'
        move_curves(obj, old, f"{task.path_from_id()}.{name}")
    return []


def _moves(obj: bpy.types.Object, robot: Binding, bone: str) -> bool:
    """Whether a joint moves the bone."""
    joints, own = robot.joint_of_bone, obj.data.bones[bone]
    return any(each.name in joints and joints[each.name].nv for each in (own, *own.parent_recursive))


CLASSES = (ROBOKIN_OT_convert_rig,)
register, unregister = bpy.utils.register_classes_factory(CLASSES)
