"""Every kind of task in Blender: Solve Pose meets it, as the matrices show that Blender itself gives of the bones."""

from __future__ import annotations

import math
from itertools import pairwise

import bpy
import numpy as np
import pytest
from mathutils import Euler, Matrix, Vector
from mathutils.bvhtree import BVHTree
from mathutils.geometry import interpolate_bezier
from robokin_addon.operators.task_forms import FORMS
from robokin_addon.properties import readouts
from robokin_addon.properties.bridge import binding, read_configuration, robot_model
from robokin_addon.properties.task_kinds import KINDS
from robokin_addon.robokin import forward_kinematics

from tests.support.rigs import add_rig
from tests.support.scene_robots import add_empty, add_robot

HAND, ELBOW, WRIST = "panda_hand_tcp_joint", "panda_joint4", "panda_joint6"
NEAR = 3e-4  # in Blender units of a robot at twice its size, whose tasks have a tolerance of 1e-4
TURNED = 2e-3


@pytest.fixture
def robot(scene):
    """A Panda that is turned, moved and shown at twice its size."""
    obj = add_robot()
    obj.location, obj.rotation_euler, obj.scale = (1, -2, 0.5), (0.2, -0.1, 0.7), (2, 2, 2)
    bpy.context.view_layer.update()
    return obj


def add(robot, kind, target=None, tip=HAND, **settings):
    assert bpy.ops.robokin.task_add(kind=kind, tip=tip, other=settings.pop("other", "")) == {"FINISHED"}
    task = robot.robokin.tasks[-1]
    task.use_target, task.target = target is not None, target
    for name, value in settings.items():
        setattr(task, name, value)
    return task


def place(robot, at, turn=(0.0, 0.0, 0.0), name="goal"):
    """An empty at a place in the robot's own space."""
    empty = add_empty(name)
    empty.matrix_world = robot.matrix_world @ Matrix.LocRotScale(Vector(at), None, None)
    empty.rotation_euler, empty.scale = turn, (1, 1, 1)
    bpy.context.view_layer.update()
    return empty


def solve(robot, status="CONVERGED"):
    assert bpy.ops.robokin.solve_pose() == {"FINISHED"}
    assert robot.robokin.solver.status == status, robot.robokin.solver.reason
    assert all(task.reached == (status == "CONVERGED") for task in robot.robokin.tasks if task.solved)
    bpy.context.view_layer.update()


def shown(robot, bone=HAND):
    """(4, 4) of a bone's link as Blender shows it in the world, without scale."""
    own = binding(robot)
    T = np.array(robot.matrix_world @ robot.pose.bones[bone].matrix, float)
    T[:3, :3] = T[:3, :3] / np.cbrt(np.linalg.det(T[:3, :3])) @ own.frames[own.bones.index(bone)].T
    return T


def head(robot, bone=HAND):
    return Vector(shown(robot, bone)[:3, 3])


def world(obj):
    return np.array(obj.matrix_world, float)


def angle(a, b):
    return math.acos(np.clip(a @ b / np.linalg.norm(a) / np.linalg.norm(b), -1, 1))


def mesh_object(name, mesh):
    obj = bpy.data.objects.new(name, mesh)
    bpy.context.scene.collection.objects.link(obj)
    return obj


def ball(robot, at, radius):
    import bmesh  # which comes with bpy

    mesh, geometry = bpy.data.meshes.new("ball"), bmesh.new()
    bmesh.ops.create_icosphere(geometry, subdivisions=3, radius=radius)
    geometry.to_mesh(mesh)
    geometry.free()
    obj = mesh_object("ball", mesh)
    obj.location, obj.scale, obj.rotation_euler = robot.matrix_world @ Vector(at), (1.5, 1.0, 0.8), (0.1, 0.5, 0.9)
    bpy.context.view_layer.update()
    return obj


def bezier(robot, at, closed=False, **thickness):
    data = bpy.data.curves.new("path", "CURVE")
    data.dimensions = "3D"
    for name, value in thickness.items():
        setattr(data, name, value)
    spline = data.splines.new("BEZIER")
    spline.bezier_points.add(3)
    for i, point in enumerate(spline.bezier_points):
        point.co = (0.2 * math.cos(i * math.pi / 2), 0.3 * math.sin(i * math.pi / 2), 0.05 * i)
        point.handle_left_type = point.handle_right_type = "AUTO"
    spline.use_cyclic_u = closed
    obj = mesh_object("path", data)
    obj.location, obj.rotation_euler, obj.scale = robot.matrix_world @ Vector(at), (0.3, 0.2, 0.1), (1.0, 2.0, 0.5)
    bpy.context.view_layer.update()
    return obj


def distance_to_curve(curve, p):
    """From Blender's own points of the Bézier curve."""
    spline = curve.data.splines[0]
    points = list(spline.bezier_points)
    pairs = zip(points, points[1:] + points[:1] if spline.use_cyclic_u else points[1:], strict=False)
    nearest = []
    for a, b in pairs:
        samples = interpolate_bezier(a.co, a.handle_right, b.handle_left, b.co, spline.resolution_u + 1)
        places = [curve.matrix_world @ sample for sample in samples]
        for start, end in pairwise(places):
            along = end - start
            share = min(max((p - start).dot(along) / along.length_squared, 0.0), 1.0)
            nearest.append((start + share * along - p).length)
    return min(nearest)


