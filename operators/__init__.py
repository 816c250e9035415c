"""Operators: read the context, call a function, write, report."""

from __future__ import annotations

from types import ModuleType

from ..properties.registration import register_modules_factory
from ..scene import obstacle_shapes, surroundings
from ..scene.tasks import shown_shapes
from . import live
from .files import (
    add_example,
    add_robot,
    export_motion,
    export_urdf,
    find_meshes,
    import_motion,
    import_table,
    import_urdf,
    robot_text,
    srdf,
)
from .handlers import (
    criterion_readouts,
    dynamics_readout,
    edited_frames,
    hand_limits,
    moves_preview,
    save_handler,
    scene_marks,
    select_link,
    shown_goals,
    shown_motion,
    task_readouts,
    unit_scale,
)
from .posture import all_postures, drag_joint, joint_text, next_target, posture, posture_list
from .robot import (
    collisions,
    convert_rig,
    drag_shape,
    duplicate_robot,
    helper_bones,
    inertia_from_mesh,
    joints,
    limits_from_arc,
    link_pairs,
    make_robot,
    reset_record,
    shapes,
)
from .solve import (
    bake,
    by_method,
    check,
    key_columns,
    moves,
    plan_path,
    reduce_keys,
    retime,
    slow_targets,
    smooth,
    solve,
    solve_again,
)
from .tasks import criteria, remedies, retarget, snap_targets, tasks
from .tools import blender_keys, grab_link, jog, toolbar, turn_joint

MODULES: tuple[ModuleType, ...] = (
    import_urdf,
    find_meshes,
    import_table,
    robot_text,
    add_example,
    add_robot,
    make_robot,
    duplicate_robot,
    select_link,
    convert_rig,
    hand_limits,
    helper_bones,
    reset_record,
    save_handler,
    limits_from_arc,
    joints,
    inertia_from_mesh,
    collisions,
    shapes,
    drag_shape,
    link_pairs,
    unit_scale,
    tasks,
    snap_targets,
    retarget,
    remedies,
    grab_link,
    turn_joint,
    jog,
    next_target,
    toolbar,
    blender_keys,
    criteria,
    criterion_readouts,
    scene_marks,
    task_readouts,
    shown_shapes,
    obstacle_shapes,
    surroundings,
    shown_goals,
    shown_motion,
    edited_frames,
    moves_preview,
    dynamics_readout,
    live,
    posture,
    posture_list,
    all_postures,
    joint_text,
    drag_joint,
    srdf,
    smooth,
    reduce_keys,
    retime,
    slow_targets,
    by_method,
    plan_path,
    moves,
    solve,
    bake,
    check,
    solve_again,
    key_columns,
    export_motion,
    import_motion,
    export_urdf,
)


register, unregister = register_modules_factory(MODULES)
