"""Convert Rig: IK and iTaSC constraints become tasks; Blender's own solver is the oracle of what they asked for."""

from __future__ import annotations

import math

import bpy
import numpy as np
import pytest
from robokin_addon.properties.bridge import is_robot, robot_model
from robokin_addon.scene.animation.frames import fcurves
from support.blender.rigs import ARM, HUMANOID, add_rig, disagreement
from support.blender.scene_robots import add_empty

LEG = [
    ("hip", None, (0, 0, 2), (0, 0, 1.9)),
    ("thigh", "hip", (0, 0, 1.9), (0, -0.05, 1)),
    ("shin", "thigh", (0, -0.05, 1), (0, 0, 0.1)),
    ("foot", "shin", (0, 0, 0.1), (0, -0.2, 0)),
]


def convert(**settings: object) -> None:
    assert bpy.ops.robokin.convert_rig(**settings) == {"FINISHED"}


def add_ik(obj: bpy.types.Object, bone: str, target: bpy.types.Object | None, **settings: object):
    constraint = obj.pose.bones[bone].constraints.new("IK")
    constraint.target = target
    for name, value in settings.items():
        setattr(constraint, name, value)
    return constraint


def tail(obj: bpy.types.Object, bone: str):
    bpy.context.view_layer.update()
    return obj.matrix_world @ obj.pose.bones[bone].tail


@pytest.mark.parametrize(("bone", "use_tail"), [("hand", True), ("hand", False), ("lower", True)])
def test_the_tip_goes_where_blenders_solver_put_it(scene, bone, use_tail):
    obj = add_rig(ARM)
    obj.location, obj.rotation_euler = (1, -2, 0.5), (0.1, 0.2, 0.3)
    target = add_empty("goal")
    add_ik(obj, bone, target, use_tail=use_tail, iterations=500)
    bpy.context.view_layer.update()
    target.location = obj.matrix_world @ type(obj.location)((0.25, -0.5, 0.75))
    bpy.context.view_layer.update()
    end = "tail" if use_tail else "head"
    by_blender = obj.matrix_world @ getattr(obj.pose.bones[bone], end)
    assert (by_blender - target.location).length < 1e-3
    convert()
    bpy.context.view_layer.update()
    assert not obj.pose.bones[bone].constraints["IK"].enabled
    assert (obj.matrix_world @ getattr(obj.pose.bones[bone], end) - by_blender).length < 1e-5  # the pose is kept
    obj.robokin.live = False
    assert bpy.ops.robokin.reset_pose() == {"FINISHED"}
    bpy.context.view_layer.update()
    assert (obj.matrix_world @ getattr(obj.pose.bones[bone], end) - target.location).length > 0.1
    assert bpy.ops.robokin.solve_pose() == {"FINISHED"}
    assert obj.robokin.solver.status == "CONVERGED"
    bpy.context.view_layer.update()
    assert (obj.matrix_world @ getattr(obj.pose.bones[bone], end) - target.location).length < 2e-4
    assert disagreement(obj) < 1e-5


@pytest.mark.parametrize("solver", ["LEGACY", "ITASC"])
def test_a_target_that_is_followed_in_rotation_is_a_pose(scene, solver):
    obj = add_rig(ARM)
    obj.pose.ik_solver = solver
    target = add_empty("goal")
    target.location, target.rotation_euler = (0.2, -0.6, 1.2), (0.9, 0.3, -0.4)
    add_ik(obj, "hand", target, use_rotation=True, iterations=500)
    bpy.context.view_layer.update()
    by_blender = np.array((obj.matrix_world @ obj.pose.bones["hand"].matrix).to_3x3())
    wanted = np.array(target.matrix_world.to_3x3())
    if solver == "LEGACY":
        assert abs(by_blender - wanted).max() < 1e-2  # what Blender's solver asks for is the target's own rotation
    convert()
    (task,) = obj.robokin.tasks
    assert (task.kind, task.tip, task.target) == ("POSE", "tip.hand", target)
    assert bpy.ops.robokin.solve_pose() == {"FINISHED"}
    assert obj.robokin.solver.status == "CONVERGED"
    bpy.context.view_layer.update()
    shown = np.array((obj.matrix_world @ obj.pose.bones["hand"].matrix).to_3x3())
    assert abs(shown - wanted).max() < 2e-3
    assert (tail(obj, "hand") - target.location).length < 2e-4


def test_the_rotation_that_is_followed_is_that_of_the_bone_itself(scene):
    """Not that of the bone that begins where it ends."""
    obj = add_rig(ARM)
    target = add_empty("goal")
    target.location, target.rotation_euler = (0.2, -0.6, 1.2), (0.9, 0.3, -0.4)
    add_ik(obj, "lower", target, use_rotation=True)
    convert()
    assert obj.robokin.tasks[0].tip == "tip.lower"
    lower = obj.pose.bones["lower"]
    tip = obj.pose.bones["tip.lower"]
    assert (tip.head - lower.tail).length < 1e-6
    assert abs(np.array(tip.matrix.to_3x3()) - np.array(lower.matrix.to_3x3())).max() < 1e-6