def test_there_is_a_form_of_every_kind_and_numbers_stay():
    assert set(FORMS) == set(KINDS)
    numbers = [kind.number for kind in KINDS.values()]
    assert len(set(numbers)) == len(numbers)
    saved = ("POSE", "POSITION", "ORIENTATION", "AXIS", "AIM", "PLANE", "LINE", "CURVE", "DISTANCE", "LASER")
    saved += ("RELATIVE", "PIN", "LOOP", "CENTER_OF_MASS", "SUPPORT", "POSTURE", "JOINT", "ALONG_CURVE", "TWIST")
    assert [KINDS[kind].number for kind in (*saved, "JOINT_VELOCITY", "ADVANCE", "LINEAR_VELOCITY")] == list(range(22))


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
    with pytest.raises(RuntimeError, match="'panda_link4': the joint of bone 'panda_joint8' is fixed"):
        bpy.ops.robokin.solve_pose()


def test_a_ball_takes_the_rotation_of_its_task(scene):
    obj = add_rig([("upper", None, (0, 0, 0), (0, 0, 1)), ("lower", "upper", (0, 0, 1), (0, 0, 2))])
    assert bpy.ops.robokin.make_robot(unlocked="BALL") == {"FINISHED"}
    add(obj, "JOINT", tip="lower").rotation = (0.4, -0.3, 0.2)
    solve(obj)
    shown_turn = obj.pose.bones["lower"].matrix_basis.to_quaternion()
    assert shown_turn.rotation_difference(Euler((0.4, -0.3, 0.2)).to_quaternion()).angle < TURNED


@pytest.mark.parametrize("kind", [kind for kind in KINDS if KINDS[kind].is_velocity])
def test_velocities_are_left_out_of_a_pose_and_told(robot, kind):
    path = bezier(robot, (0.5, 0.1, 0.5)) if kind == "ALONG_CURVE" else None
    add(robot, kind, path)
    name = robot.robokin.tasks[0].name
    with pytest.raises(RuntimeError, match=f"EMPTY.*only a bake can meet velocities: '{name}'"):
        bpy.ops.robokin.solve_pose()
    add(robot, "POSITION")
    solve(robot)
    assert robot.robokin.solver.reason.endswith(f"(left out, since only a bake can meet velocities: '{name}')")
    assert not robot.robokin.tasks[0].solved


@pytest.mark.parametrize("kind", [kind for kind in KINDS if KINDS[kind].target and not KINDS[kind].is_velocity])
def test_a_new_target_is_of_use(robot, kind):
    assert bpy.ops.robokin.target_add(kind=kind, tip=HAND) == {"FINISHED"}
    task = robot.robokin.tasks[-1]
    assert bpy.context.object == task.target and task.target.select_get()
    with bpy.context.temp_override(object=robot):
        solve(robot)
    if kind == "DISTANCE":
        assert task.distance > 0.3
    if kind in ("AIM", "LASER"):
        assert (head(robot) - task.target.location).length > 0.3


def test_kinds_without_target_say_so(robot):
    for kind in (kind for kind in KINDS if not KINDS[kind].target):
        with pytest.raises(RuntimeError, match="has no target: use Add Task"):
            bpy.ops.robokin.target_add(kind=kind, tip=HAND)
    assert not robot.robokin.tasks


def test_what_is_missing_or_wrong_is_one_line_with_the_tasks_name(robot):
    cube = mesh_object("cube", bpy.data.meshes.new("cube"))
    path = bezier(robot, (0.5, 0, 0))
    path.data.splines.new("BEZIER")
    hung = add_empty("hung", robot)
    hung.parent_type, hung.parent_bone = "BONE", HAND
    cases = [
        ("CURVE", {"target": cube}, "its target 'cube' is of type mesh, not a curve"),
        ("CURVE", {"target": path}, "has 2 splines, not one"),
        ("CURVE", {}, "has no target: choose a curve$"),
        ("SUPPORT", {"target": path}, "its target 'path' is of type curve, not a mesh"),
        ("SUPPORT", {"target": cube}, "has fewer than 3 vertices"),
        ("LASER", {"target": path, "surface": cube}, "its surface 'cube' has no faces"),
        ("AIM", {"target": hung}, "follows a bone of 'panda' itself, a cycle"),
        ("RELATIVE", {}, "has no other bone"),
        ("LOOP", {"other": HAND}, f"'{HAND}' is both of its bones"),
        ("DISTANCE", {"other": "nose"}, "no other bone of task 'the one' named 'nose'"),
        ("POSTURE", {}, "has no posture: choose a stored one"),
        ("POSTURE", {"posture": "sleep"}, "no posture of task 'the one' named 'sleep'"),
        ("AIM", {"position_weight": 0.0, "orientation_weight": 0.0}, "weight must be a positive number"),
        ("LINE", {"target": cube, "position_weight": 0.0}, "weight must be a positive number"),
        ("PIN", {"use_location": (False,) * 3, "use_rotation": (False,) * 3}, "every axis is free"),
    ]
    before = read_configuration(robot)
    for kind, settings, message in cases:
        target = settings.pop("target", None)
        task = add(robot, kind, target)
        task.name = "the one"
        for name, value in settings.items():
            setattr(task, name, value)
        with pytest.raises(RuntimeError, match=message) as caught:
            bpy.ops.robokin.solve_pose()
        line = str(caught.value).strip().removeprefix("Error: ")
        assert "\n" not in line and "the one" in line, line
        assert bpy.ops.robokin.task_remove() == {"FINISHED"}
    np.testing.assert_array_equal(read_configuration(robot), before)


