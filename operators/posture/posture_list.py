"""The list of stored postures: add, apply, overwrite, remove, move, choose for home and for bakes, mirror."""

from __future__ import annotations

import bpy

from ...properties.bridge import binding, read_configuration, robot_model
from ...properties.postures import find_posture, free_name, posture_configuration, posture_values, store_posture
from ...properties.selected.selection import selected_bones
from ...robokin import RobokinError, mirrored_configuration
from ...robokin.mirror import Mirrored, flipped_name
from ...scene.animation.lists import reorder
from ...scene.bake.start import own_values, present_values
from ..common import RobotOperator
from ..tasks.entries import MoveEntryOperator
from .posture import take_pose

PLANES = (
    ("AUTO", "Automatic", "Between the joints of the left and the right side; without sides, the plane that fits best"),
    ("X", "X", "Across the X axis of the robot's root"),
    ("Y", "Y", "Across the Y axis of the robot's root"),
    ("Z", "Z", "Across the Z axis of the robot's root"),
)
_SHOWN = 6  # names in one report


def _listed(names: object) -> str:
    names = list(names)
    return ", ".join(names[:_SHOWN]) + (" ..." if len(names) > _SHOWN else "")


class PostureOperator(RobotOperator):
    """Mixin: an operator on a stored posture."""

    name: bpy.props.StringProperty(
        name="Posture", description="Name of the posture; empty: the active one", options={"SKIP_SAVE"}
    )


class ROBOKIN_OT_posture_add(RobotOperator, bpy.types.Operator):
    """Store the present pose as a new posture"""

    bl_idname = "robokin.posture_add"
    bl_label = "Add Posture"

    name: bpy.props.StringProperty(name="Name", description="Name of the posture", default="Posture")
    selected: bpy.props.BoolProperty(
        name="Selected Bones Only",
        description="Store the joints of the selected bones only: the others stay where they are when it is applied",
        options={"SKIP_SAVE"},
    )

    def run(self, context: bpy.types.Context, obj: bpy.types.Object) -> set[str]:
        robot = binding(obj)
        values = present_values(obj, robot)
        if self.selected:
            chosen = {robot.joint_of_bone[bone].name for bone in selected_bones(obj) if bone in robot.joint_of_bone}
            values = {name: value for name, value in values.items() if name in chosen}
            if not values:
                raise RobokinError(f"{obj.name!r}: no bone of a moving joint is selected (select some in Pose Mode)")
        name = free_name(self.name.strip() or "Posture", set(obj.robokin.postures.keys()))
        store_posture(obj, robot.model, name, values)
        return {"FINISHED"}


class ROBOKIN_OT_posture_apply(PostureOperator, bpy.types.Operator):
    """Pose the robot as the posture says; joints that it does not name stay where they are"""

    bl_idname = "robokin.posture_apply"
    bl_label = "Apply Posture"

    def run(self, context: bpy.types.Context, obj: bpy.types.Object) -> set[str]:
        robot, item = binding(obj), find_posture(obj, self.name)
        _, lost = posture_values(robot.model, item)
        take_pose(context, obj, robot, posture_configuration(robot.model, item, read_configuration(obj, robot)))
        if lost:
            self.report({"WARNING"}, f"{item.name}: the robot has these joints no more: {_listed(lost)}")
        return {"FINISHED"}


class ROBOKIN_OT_posture_overwrite(PostureOperator, bpy.types.Operator):
    """Replace the posture by the present pose, of the same joints"""

    bl_idname = "robokin.posture_overwrite"
    bl_label = "Overwrite Posture"

    def run(self, context: bpy.types.Context, obj: bpy.types.Object) -> set[str]:
        robot, item = binding(obj), find_posture(obj, self.name)
        named, _ = posture_values(robot.model, item)
        values = present_values(obj, robot)
        store_posture(obj, robot.model, item.name, {name: values[name] for name in values if name in named} or values)
        return {"FINISHED"}


class ROBOKIN_OT_posture_remove(PostureOperator, bpy.types.Operator):
    """Remove the posture"""

    bl_idname = "robokin.posture_remove"
    bl_label = "Remove Posture"

    def run(self, context: bpy.types.Context, obj: bpy.types.Object) -> set[str]:
        robot = obj.robokin
        name = find_posture(obj, self.name).name
        index = robot.postures.find(name)
        reorder(obj, "postures", robot.postures.remove, index)
        if robot.solver.posture == name:
            robot.solver.posture = ""
        if robot.home_posture == name:
            robot.home_posture = ""
        if index < robot.active_posture or robot.active_posture == len(robot.postures):
            robot.active_posture = max(robot.active_posture - 1, 0)
        return {"FINISHED"}


