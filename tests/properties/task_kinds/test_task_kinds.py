"""Every kind of task in Blender: Solve Pose meets it, as the matrices show that Blender itself gives of the bones."""

from __future__ import annotations

import bpy
import numpy as np
import pytest
from mathutils import Euler, Matrix, Vector
from mathutils.bvhtree import BVHTree
from robokin_addon.properties.bridge import binding, read_configuration, robot_model, write_configuration
from robokin_addon.robokin import forward_kinematics
from robokin_addon.solvers import Singularities, tool_at
from support.blender.rigs import add_rig
from support.blender.scene_robots import add_empty, add_robot, placed
from support.blender.scene_tasks import (
    add,
    angle,
    ball,
    bezier,
    distance_to_curve,
    head,
    mesh_object,
    place,
    shown,
    solve,
    world,
)

ELBOW = "panda_joint4"
NEAR = 3e-4  # in Blender units of a robot at twice its size, whose tasks have a tolerance of 1e-4
TURNED = 2e-3


@pytest.fixture
def robot(scene):
    """A Panda that is turned, moved and shown at twice its size."""
    return placed(add_robot(), (1, -2, 0.5), (0.2, -0.1, 0.7), 2.0)


@pytest.mark.parametrize("axis", ["X", "-Y", "Z"])
def test_aim(robot, axis):
    goal = place(robot, (0.9, 0.5, 0.3))
    add(robot, "AIM", goal, axis=axis)
    solve(robot)
    T = shown(robot)
    a = T[:3, "XYZ".index(axis[-1])] * (-1 if axis[0] == "-" else 1)
    assert angle(a, world(goal)[:3, 3] - T[:3, 3]) < TURNED


@pytest.mark.parametrize("side", ["ON", "ABOVE", "BELOW"])
def test_plane(robot, side):
    goal = place(robot, (0.4, 0.2, 0.9 if side == "ABOVE" else 0.3), (0.3, 0.2, 0.0))
    add(robot, "PLANE", goal, side=side)
    start = head(robot)
    solve(robot)
    T = world(goal)
    height = T[:3, 2] @ (np.array(head(robot)) - T[:3, 3])
    assert abs(height) < NEAR
    assert abs(T[:3, 2] @ (np.array(start) - T[:3, 3])) > 0.02  # it had to move


def test_line_with_a_band(robot):
    goal = place(robot, (0.5, 0.3, 0.2), (0.4, 0.5, 0.6))
    task = add(robot, "LINE", goal)

    def away():
        T = world(goal)
        return np.linalg.norm(np.cross(T[:3, 2], np.array(head(robot)) - T[:3, 3]))

    solve(robot)
    assert away() < NEAR
    bpy.ops.robokin.reset_pose()
    task.position_band = 0.1
    solve(robot)
    assert 0.05 < away() < 0.1 + NEAR


@pytest.mark.parametrize(("closed", "thickness"), [(False, {}), (True, {"bevel_depth": 0.02, "extrude": 0.1})])
def test_curve(robot, closed, thickness):
    path = bezier(robot, (0.5, 0.1, 0.5), closed, **thickness)
    kept = len(bpy.data.curves), len(bpy.data.objects)
    add(robot, "CURVE", path)
    assert distance_to_curve(path, head(robot)) > 0.01
    solve(robot)
    assert distance_to_curve(path, head(robot)) < NEAR
    assert kept == (len(bpy.data.curves), len(bpy.data.objects))


@pytest.mark.parametrize("closed", [False, True])
def test_curve_with_modifiers(robot, closed):
    """A hook takes the whole curve along with an empty."""
    path, empty = bezier(robot, (0.7, 0.3, 0.3), closed), add_empty("empty")
    hook = path.modifiers.new("hook", "HOOK")
    hook.object = empty
    hook.vertex_indices_set(range(3 * len(path.data.splines[0].bezier_points)))
    empty.location = moved = Vector((-0.3, -0.4, 0.5))
    bpy.context.view_layer.update()
    add(robot, "CURVE", path)
    assert distance_to_curve(path, head(robot) - moved) > 0.01
    solve(robot)
    assert distance_to_curve(path, head(robot) - moved) < NEAR < distance_to_curve(path, head(robot))


@pytest.mark.parametrize(("relation", "distance"), [("EQUAL", 0.3), ("INSIDE", 0.2), ("OUTSIDE", 1.0)])
def test_distance_to_an_object(robot, relation, distance):
    goal = place(robot, (0.3, 0.3, 0.6))
    add(robot, "DISTANCE", goal, relation=relation, distance=distance)
    solve(robot)
    found = (head(robot) - goal.matrix_world.translation).length
    assert found < distance + NEAR or relation == "OUTSIDE"
    assert found > distance - NEAR or relation == "INSIDE"


