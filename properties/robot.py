"""What an armature object knows as a robot: `Object.robokin`."""

from __future__ import annotations

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty, IntProperty, PointerProperty, StringProperty

from .bridge import is_robot
from .criteria import RobokinCriterion
from .moves import RobokinMove
from .overrides import LIST, STATIC, VALUE, field, static_field
from .pairs.link_pairs import RobokinLinkPair
from .pairs.retarget_pairs import RobokinRetargetPair
from .postures import RobokinPosture
from .selected.active_shape import RobokinShape
from .selected.selection import select
from .solver_settings import RobokinSolverSettings
from .tasks import RobokinTask


def _is_robot(settings: RobokinRobot) -> bool:
    # Not a lambda in the annotation: Blender evaluates that where the module's names are not known.
    return is_robot(settings.id_data)


def _is_other_armature(settings: RobokinRobot, candidate: bpy.types.Object) -> bool:
    return candidate.type == "ARMATURE" and candidate != settings.id_data


TABLES = (
    ("CLASSIC", "Classic", "Denavit-Hartenberg parameters: Rz(theta) Tz(d) Tx(a) Rx(alpha) for each joint"),
    ("MODIFIED", "Modified", "Denavit-Hartenberg parameters after Craig: Rx(alpha) Tx(a) Rz(theta) Tz(d)"),
    ("SCREWS", "Screws", "Screws of a product of exponentials, at zero in the frame of the root link"),
)


def _active_joint(settings: RobokinRobot) -> int:
    obj = settings.id_data
    pose = obj.pose
    active = obj.data.bones.active if pose is not None else None
    return -1 if active is None else pose.bones.find(active.name)


def _choose_joint(settings: RobokinRobot, index: int) -> None:
    obj = settings.id_data
    if obj.pose is None or not 0 <= index < len(obj.pose.bones):
        return
    chosen = obj.pose.bones[index]
    for bone in obj.pose.bones:
        select(bone, bone == chosen)
    obj.data.bones.active = chosen.bone


class RobokinRobot(bpy.types.PropertyGroup):
    """The robot's tasks and solver settings. Joints and links are on the bones (`Bone.robokin`)."""

    is_robot: bpy.props.BoolProperty(
        name="Is a Robot",
        description="This armature carries a robot",
        get=_is_robot,
    )
    is_obstacle: static_field(
        BoolProperty, "Obstacle", "Robots may not touch this mesh object, or what this object instances"
    )
    tasks: bpy.props.CollectionProperty(
        type=RobokinTask,
        name="Tasks",
        description="What the tips must do",
        override=LIST,
    )
    live: static_field(
        BoolProperty,
        "Live",
        "The robot follows its targets at once, whenever they or its tasks change",
        default=True,
    )
    live_memory: bpy.props.StringProperty(
        override=VALUE,
        description="Where tasks began that are counted from there, and the pose without those that fade, as JSON",
        options={"HIDDEN"},
    )
    baked_frames: bpy.props.IntVectorProperty(
        override=VALUE,
        options=STATIC | {"HIDDEN"},
        description="First and last frame at which the keys are what was baked, and nothing has changed since; none "
        "when the first is after the last",
        size=2,
        default=(1, 0),
    )
    active_task: field(IntProperty, "Active Task", "Task shown in the panel")
    table_kind: field(EnumProperty, "Table", "The robot's table that is shown", items=TABLES)
    table_tip: field(StringProperty, "Tip", "Bone at which the table ends; empty: the robot's only tip")
    postures: bpy.props.CollectionProperty(
        override=LIST, type=RobokinPosture, name="Postures", description="Stored postures: joint values with a name"
    )
    active_posture: field(IntProperty, "Active Posture", "Posture chosen in the panel")
    home_posture: field(
        StringProperty,
        "Home",
        "Name of the posture that is home. Without one it is the posture called home, or else rest",
    )
    active_joint: bpy.props.IntProperty(
        name="Active Joint",
        description="Bone chosen in the list of joint values: the active one",
        get=_active_joint,
        set=_choose_joint,
    )
    criteria: bpy.props.CollectionProperty(
        type=RobokinCriterion,
        name="Criteria",
        description="What the robot prefers where the tasks leave it free",
        override=LIST,
    )
    active_criterion: field(IntProperty, "Active Criterion", "Criterion shown in the panel")
    moves: bpy.props.CollectionProperty(
        override=LIST, type=RobokinMove, name="Moves", description="The robot's program: one move after another"
    )
    active_move: field(IntProperty, "Active Move", "Move shown in the panel")
    link_pairs: bpy.props.CollectionProperty(
        override=LIST, type=RobokinLinkPair, name="Pairs of Links", description="Which links may touch each other"
    )
    active_link_pair: field(IntProperty, "Active Pair", "Pair chosen in the panel")
    active_shape: field(IntProperty, "Active Shape", "Collision shape of the active bone shown in the panel", min=0)
    shape: bpy.props.PointerProperty(override=VALUE, type=RobokinShape, name="Shape")
    description: bpy.props.StringProperty(
        override=VALUE,
        options=STATIC | {"HIDDEN"},
        name="Description",
        description="File that the robot was imported from",
        subtype="FILE_PATH",
    )
    retarget_source: field(
        PointerProperty,
        "Source",
        "Armature whose motion the robot is to follow",
        type=bpy.types.Object,
        poll=_is_other_armature,
    )
    retarget_scale: static_field(
        FloatProperty,
        "Scale",
        "Of the source's motion; 0: as the robot's legs are to the source's",
        min=0.0,
        soft_max=10.0,
    )
    retarget_pairs: bpy.props.CollectionProperty(
        override=LIST, type=RobokinRetargetPair, name="Pairs", description="Which tip follows which bone of the source"
    )
    active_retarget_pair: field(IntProperty, "Active Pair of Bones", "Pair chosen in the panel")
    solver: bpy.props.PointerProperty(override=VALUE, type=RobokinSolverSettings, name="Solver")


CLASSES = (RobokinRobot,)