class ROBOKIN_OT_posture_move(MoveEntryOperator, bpy.types.Operator):
    """Move the active posture up or down in the list"""

    bl_idname = "robokin.posture_move"
    bl_label = "Move Posture"
    entries = "postures"


class ROBOKIN_OT_posture_role(PostureOperator, bpy.types.Operator):
    """Let the posture be home, or the start of bakes; once more: no longer"""

    bl_idname = "robokin.posture_role"
    bl_label = "Use Posture As"

    role: bpy.props.EnumProperty(
        name="Role",
        description="What the posture is used as",
        items=(
            ("HOME", "Home", "The pose that Home goes to"),
            ("START", "Start", "The pose that bakes start from"),
        ),
    )

    @classmethod
    def description(cls, context: bpy.types.Context, properties: bpy.types.OperatorProperties) -> str:
        if properties.role == "HOME":
            return "Home goes to this posture; once more: to the one called home, or to rest"
        return "Bakes start from this posture; once more: they look for a start"

    def run(self, context: bpy.types.Context, obj: bpy.types.Object) -> set[str]:
        name = find_posture(obj, self.name).name
        owner, field = (obj.robokin, "home_posture") if self.role == "HOME" else (obj.robokin.solver, "posture")
        chosen = getattr(owner, field) != name
        setattr(owner, field, name if chosen else "")
        if chosen and self.role == "START":
            owner.start = "POSTURE"
        return {"FINISHED"}


class _Mirror(RobotOperator):
    """Mixin: what mirroring a pose and a posture share."""

    plane: bpy.props.EnumProperty(name="Plane", description="Plane of symmetry", items=PLANES)

    def report_mirrored(self, found: Mirrored) -> None:
        if found.kept:
            self.report({"WARNING"}, f"no mirror image, left as they are: {_listed(found.kept)}")
        if found.clamped:
            self.report({"WARNING"}, f"stopped at their limits: {_listed(found.clamped)}")


class ROBOKIN_OT_mirror_pose(_Mirror, bpy.types.Operator):
    """Swap the pose of the left and the right side, by the names of the joints"""

    bl_idname = "robokin.mirror_pose"
    bl_label = "Mirror Pose"

    def run(self, context: bpy.types.Context, obj: bpy.types.Object) -> set[str]:
        robot = binding(obj)
        found = mirrored_configuration(robot.model, read_configuration(obj, robot), self.plane)
        take_pose(context, obj, robot, found.q)
        self.report_mirrored(found)
        return {"FINISHED"}


class ROBOKIN_OT_posture_mirror(PostureOperator, _Mirror, bpy.types.Operator):
    """Add the mirror image of the posture, left and right swapped by the names of the joints"""

    bl_idname = "robokin.posture_mirror"
    bl_label = "Mirror Posture"

    def run(self, context: bpy.types.Context, obj: bpy.types.Object) -> set[str]:
        item, model = find_posture(obj, self.name), robot_model(obj)
        named, _ = posture_values(model, item)
        found = mirrored_configuration(model, posture_configuration(model, item), self.plane)
        values = own_values(model, found.q)
        wanted = {found.other.get(name, name) for name in named}
        taken = set(obj.robokin.postures.keys())
        flipped = flipped_name(item.name)
        name = flipped if flipped not in (item.name, *taken) else free_name(f"{item.name} Mirrored", taken)
        store_posture(obj, model, name, {name: value for name, value in values.items() if name in wanted})
        self.report_mirrored(found)
        return {"FINISHED"}


CLASSES = (
    ROBOKIN_OT_posture_add,
    ROBOKIN_OT_posture_apply,
    ROBOKIN_OT_posture_overwrite,
    ROBOKIN_OT_posture_remove,
    ROBOKIN_OT_posture_move,
    ROBOKIN_OT_posture_role,
    ROBOKIN_OT_mirror_pose,
    ROBOKIN_OT_posture_mirror,
)
register, unregister = bpy.utils.register_classes_factory(CLASSES)