def test_distance_to_a_bone_and_from_the_pose(robot):
    task = add(robot, "DISTANCE", other="panda_joint2")
    assert task.distance == pytest.approx((head(robot) - head(robot, "panda_joint2")).length, abs=1e-5)
    task.distance *= 0.6
    solve(robot)
    assert (head(robot) - head(robot, "panda_joint2")).length == pytest.approx(task.distance, abs=NEAR)


def test_laser_on_the_plane_of_the_target(robot):
    goal = place(robot, (0.55, 0.25, 0.05), (0.2, 0.3, 0.0))
    add(robot, "LASER", goal, axis="Z")
    solve(robot)
    T, plane = shown(robot), world(goal)
    t = plane[:3, 2] @ (plane[:3, 3] - T[:3, 3]) / (plane[:3, 2] @ T[:3, 2])
    assert t > 0 and np.linalg.norm(T[:3, 3] + t * T[:3, 2] - plane[:3, 3]) < NEAR


def test_laser_on_a_mesh(robot):
    surface = ball(robot, (0.7, 0.1, 0.2), 0.2)
    tree = BVHTree.FromPolygons(
        [surface.matrix_world @ v.co for v in surface.data.vertices], [p.vertices for p in surface.data.polygons]
    )
    spot, *_ = tree.find_nearest(head(robot) + Vector((0.0, 0.05, 0.0)))
    goal = add_empty("spot")
    goal.location = spot
    add(robot, "LASER", goal, axis="Z", surface=surface)
    solve(robot)
    T = shown(robot)
    hit, *_ = tree.ray_cast(Vector(T[:3, 3]), Vector(T[:3, 2]))
    assert (hit - spot).length < NEAR


def test_relative_pose_as_it_was(robot):
    """The hand keeps its pose in the elbow's frame while a position task moves the arm."""
    before = np.linalg.inv(shown(robot, ELBOW)) @ shown(robot)
    task = add(robot, "RELATIVE", other=ELBOW)
    np.testing.assert_allclose(np.array(task.location), before[:3, 3], atol=1e-5)
    goal = add_empty("up")
    goal.location = head(robot) + Vector((0.05, 0.1, 0.15))
    add(robot, "POSITION", goal)
    solve(robot)
    after = np.linalg.inv(shown(robot, ELBOW)) @ shown(robot)
    np.testing.assert_allclose(after, before, atol=TURNED)
    assert (head(robot) - goal.location).length < NEAR


def test_pin_holds_while_the_elbow_moves(robot):
    add(robot, "PIN", use_rotation=(False, False, False))
    start, elbow = head(robot), head(robot, ELBOW)
    goal = add_empty("elbow")
    # Somewhere on the circle that the elbow can go round.
    axis = (start - head(robot, "panda_joint2")).normalized()
    arm = elbow - head(robot, "panda_joint2")
    goal.location = head(robot, "panda_joint2") + Matrix.Rotation(0.3, 3, axis) @ arm
    add(robot, "POSITION", goal, tip=ELBOW, position_tolerance=1e-3)
    solve(robot)
    assert (head(robot) - start).length < NEAR
    assert (head(robot, ELBOW) - elbow).length > 0.05


def test_advance_along_the_axis_of_the_tip(robot):
    before = shown(robot)
    task = add(robot, "ADVANCE", frame="TIP")
    assert tuple(task.location) == (0, 0, 0)
    task.location = (0.0, 0.0, 0.1)
    solve(robot)
    moved = shown(robot)[:3, 3] - before[:3, 3]
    np.testing.assert_allclose(moved, 0.1 * before[:3, 2], atol=NEAR)


def test_away_from_singularities(robot):
    """Nearly stretched, it bends its elbow for a task that asks for nothing else."""
    model = robot_model(robot)
    tip = Singularities(tool_at(model, "panda_hand_tcp"))
    q = read_configuration(robot)
    q[:7] = 0.0, 0.1, 0.0, -0.15, 0.0, 1.6, 0.8
    write_configuration(robot, q)
    assert tip.over(q[None])[0] < 0.07
    task = add(robot, "SINGULAR_VALUE")
    assert task.singular_value == pytest.approx(0.05)
    task.singular_value = 0.12
    solve(robot)
    assert tip.over(read_configuration(robot)[None])[0] > 0.12 - 0.006