def test_bones_are_followed_when_they_are_renamed(robot):
    task = add(robot, "RELATIVE", other=ELBOW)
    robot.data.bones[ELBOW].name = "elbow"
    robot.data.bones[HAND].name = "hand"
    solve(robot)
    assert (task.tip, task.other) == ("hand", "elbow")


def test_set_from_pose(robot):
    task = add(robot, "POSE")
    bpy.ops.robokin.reset_pose()
    bpy.context.view_layer.update()
    assert bpy.ops.robokin.task_from_pose() == {"FINISHED"}
    assert (task.location - head(robot)).length < 1e-4
    task.use_target, task.target = True, add_empty("goal")
    with pytest.raises(RuntimeError, match="asks for nothing that the pose could say"):
        bpy.ops.robokin.task_from_pose()


@pytest.mark.parametrize("kind", [kind for kind, own in KINDS.items() if own.target == "POSE" and not own.is_velocity])
def test_what_a_new_task_asks_for_is_met_now(robot, kind):
    task = add(robot, kind, **({"axis": "-X"} if kind in ("AXIS", "AIM", "LASER") else {}))
    assert bpy.ops.robokin.task_from_pose() == {"FINISHED"}
    before = read_configuration(robot)
    solve(robot)
    np.testing.assert_allclose(read_configuration(robot), before, atol=1e-5)
    if kind in ("AIM", "LASER"):
        assert (task.location - head(robot)).length > 0.1
        away = np.array(task.location - head(robot))
        assert angle(shown(robot)[:3, 0], -away) < 1e-4


def test_a_laser_asks_for_the_spot_on_its_surface(robot):
    bpy.ops.mesh.primitive_cube_add(size=1.0, location=robot.matrix_world @ Vector((0.9, 0, 0.4)))
    cube = bpy.context.object
    bpy.context.view_layer.objects.active = robot
    task = add(robot, "LASER", axis="X", surface=cube)
    assert bpy.ops.robokin.task_from_pose() == {"FINISHED"}
    T = shown(robot)
    inside = cube.matrix_world.inverted()
    hit, at, *_ = cube.ray_cast(inside @ Vector(T[:3, 3]), inside.to_3x3() @ Vector(T[:3, 0]))
    assert hit and (task.location - cube.matrix_world @ at).length < 1e-4


def test_residuals_are_those_of_the_parts_in_the_scenes_units(robot):
    """A laser that cannot reach its spot, and a posture beside a limit."""
    goal = place(robot, (0.4, 0.2, 0.3))
    task = add(robot, "DISTANCE", goal, distance=50.0)
    assert bpy.ops.robokin.solve_pose() == {"FINISHED"}
    bpy.context.view_layer.update()
    assert robot.robokin.solver.status != "CONVERGED" and not task.reached
    off = 50.0 - (head(robot) - goal.location).length
    assert task.position_residual == pytest.approx(off, rel=1e-4) and task.orientation_residual == 0.0


@pytest.mark.parametrize("kind", list(KINDS))
def test_criteria_are_read_beside_every_kind(robot, kind):
    """While the panel draws: nothing is updated, and shapes are not read."""
    goal = bezier(robot, (0.5, 0.1, 0.5)) if KINDS[kind].target == "CURVE" else place(robot, (0.5, 0.1, 0.5))
    if kind == "SUPPORT":
        goal = ball(robot, (0, 0, 0), 0.2)
    tip = WRIST if KINDS[kind].tip == "Bone" else HAND
    task = add(robot, kind, goal, tip, other=ELBOW if KINDS[kind].other else "")
    task.posture = robot.robokin.postures[0].name
    assert bpy.ops.robokin.criterion_add(kind="MANIPULABILITY") == {"FINISHED"}
    (shown_cost,) = readouts.criteria(robot)
    unread = kind in ("SUPPORT", "CURVE", "ALONG_CURVE")
    assert shown_cost.cost is not None or (unread and shown_cost.problem), shown_cost


def test_the_cost_follows_a_target_that_moves(robot):
    goal = place(robot, (0.9, 0.5, 0.3))
    add(robot, "AIM", goal)
    assert bpy.ops.robokin.criterion_add(kind="MANIPULABILITY") == {"FINISHED"}
    before = readouts.criteria(robot)[0].cost
    goal.location += Vector((0.0, 0.0, 0.8))
    bpy.context.view_layer.update()
    assert readouts.criteria(robot)[0].cost != before