def test_locks_limits_and_stiffness_become_those_of_joints(scene):
    obj = add_rig(LEG)
    shin, thigh = obj.pose.bones["shin"], obj.pose.bones["thigh"]
    shin.lock_ik_y = shin.lock_ik_z = True
    shin.use_ik_limit_x, shin.ik_min_x, shin.ik_max_x = True, 0.0, math.radians(150)
    thigh.ik_stiffness_x = thigh.ik_stiffness_y = thigh.ik_stiffness_z = 0.5
    target = add_empty("goal")
    target.location = (0, -0.5, 0.5)
    add_ik(obj, "shin", target, chain_count=2)
    convert()
    model = robot_model(obj)
    knee = model.joint("shin")
    assert (knee.type, knee.lower[0], knee.upper[0]) == ("revolute", 0.0, math.radians(150))
    assert model.joint("thigh").type == "spherical" and model.joint("thigh").stiffness == 2.0
    assert model.root == "fixed" and model.joints[0].child == "hip"  # the chain ends below it
    assert bpy.ops.robokin.solve_pose() == {"FINISHED"}
    assert obj.robokin.solver.status == "CONVERGED"
    assert (tail(obj, "shin") - target.location).length < 2e-4
    assert obj.robokin.tasks[0].tip == "foot"  # it begins where the shin ends
    assert disagreement(obj) < 1e-5


def test_what_tasks_cannot_say_is_listed_by_bone_and_constraint(scene, capfd):
    obj = add_rig(LEG)
    goal, pole = add_empty("goal"), add_empty("pole")
    goal.location, pole.location = (0, -0.5, 0.5), (0, -3, 1)
    ik = add_ik(obj, "shin", goal, chain_count=2, pole_target=pole, use_stretch=True)
    obj.pose.bones["thigh"].ik_stretch = 0.1
    follow = obj.pose.bones["foot"].constraints.new("STRETCH_TO")
    follow.target = goal
    outside = obj.pose.bones["hip"].constraints.new("LIMIT_ROTATION")  # of world space
    muted = obj.pose.bones["hip"].constraints.new("TRACK_TO")
    muted.mute = True
    add_ik(obj, "foot", None).name = "nothing"
    convert()
    out = capfd.readouterr().out
    start = "could not be converted: bone "
    for words in (
        "'shin', constraint 'IK': stretch",
        "'foot', constraint 'Stretch To': stretching (Stretch To)",
        "'foot', constraint 'nothing': no target",
        "'hip', constraint 'Limit Rotation': no bound",
    ):
        assert f"{start}{words}" in out, words
    assert "Track To" not in out
    assert ik.mute and follow.mute and outside.mute
    assert "pole" not in out and "chain length" not in out
    assert [(task.kind, task.tip) for task in obj.robokin.tasks] == [
        ("POSITION", "foot"),
        ("POSITION", "shin"),
        ("POSE", "hip"),  # which the chain leaves alone
        ("ORIENTATION", "foot"),
    ]


def test_weights_axes_and_distances_of_itasc(scene, capfd):
    obj = add_rig(ARM)
    obj.pose.ik_solver = "ITASC"
    goal = add_empty("goal")
    add_ik(obj, "hand", goal, ik_type="COPY_POSE", use_rotation=True, lock_rotation_y=False, lock_location_x=False,
           weight=0.5, orient_weight=0.25, influence=0.75, reference_axis="BONE")  # fmt: skip
    for mode, distance in (("LIMITDIST_INSIDE", 0.5), ("LIMITDIST_OUTSIDE", 0.25), ("LIMITDIST_ONSURFACE", 2.0)):
        add_ik(obj, "lower", goal, ik_type="DISTANCE", limit_mode=mode, distance=distance)
    convert()
    *distances, task = obj.robokin.tasks
    assert (task.kind, task.frame) == ("POSE", "TIP")
    assert task.use_location[:] == (False, True, True) and task.use_rotation[:] == (True, False, True)
    assert (task.position_weight, task.orientation_weight, task.influence) == (0.5, 0.25, 0.75)
    assert [(d.kind, d.relation, d.distance, d.target) for d in distances] == [
        ("DISTANCE", "INSIDE", 0.5, goal),
        ("DISTANCE", "OUTSIDE", 0.25, goal),
        ("DISTANCE", "EQUAL", 2.0, goal),
    ]
    assert {obj.pose.bones[d.tip].parent.name for d in distances} == {"lower"}
    assert "could not be converted" not in capfd.readouterr().out


