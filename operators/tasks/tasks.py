"""Adding, removing and ordering the tasks of a robot."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager

import bpy
from mathutils import Matrix

from ...properties.bridge import Binding, binding, binding_held, read_configuration, to_blender
from ...properties.bridge.visuals.new_data import all_or_nothing, collections_for
from ...properties.results.same_tip import tasks_on_same_tip
from ...properties.selected.active_robot import active_robot
from ...properties.selected.selection import selected_bones
from ...properties.selected.tips import possible_tips
from ...properties.task_kinds import ITEMS, KINDS
from ...robokin import Joint, RobokinError, UnknownNameError, forward_kinematics
from ...robokin.arrays import Array
from ...robokin.structure.short_names import short_names
from ...scene.animation.lists import add_entry, place_in_list, remove_entry
from ...scene.tasks.memory import forget_fades
from ...scene.tasks.new_targets import is_spare, new_target
from ...scene.tasks.present_values import take_present
from ...solvers.singularities.tool import moves_without_turning
from ..common import RobotOperator
from .entries import EntryOperator, MoveEntryOperator


def default_other(obj: bpy.types.Object, robot: Binding, tip: str) -> str:
    """The other selected bone of the robot when there is one; else none."""
    others = {robot.own_bone(bone) for bone in selected_bones(obj)} & set(robot.bones) - {tip}
    return others.pop() if len(others) == 1 else ""


def add_task(obj: bpy.types.Object, robot: Binding, kind: str, tip: str, pose: Matrix) -> bpy.types.PropertyGroup:
    """A new task at the end of the list, active, with a name of its own: that of the tip's link without what those of
    all links begin with, or of its kind.

    `pose`: in the world, its fixed pose should it not follow an object.
    """
    links = robot.link_of_bone
    name = short_names(links.values())[links[tip]] if KINDS[kind].tip else KINDS[kind].label
    task = add_entry(obj, "tasks", name, kind)
    task.tip = tip if KINDS[kind].tip else ""
    task.location, task.rotation = pose.translation, pose.to_euler()
    task.position_tolerance /= robot.metres_per_unit
    return task


@contextmanager
def new_task(
    obj: bpy.types.Object, robot: Binding, kind: str, tip: str, pose: Matrix
) -> Iterator[bpy.types.PropertyGroup]:
    """Inside, the new task of `add_task` is filled in; where something raises, it is gone again."""
    active = obj.robokin.active_task
    task = add_task(obj, robot, kind, tip, pose)
    try:
        yield task
    except BaseException:
        obj.robokin.tasks.remove(len(obj.robokin.tasks) - 1)
        obj.robokin.active_task = active
        raise


def tip_pose(obj: bpy.types.Object, robot: Binding, bone: str, q: Array | None = None) -> Matrix:
    """World pose of the link frame of a bone at q (nq,), else in the present pose, without scale."""
    links = robot.link_of_bone
    if bone not in links:
        raise UnknownNameError("bone of the robot", bone, links)
    frames = forward_kinematics(robot.model, read_configuration(obj, robot) if q is None else q)
    return to_blender(obj, frames[links[bone]], None, robot)


class NewTaskOperator(RobotOperator):
    """Mixin: an operator that adds a task at the end of the list."""

    def _warn_of_same_tip(self, obj: bpy.types.Object) -> None:
        task = obj.robokin.tasks[-1]
        for other in tasks_on_same_tip(obj, task):
            self.report(
                {"WARNING"}, f"{other!r} holds the same tip as {task.name!r}: both are met only where they agree"
            )


class ROBOKIN_OT_task_add(NewTaskOperator, bpy.types.Operator):
    """Add a task that holds what is now: the pose of the tip, the distance, the value of the joint"""

    bl_idname = "robokin.task_add"
    bl_label = "Add Task"

    kind: bpy.props.EnumProperty(name="Type", description="What the tip must do", items=ITEMS, default="POSE")
    tip: bpy.props.StringProperty(
        name="Tip",
        description="Bone that must reach the target; empty: the one selected in Pose Mode, or the tool",
        options={"SKIP_SAVE"},
    )
    other: bpy.props.StringProperty(
        name="Other Bone",
        description="Of tasks on two bones; empty: the other one of two that are selected",
        options={"SKIP_SAVE"},
    )

    def run(self, context: bpy.types.Context, obj: bpy.types.Object) -> set[str]:
        robot = binding(obj)
        self.tip = tip = self.tip or possible_tips(obj, robot)[0]
        if self.kind == "JOINT" and tip in robot.link_of_bone and (joint := _moving_joint(robot, tip)):
            tip = robot.bone_of_link[joint.child]
        pose = tip_pose(obj, robot, tip)
        with binding_held(obj, robot), new_task(obj, robot, self.kind, tip, pose) as task:
            task.use_target = False
            if KINDS[self.kind].other:
                task.other = self.other or default_other(obj, robot, tip)
            if self.kind == "ADVANCE":
                task.location = (0.0, 0.0, 0.0)
            if self.kind == "LINEAR_VELOCITY":
                task.coefficients = _equal_velocities(robot, tip, self.other or default_other(obj, robot, tip))
            take_present(context, obj, robot, task)
        self._warn_of_same_tip(obj)
        return {"FINISHED"}


def _equal_velocities(robot: Binding, bone: str, other: str) -> str:
    """Factors, as JSON, with which the joints that move two bones move alike; of one bone: with which it stands."""
    factors = {}
    for name, sign in ((other, -1.0), (bone, 1.0)):
        joint = _moving_joint(robot, name) if name else None
        if joint is not None:
            factors[joint.name] = [sign] * joint.nv if joint.nv > 1 else sign
    return json.dumps(factors, ensure_ascii=False)


def _moving_joint(robot: Binding, bone: str) -> Joint | None:
    """The nearest joint above a bone, or its own, that moves by itself."""
    moved_by = {joint.child: joint for joint in robot.model.joints}
    joint = moved_by.get(robot.link_of_bone[bone])
    while joint is not None and (not joint.nv or joint.mimic is not None):
        joint = moved_by.get(joint.parent)
    return joint


class ROBOKIN_OT_task_from_pose(EntryOperator, bpy.types.Operator):
    """Let a task ask for what is now: the pose of the tip, the distance, the value of the joint"""

    bl_idname = "robokin.task_from_pose"
    bl_label = "Set from Pose"

    def run(self, context: bpy.types.Context, obj: bpy.types.Object) -> set[str]:
        task = obj.robokin.tasks[place_in_list(obj, "tasks", self.index)]
        if not take_present(context, obj, binding(obj), task):
            raise RobokinError(f"task {task.name!r} asks for nothing that the pose could say")
        return {"FINISHED"}


class ROBOKIN_OT_task_remove(EntryOperator, bpy.types.Operator):
    """Remove the active task together with its animation, and the target that was added for it"""

    bl_idname = "robokin.task_remove"
    bl_label = "Remove Task"

    def run(self, context: bpy.types.Context, obj: bpy.types.Object) -> set[str]:
        index = obj.robokin.active_task if self.index < 0 else self.index
        target = obj.robokin.tasks[index].target if index < len(obj.robokin.tasks) else None
        remove_entry(obj, "tasks", self.index)
        forget_fades(obj)  # a new task may have its name, and fade from elsewhere
        if target is not None and is_spare(obj, target):
            name = target.name
            bpy.data.objects.remove(target)
            self.report({"INFO"}, f"its target {name!r} was removed, too")
        return {"FINISHED"}


class ROBOKIN_OT_task_move(MoveEntryOperator, bpy.types.Operator):
    """Move the active task in the list; its animation follows"""

    bl_idname = "robokin.task_move"
    bl_label = "Move Task"
    entries = "tasks"


class ROBOKIN_OT_target_add(NewTaskOperator, bpy.types.Operator):
    """Add an object at the tip and a task that follows it, ready to be moved"""

    bl_idname = "robokin.target_add"
    bl_label = "Add Target at Tip"

    kind: bpy.props.EnumProperty(
        name="Type",
        description="What the tip must do; its pose, or its position where the joints cannot keep its rotation",
        items=ITEMS,
        default="POSE",
        options={"SKIP_SAVE"},
    )
    tip: bpy.props.StringProperty(
        name="Tip",
        description="Bone that must reach the target; empty: the one selected in Pose Mode, or the tool",
        options={"SKIP_SAVE"},
    )

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        obj, kind = active_robot(context), self.kind if self.properties.is_property_set("kind") else ""
        try:
            robot = binding(obj)
            tips = () if self.tip else possible_tips(obj, robot)
        except RobokinError:  # which the work reports
            tips = ()
        if len(tips) < 2:
            return self.execute(context)
        names = [(bone, robot.link_of_bone[bone]) for bone in tips]

        def draw(menu: bpy.types.Menu, _: bpy.types.Context) -> None:
            menu.layout.operator_context = "EXEC_DEFAULT"
            for bone, link in names:
                chosen = menu.layout.operator(ROBOKIN_OT_target_add.bl_idname, text=link, translate=False)
                chosen.tip = bone
                if kind:
                    chosen.kind = kind

        context.window_manager.popup_menu(draw, title="Target at Which Link?", icon="EMPTY_ARROWS")
        return {"CANCELLED"}

    def run(self, context: bpy.types.Context, obj: bpy.types.Object) -> set[str]:
        kind = KINDS[self.kind]
        if not kind.target:
            raise RobokinError(f"a task of type {kind.label} has no target: use Add Task")
        robot = binding(obj)
        self.tip = tip = self.tip or possible_tips(obj, robot)[0]
        pose = tip_pose(obj, robot, tip)
        if not self.properties.is_property_set("kind"):
            self.kind = "POSE" if moves_without_turning(robot.model, robot.link_of_bone[tip]) else "POSITION"
        with all_or_nothing(), binding_held(obj, robot), new_task(obj, robot, self.kind, tip, pose) as task:
            task.target = target = new_target(obj, robot, self.kind, tip, pose)
            collections_for(obj)[0].objects.link(target)
            context.view_layer.update()
            if self.kind == "DISTANCE":
                take_present(context, obj, robot, task)
        _select_only(context, target)
        self._warn_of_same_tip(obj)
        return {"FINISHED"}


def _select_only(context: bpy.types.Context, target: bpy.types.Object) -> None:
    """Make `target` what a G key moves. Leaves pose mode, in which other objects cannot be moved."""
    view_layer = context.view_layer
    active = view_layer.objects.active
    if active is not None and active.mode != "OBJECT":
        with context.temp_override(object=active, active_object=active):
            bpy.ops.object.mode_set(mode="OBJECT")
    view_layer.update()
    for other in view_layer.objects.selected:
        other.select_set(False)
    if target.name in view_layer.objects:
        target.select_set(True)
        view_layer.objects.active = target


CLASSES = (
    ROBOKIN_OT_task_add,
    ROBOKIN_OT_task_from_pose,
    ROBOKIN_OT_task_remove,
    ROBOKIN_OT_task_move,
    ROBOKIN_OT_target_add,
)

register, unregister = bpy.utils.register_classes_factory(CLASSES)
