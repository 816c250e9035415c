"""Operators: read the context, call a function, write, report."""

from __future__ import annotations

from types import ModuleType

from . import (
    add_robot,
    bake,
    check,
    convert_rig,
    criteria,
    criterion_readouts,
    export_motion,
    export_urdf,
    hand_limits,
    helper_bones,
    import_table,
    import_urdf,
    inertia_from_mesh,
    joint_text,
    joints,
    keep_records,
    limits_from_arc,
    make_robot,
    posture,
    posture_list,
    reset_record,
    robot_text,
    shown_shapes,
    solve,
    srdf,
    tasks,
    unit_scale,
)

MODULES: tuple[ModuleType, ...] = (
    import_urdf,
    import_table,
    robot_text,
    add_robot,
    make_robot,
    convert_rig,
    hand_limits,
    helper_bones,
    reset_record,
    keep_records,
    limits_from_arc,
    joints,
    inertia_from_mesh,
    unit_scale,
    tasks,
    criteria,
    criterion_readouts,
    shown_shapes,
    posture,
    posture_list,
    joint_text,
    srdf,
    solve,
    bake,
    check,
    export_motion,
    export_urdf,
)


def register() -> None:
    for module in MODULES:
        module.register()


def unregister() -> None:
    for module in reversed(MODULES):
        module.unregister()