def test_loop_closure_of_two_fingers(scene):
    """A four-bar linkage: two chains of bones from one base, joined where their last bones begin."""
    bones = [
        ("base", None, (0, -0.1, 0), (0, 0, 0)),
        ("a", "base", (0, 0, 0), (0, 1, 0)),
        ("b", "a", (0, 1, 0), (1, 1, 0)),
        ("end", "b", (1, 1, 0), (1, 1.2, 0)),
        ("c", "base", (1, 0, 0), (1, 1, 0)),
        ("end2", "c", (1, 1, 0), (1, 1.2, 0)),
    ]
    obj = add_rig(bones)
    for bone in obj.pose.bones:
        hinge = bone.name in "abc"
        bone.lock_ik_x, bone.lock_ik_y, bone.lock_ik_z = True, True, not hinge
    bpy.context.view_layer.objects.active = obj
    assert bpy.ops.robokin.make_robot() == {"FINISHED"}
    joints = {joint.name: joint for joint in binding(obj).model.joints}
    assert [name for name, joint in joints.items() if joint.nv] == ["a", "b", "c"], joints
    assert bpy.ops.robokin.task_add(kind="LOOP", tip="end", other="end2") == {"FINISHED"}
    loop = obj.robokin.tasks[-1]
    loop.use_rotation = (False, False, False)
    loop.influence = 0.0  # which it has not
    assert bpy.ops.robokin.task_add(kind="JOINT", tip="a") == {"FINISHED"}
    obj.robokin.tasks[-1].rotation[0] = 0.6
    solve(obj)
    ends = [obj.pose.bones[name].head for name in ("end", "end2")]
    assert (ends[0] - ends[1]).length < NEAR
    assert (ends[0] - Vector((1, 1, 0))).length > 0.3
    assert obj.robokin.tasks[0].solved


def test_center_of_mass(robot):
    goal = place(robot, (0.15, 0.1, 0.35))
    add(robot, "CENTER_OF_MASS", goal, use_location=(True, True, False))
    solve(robot)
    center = robokin_center(robot)
    wanted = np.array(robot.matrix_world.inverted() @ goal.matrix_world.translation)
    np.testing.assert_allclose(center[:2], wanted[:2], atol=NEAR)
    assert abs(center[2] - wanted[2]) > 0.01


@pytest.mark.parametrize("margin", [0.0, 0.03])
def test_support(robot, margin):
    """Of a robot that leans: up is the world's Z."""
    mesh = bpy.data.meshes.new("foot")
    mesh.from_pydata([(-0.1, -0.1, 0), (0.15, -0.1, 0.3), (0.1, 0.1, 0), (-0.1, 0.15, 0), (0, 0, 0.1)], [], [])
    foot = mesh_object("foot", mesh)
    foot.matrix_world = robot.matrix_world @ Matrix.Translation((-0.2, 0.1, 0.0))
    foot.scale = (1.5, 1.0, 1.0)
    bpy.context.view_layer.update()
    add(robot, "SUPPORT", foot, margin=margin)
    solve(robot)
    x, y, _ = robot.matrix_world @ Vector(robokin_center(robot))
    corners = [foot.matrix_world @ vertex.co for vertex in foot.data.vertices[:4]]
    for a, b in zip(corners, corners[1:] + corners[:1], strict=True):
        edge = np.array((b - a).xy)
        inside = (edge[0] * (y - a.y) - edge[1] * (x - a.x)) / np.linalg.norm(edge)
        assert inside > margin - NEAR


def robokin_center(robot):
    model = robot_model(robot)
    frames = forward_kinematics(model, read_configuration(robot))
    return sum(link.mass * (frames[link.name] @ [*link.com, 1.0])[:3] for link in model.links) / model.total_mass


def test_posture(robot):
    wanted = read_configuration(robot)
    bpy.ops.robokin.store_posture(name="there")
    bpy.ops.robokin.reset_pose()
    assert abs(read_configuration(robot) - wanted).max() > 0.5
    add(robot, "POSTURE", posture="there")
    solve(robot)
    np.testing.assert_allclose(read_configuration(robot), wanted, atol=1e-3)


def test_joint_values_of_every_type(scene):
    """A bone's own channels show the value that its task asks for."""
    obj = add_robot()
    add(obj, "JOINT", tip="panda_joint4")
    task = obj.robokin.tasks[-1]
    assert task.rotation[0] == pytest.approx(-2.0, abs=1e-5)
    task.rotation[0] = -1.2
    add(obj, "JOINT", tip="panda_finger_joint1").location[0] = 0.03
    solve(obj)
    assert obj.pose.bones["panda_joint4"].rotation_euler.y == pytest.approx(-1.2, abs=2e-3)
    assert obj.pose.bones["panda_finger_joint1"].location.length == pytest.approx(0.03, abs=2e-4)
    task.tip = "panda_joint8"
    with pytest.raises(RuntimeError, match="'link8': the joint of bone 'panda_joint8' is fixed"):
        bpy.ops.robokin.solve_pose()


def test_a_ball_takes_the_rotation_of_its_task(scene):
    obj = add_rig([("upper", None, (0, 0, 0), (0, 0, 1)), ("lower", "upper", (0, 0, 1), (0, 0, 2))])
    assert bpy.ops.robokin.make_robot(unlocked="BALL") == {"FINISHED"}
    add(obj, "JOINT", tip="lower").rotation = (0.4, -0.3, 0.2)
    solve(obj)
    shown_turn = obj.pose.bones["lower"].matrix_basis.to_quaternion()
    assert shown_turn.rotation_difference(Euler((0.4, -0.3, 0.2)).to_quaternion()).angle < TURNED
