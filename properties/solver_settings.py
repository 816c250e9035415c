"""How a robot is solved, baked, checked and exported, and what the last run said: `Object.robokin.solver`."""

from __future__ import annotations

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty, IntProperty, StringProperty

from .criteria import MODES
from .overrides import LIST, VALUE, field, readout

POSES = (
    (
        "POSTURE",
        "Posture",
        "A stored posture, whatever the pose is now. When none is chosen, a bake looks for a start "
        "from which every frame is met, at rest first",
        0,
    ),
    ("REST", "Rest", "Every joint at zero, or at the limit nearest to zero", 1),
)
STARTS = (
    (
        "PRESENT",
        "Present Pose",
        "The pose that the robot was given by hand, by Solve or by a posture. A bake keeps it: baked again, "
        "it starts from there too, and not from the curves that it replaces",
        2,
    ),
    (
        "AUTOMATIC",
        "Automatic",
        "A start is looked for from which every frame is met: rest, mid-range, then other postures. "
        "The robot may stand otherwise than now",
        3,
    ),
    *POSES,
)
BAKE_MODES = (
    ("FRAMES", "Frame by Frame", "Each frame follows from the one before", 0),
    ("WHOLE", "Whole Motion", "All frames at once: the tasks are met with the least cost over the whole range", 1),
)
MOTION_COSTS = (
    ("ACCELERATION", "Acceleration", "Even, gentle motion: the least acceleration of the joints", 0),
    ("JERK", "Jerk", "The least change of acceleration", 1),
    ("KINETIC_ENERGY", "Kinetic Energy", "Over the whole motion the least energy in moving masses", 2),
    ("TORQUE", "Torque", "The least squared torque of the drives", 3),
    ("ANIMATION", "Distance from Animation", "As near to the robot's present curves as tasks and limits allow", 4),
    ("PATH_LENGTH", "Path Length", "The shortest path of the tool", 5),
    ("CRITERIA", "Criteria", "The robot's criteria, summed over the motion", 6),
    ("DURATION", "Duration", "The fastest motion: as many frames as limits and tasks need", 7),
)
AT_SINGULARITIES = (
    ("FOLLOW", "Follow", "As near to the path as the limits of the joints allow, and in time again afterwards", 0),
    ("SLOW_DOWN", "Slow Down", "Along the path exactly, as slowly as the limits ask for: more frames are needed", 1),
    ("DEVIATE", "Deviate", "In time, at most so far beside the path", 2),
    ("KEEP_POSTURE", "Keep Posture", "In time and along the path, with elbow, shoulder and wrist as at the start", 4),
    ("CHANGE_POSTURE", "Change Posture", "In time and along the path, from whatever posture allows that", 3),
)
RETIME_MODES = (
    ("FASTEST", "Fastest", "As fast as the limits allow, from rest to rest", 0),
    ("AS_ANIMATED", "As Animated", "Nowhere faster than it was, slower where a limit asks for it", 1),
    ("DURATION", "Duration", "The fastest, slowed down evenly to a duration", 2),
)
RANGES = (
    ("SCENE", "Scene", "The scene's frame range, or its preview range when that is on"),
    ("CUSTOM", "Custom", "First and last frame as given here"),
)
FORMATS = (
    ("CSV", "CSV", "A table: time and one column per joint (.csv)"),
    ("JSON", "JSON", "Times and joint values with their names and units (.json)"),
    ("YAML", "JointTrajectory", "ROS trajectory_msgs/JointTrajectory (.yaml)"),
    ("PVT", "Spline (PVT)", "Time, position and velocity of each joint, for controllers that go along cubics (.pvt)"),
    ("SVG", "Plot (SVG)", "Diagrams of positions, velocities and accelerations over time (.svg)"),
    ("SERVO", "Servo Angles", "A table of the angles of hobby servos, 0 to 180 degrees (.servo)"),
)
DYNAMICS_CURVES = (
    ("JOINTS", "Joints", "Velocity, acceleration and jerk of each joint", "CON_ROTLIKE", 1),
    ("DRIVES", "Drives", "Effort and power of each drive", "AUTO", 2),
    ("ENERGY", "Energy", "Kinetic and potential energy", "LIGHT", 4),
    ("MASS", "Mass", "Center of mass and momentum", "PIVOT_BOUNDBOX", 8),
    ("GROUND", "Ground", "Force and moment on the base, and the zero-moment point", "VIEW_PERSPECTIVE", 16),
    ("IMPULSES", "Impulses", "Lagrange multipliers of the tools' twists", "FORCE_FORCE", 32),
    (
        "LINKS",
        "Links",
        "Twist and acceleration of tools, in Pose Mode also of selected bones' links",
        "BONE_DATA",
        64,
    ),
)
ALL_CURVES = {identifier for identifier, *_ in DYNAMICS_CURVES}