def test_a_control_bone_of_the_same_armature_steers_from_outside(scene, capfd):
    """The usual rig: targets and poles are bones of the same armature. Their keys go on moving the robot."""
    controls = [("ik", None, (0, 0, 0.1), (0, 0.3, 0.1)), ("pole", None, (0, -2, 1), (0, -2.2, 1))]
    obj = add_rig([*LEG, *controls])
    add_ik(obj, "shin", obj, subtarget="ik", pole_target=obj, pole_subtarget="pole", chain_count=2)
    turned = obj.pose.bones["foot"].constraints.new("COPY_ROTATION")  # another one that aims at the control bone
    turned.target, turned.subtarget, turned.influence = obj, "ik", 0.0
    control = obj.pose.bones["ik"]
    for frame, place in ((1, (0, 0, 0)), (11, (0.2, 0.3, 0.4))):
        control.location = place
        control.keyframe_insert("location", frame=frame)
    scene.frame_set(11)
    before = tail(obj, "shin").copy()
    convert()
    model = robot_model(obj)
    assert {j.child for j in model.joints} == {"hip", "thigh", "shin", "foot"}
    task, knee, copied = obj.robokin.tasks
    assert (knee.kind, knee.tip, knee.priority) == ("POSITION", "shin", 2)
    assert (copied.kind, copied.influence) == ("ORIENTATION", 0.0)
    assert (task.target, task.subtarget) == (obj, "ik")
    assert bpy.ops.robokin.bake(frame_start=1, frame_end=11) == {"FINISHED"}
    assert obj.robokin.solver.bake_status == "CONVERGED", obj.robokin.solver.bake_reason
    for frame in (1, 6, 11):
        scene.frame_set(frame)
        assert (tail(obj, "shin") - obj.matrix_world @ control.head).length < 2e-4
    assert (tail(obj, "shin") - before).length < 1e-2  # where Blender's own solver had it


def test_a_target_that_hangs_on_the_robot_is_reported(scene, capfd):
    obj = add_rig([*LEG, ("ik", "thigh", (0, -0.3, 1), (0, -0.4, 1))])
    add_ik(obj, "foot", obj, subtarget="ik", chain_count=2)
    objects = len(bpy.data.objects)
    convert()
    assert "bone 'foot', constraint 'IK': its target 'ik' hangs on the robot" in capfd.readouterr().out
    assert not obj.robokin.tasks and len(bpy.data.objects) == objects


def test_animated_influence_goes_on(scene):
    obj = add_rig(ARM)
    goal = add_empty("goal")
    goal.location = (0.2, -0.5, 1.5)
    ik = add_ik(obj, "hand", goal)
    for frame, value in ((1, 0.0), (10, 1.0)):
        ik.influence = value
        ik.keyframe_insert("influence", frame=frame)
    convert()
    assert {curve.data_path for curve in fcurves(obj).values()} == {"robokin.tasks[0].influence"}
    scene.frame_set(10)
    assert obj.robokin.tasks[0].influence == 1.0


def test_a_robot_that_was_given_constraints_is_converted_too(scene):
    obj = add_rig(ARM)
    assert bpy.ops.robokin.make_robot(unlocked="BALL") == {"FINISHED"}
    goal = add_empty("goal")
    goal.location = (0.2, -0.5, 1.5)
    add_ik(obj, "hand", goal)
    joints = len(robot_model_without_constraints(obj).joints)
    convert()
    assert len(robot_model(obj).joints) == joints + 1  # the tip
    assert bpy.ops.robokin.solve_pose() == {"FINISHED"}
    assert (tail(obj, "hand") - goal.location).length < 2e-4


def robot_model_without_constraints(obj):
    constraint = obj.pose.bones["hand"].constraints["IK"]
    constraint.mute = True
    model = robot_model(obj)
    constraint.mute = False
    return model


def test_a_humanoid_with_four_limbs_in_one_undo_step(scene):
    obj = add_rig(HUMANOID)
    for side, sign in (("L", 1.0), ("R", -1.0)):
        for bone, place in (("forearm", (0.5 * sign, -0.2, 1.5)), ("shin", (0.15 * sign, -0.3, 0.3))):
            goal = add_empty(f"{bone}.{side} goal")
            goal.location = place
            add_ik(obj, f"{bone}.{side}", goal, chain_count=2)
    bpy.ops.ed.undo_push(message="before")
    assert bpy.ops.robokin.convert_rig("EXEC_DEFAULT", True) == {"FINISHED"}
    obj = bpy.data.objects["rig"]
    assert len(obj.robokin.tasks) == 6 and robot_model(obj).root == "fixed"
    assert bpy.ops.robokin.solve_pose() == {"FINISHED"}
    assert obj.robokin.solver.status == "CONVERGED", obj.robokin.solver.reason
    for side in "LR":
        for bone in ("forearm", "shin"):
            assert (tail(obj, f"{bone}.{side}") - bpy.data.objects[f"{bone}.{side} goal"].location).length < 2e-4
    bpy.ops.ed.undo()
    obj = bpy.data.objects["rig"]
    assert not is_robot(obj) and not obj.robokin.tasks
    assert all(c.enabled for bone in obj.pose.bones for c in bone.constraints)


def test_a_refused_rig_is_left_alone(scene):
    obj = add_rig(ARM)
    goal = add_empty("goal")
    ik = add_ik(obj, "hand", goal)
    obj.scale = (1, 2, 1)
    bpy.context.view_layer.update()
    with pytest.raises(RuntimeError, match="apply it first"):
        bpy.ops.robokin.convert_rig()
    assert ik.enabled and not is_robot(obj) and len(obj.data.bones) == 3 and not obj.robokin.tasks
