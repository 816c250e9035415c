"""What a robot prefers among the motions that its tasks leave free: `Object.robokin.criteria`."""

from __future__ import annotations

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty, StringProperty

from .overrides import field, readout, static_field

KINDS = (
    ("MINIMUM_VELOCITY", "Least Velocity", "Move the joints as little as possible", "MOD_TIME", 0),
    ("KINETIC_ENERGY", "Least Kinetic Energy", "Move the masses as little as possible", "MOD_PHYSICS", 1),
    ("SMOOTH", "Smooth", "Change the velocities as little as possible", "MOD_SMOOTH", 2),
    ("JOINT_SPRINGS", "Joint Springs", "Keep the joints near the middle of their ranges", "FORCE_HARMONIC", 3),
    ("REST_POSTURE", "Rest Posture", "Keep near a posture", "ARMATURE_DATA", 4),
    (
        "MANIPULABILITY",
        "Manipulability",
        "Keep far from poses in which the robot cannot move freely",
        "PIVOT_MEDIAN",
        5,
    ),
    (
        "SMALLEST_SINGULAR_VALUE",
        "Singularity Avoidance",
        "Keep the direction of motion that is hardest as easy as possible",
        "ORIENTATION_GIMBAL",
        6,
    ),
    ("GRAVITY_TORQUE", "Gravity Torque", "Hold the robot with as little torque as possible", "FORCE_FORCE", 7),
    ("DYNAMIC_TORQUE", "Motion Torque", "Move the robot with as little torque as possible", "FORCE_TURBULENCE", 8),
    (
        "FAR_FROM_OBSTACLES",
        "Away from Obstacles",
        "Keep links far from one another and from obstacles that are not animated",
        "MOD_EDGESPLIT",
        9,
    ),
)
POTENTIALS = (
    *("JOINT_SPRINGS", "REST_POSTURE", "MANIPULABILITY"),
    *("SMALLEST_SINGULAR_VALUE", "GRAVITY_TORQUE", "FAR_FROM_OBSTACLES"),
)
MODES = (
    ("PRIORITIES", "Priorities", "Tasks are met in the order of their priority; what is left free serves the criteria"),
    ("WEIGHTED", "Weighted", "All tasks count at once, by their weights; what is left free serves the criteria"),
    (
        "EXTENDED",
        "Repeatable",
        "Hold the criteria as they are at the start, so that closed tool paths close in the joints",
    ),
)


class RobokinCriterion(bpy.types.PropertyGroup):
    """One criterion. `name` (from PropertyGroup) labels it."""

    kind: static_field(EnumProperty, "Type", "What is preferred", items=KINDS)
    enabled: static_field(BoolProperty, "Enabled", "Take part in solving", default=True)
    weight: field(
        FloatProperty,
        "Weight",
        "How much the criterion counts against the others",
        default=1.0,
        min=0.0,
        soft_max=10.0,
    )
    gain: field(
        FloatProperty, "Gain 1/s", "How fast the cost is descended, per second", default=1.0, min=1e-6, soft_max=10.0
    )
    time: static_field(
        FloatProperty,
        "Time",
        "Time over which velocities change",
        default=0.1,
        min=1e-3,
        soft_max=2.0,
        unit="TIME_ABSOLUTE",
    )
    damping: static_field(
        FloatProperty,
        "Damping 1/s",
        "Damping of the motions that the tasks leave free, per second; 0: none",
        default=100.0,
        min=0.0,
        soft_max=500.0,
    )
    distance: static_field(
        FloatProperty,
        "Distance",
        "Links that are nearer than this to one another or to an obstacle are moved apart",
        default=0.1,
        min=1e-4,
        soft_max=1.0,
        subtype="DISTANCE",
        unit="LENGTH",
    )
    posture: static_field(
        StringProperty, "Posture", "Name of the stored posture to keep near; empty: every joint at zero"
    )
    cost: readout(FloatProperty, "Cost", "Cost of the motion, as the last bake keyed it", precision=5)
    slope: readout(
        FloatProperty,
        "Slope",
        "How steeply the cost rises, as the last bake keyed it: the length of its gradient, per radian or "
        "robot size, of what costs velocities per second",
        precision=5,
    )


CLASSES = (RobokinCriterion,)