_MARK = "Mark of what the last result is about, by which it is seen whether that has changed since"


def _posture_chosen(settings: RobokinSolverSettings, context: bpy.types.Context) -> None:
    """A posture is chosen to start from it, unless something else was said."""
    if settings.posture and not settings.is_property_set("start"):
        settings.start = "POSTURE"


class RobokinFailure(bpy.types.PropertyGroup):
    """Frames in a row of the last bake that fail alike, or in which the last check found the same. Without a status it
    is none: an override cannot remove those that are in its file."""

    first: readout(IntProperty, "First", "First of the frames", subtype="TIME")
    last: readout(IntProperty, "Last", "Last of the frames", subtype="TIME")
    status: readout(StringProperty, "Status", "Status of these frames")
    reason: readout(StringProperty, "Reason", "Why their tasks are not met, and which")


class RobokinSolverSettings(bpy.types.PropertyGroup):
    """Settings of the Solve, Bake, Check and Export panels; the operators take them as their own properties."""

    posture: field(
        StringProperty,
        "Posture",
        "The stored posture that bakes start from: its name; or joint values as JSON, in SI units",
        update=_posture_chosen,
    )
    mode: field(EnumProperty, "Mode", "How tasks and criteria are combined", items=MODES)
    seed: field(
        IntProperty,
        "Seed",
        "Which restarts are drawn when the first attempt fails; the same seed gives the same pose",
        min=0,
    )
    key: field(BoolProperty, "Insert Keyframe", "Key the robot's channels after solving")
    start: field(EnumProperty, "Start", "The pose that the bake starts from", items=STARTS, default="PRESENT")
    bake_mode: field(
        EnumProperty, "Bake", "Whether a bake solves its frames one by one or all at once", items=BAKE_MODES
    )
    motion_cost: field(EnumProperty, "Cost", "What the whole motion minimizes", items=MOTION_COSTS)
    duration_weight: field(
        FloatProperty,
        "Duration Weight",
        "How much a second of the whole motion costs beside the cost: the bake takes as many frames as are worth it; "
        "0: the frames keep their time",
        min=0.0,
    )
    bake_jerk: field(
        BoolProperty,
        "Jerk",
        "A whole motion limits the jerks of the joints, too: accelerations are reached within a tenth of a second",
    )
    at_singularities: field(
        EnumProperty,
        "At Singularities",
        "What an arm with one task on the pose of its tip does where joint speeds would pass their limits",
        items=AT_SINGULARITIES,
    )
    deviation_position: field(
        FloatProperty,
        "Most Distance",
        "How far beside its path the tip may be",
        default=0.005,
        min=0.0,
        precision=4,
        subtype="DISTANCE",
    )
    deviation_orientation: field(
        FloatProperty,
        "Most Angle",
        "By how much the tip may be turned away from its path",
        default=0.0349066,
        min=0.0,
        subtype="ANGLE",
    )
    start_values: field(
        StringProperty,
        "Start Values",
        "Joint values of the pose that the last bake from the present pose started from, as JSON",
        options={"HIDDEN"},
    )
    retime_mode: field(EnumProperty, "Timing", "How fast a retimed animation goes", items=RETIME_MODES)
    retime_duration: field(
        FloatProperty,
        "Duration",
        "How long a retimed animation takes",
        subtype="TIME_ABSOLUTE",
        default=5.0,
        min=0.0,
        soft_max=1000.0,
    )
    retime_jerk: field(
        BoolProperty,
        "Jerk",
        "Retime limits the jerks of the joints, too: accelerations are reached within a tenth of a second",
    )
    retime_power: field(
        FloatProperty, "Power W", "What each drive gives at most in a retimed animation [W]; 0: not limited", min=0.0
    )
    retime_tool_speed: field(
        FloatProperty,
        "Tool Speed",
        "How fast each tool is at most in a retimed animation; 0: not limited",
        unit="VELOCITY",
        min=0.0,
    )
    retime_tool_acceleration: field(
        FloatProperty,
        "Tool Acceleration",
        "How much each tool accelerates at most in a retimed animation; 0: not limited",
        unit="ACCELERATION",
        min=0.0,
    )
    retime_limits: bpy.props.CollectionProperty(
        override=LIST,
        type=RobokinFailure,
        name="Limits",
        description="Frames in which the same limit keeps the retimed animation from being faster",
    )
    retime_mark: bpy.props.StringProperty(override=VALUE, description=_MARK, options={"HIDDEN"})
    rewritten_mark: bpy.props.StringProperty(override=VALUE, description=_MARK, options={"HIDDEN"})
    avoid_collisions: field(
        BoolProperty,
        "Avoid Collisions",
        "Solve, Live and Bake keep links away from one another and from obstacles, before all tasks",
    )
    collision_margin: field(
        FloatProperty,
        "Margin",
        "No link comes nearer to another one or to an obstacle where collisions are avoided",
        subtype="DISTANCE",
        unit="LENGTH",
        default=0.005,
        min=0.0,
        soft_max=1.0,
        precision=4,
    )
    range: field(EnumProperty, "Range", "Which frames", items=RANGES)
    frame_start: field(IntProperty, "First", "First frame", default=1, subtype="TIME")
    frame_end: field(IntProperty, "Last", "Last frame", default=250, subtype="TIME")
    step: field(IntProperty, "Step", "Frames between two keys", default=1, min=1)
    new_action: field(BoolProperty, "New Action", "Write into a new action and keep the present one", default=False)
    markers: field(
        BoolProperty, "Timeline Markers", "Put a marker where a limit or a task begins to fail", default=True
    )
    efforts: field(
        BoolProperty,
        "Efforts",
        "Check, Retime and whole motions hold what the drives must give against their effort limits, too",
    )
    tipping: field(
        BoolProperty,
        "Tipping",
        "Check that the zero-moment point stays above what the robot stands on: the points of a Support task, or its "
        "feet",
    )
    dynamics_curves: field(
        EnumProperty,
        "Quantities",
        "What the panel shows of the present frame, and Key Dynamics writes as curves",
        items=DYNAMICS_CURVES,
        options={"ENUM_FLAG"},
        default=ALL_CURVES,
    )
    singularity: field(
        FloatProperty,
        "Singularity",
        "Check warns of frames in which the smallest singular value of a tool's Jacobian is less, with lengths "
        "counted in that of the arm; 0: it does not look",
        default=0.02,
        min=0.0,
        soft_max=0.2,
        precision=3,
        step=0.1,
    )
    rate: field(FloatProperty, "Rate", "Samples per second; 0 takes the scene's frame rate", min=0.0, soft_max=1000.0)
    format: field(EnumProperty, "Format", "File format of the motion", items=FORMATS)

    solve_mark: readout(StringProperty, "Solve Of", _MARK, options={"HIDDEN"})
    bake_mark: readout(StringProperty, "Bake Of", _MARK, options={"HIDDEN"})
    check_mark: readout(StringProperty, "Check Of", _MARK, options={"HIDDEN"})
    status: readout(StringProperty, "Status", "Status of the last solve")
    reason: readout(StringProperty, "Reason", "Why the last solve did not reach its targets")
    why: readout(StringProperty, "Why", "Joints and tasks that the last solve blames, as JSON", options={"HIDDEN"})
    bake_status: readout(StringProperty, "Bake", "Status of the last bake")
    bake_reason: readout(StringProperty, "Bake Reason", "Why frames of the last bake fail")
    bake_failures: bpy.props.CollectionProperty(
        override=LIST, type=RobokinFailure, name="Bake Failures", description="Frames of the last bake that are not met"
    )
    bake_stretch: readout(
        FloatProperty,
        "Bake Stretch",
        "How many times as long as its targets the motion of the last bake takes",
        default=1.0,
        options={"HIDDEN"},
    )
    check_summary: readout(StringProperty, "Check", "What the last check found")
    check_passed: readout(BoolProperty, "Passed", "The last check found nothing wrong")
    check_failures: bpy.props.CollectionProperty(
        override=LIST,
        type=RobokinFailure,
        name="Check Findings",
        description="Frames in which the last check found something",
    )
    check_markers: readout(StringProperty, "Check Markers", "The timeline markers of the last check, as JSON")


CLASSES = (RobokinFailure, RobokinSolverSettings)
