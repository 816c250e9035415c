"""Tasks given to bake and check on the command line: fixed ones, and such that follow objects of the scene."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
from support.command import report, run
from support.robots import robot

pytestmark = pytest.mark.usefixtures("addon")

FRAMES = (1, 6)
TIP = "tip=panda_hand"


@pytest.fixture(scope="module")
def scene_file(addon, tmp_path_factory) -> Path:
    """A Panda that stands turned, with a task of its own for an elbow, and things that move beside it."""
    import bpy
    from robokin_addon.cli import main

    path = tmp_path_factory.mktemp("tasks") / "panda.blend"
    assert main(["import", str(robot("panda")), "-o", str(path), "--no-meshes"]) == 0
    bpy.ops.wm.open_mainfile(filepath=str(path))
    scene = bpy.context.scene
    armature = arm()
    armature.location, armature.rotation_euler = (0.3, -0.2, 0.1), (0.0, 0.0, 0.7)
    armature.robokin.solver.posture = json.dumps({"panda_joint4": -2.0, "panda_joint6": 2.0})
    stick = bpy.data.objects.new("stick", bpy.data.armatures.new("stick"))
    curve = bpy.data.curves.new("rail", "CURVE")
    curve.dimensions = "3D"
    curve.splines.new("POLY").points.add(1)
    curve.splines[0].points.foreach_set("co", [-0.3, 0, 0.1, 1, 0.3, 0.1, 0.2, 1])
    mesh = bpy.data.meshes.new("floor")
    mesh.from_pydata([(-1, -1, 0), (1, -1, 0), (1, 1, 0), (-1, 1, 0)], [], [(0, 1, 2, 3)])
    named = (("goal", None), ("rail", curve), ("floor", mesh), ("spot", None))
    things = [bpy.data.objects.new(name, data) for name, data in named]
    for thing in (*things, stick):
        scene.collection.objects.link(thing)
    bpy.context.view_layer.objects.active = stick
    bpy.ops.object.mode_set(mode="EDIT")
    bone = stick.data.edit_bones.new("end")
    bone.head, bone.tail = (0, 0, 0.1), (0.1, 0, 0.2)
    bpy.ops.object.mode_set(mode="OBJECT")
    for thing in (*things, stick):
        for frame, shift in ((FRAMES[0], 0.0), (FRAMES[1], 1.0)):
            thing.location = armature.matrix_world @ _vector(
                0.45, -0.1 + 0.05 * shift, 0.0 if thing.name == "spot" else 0.5 - 0.02 * shift
            )
            thing.rotation_euler = (2.6, 0.2 + 0.05 * shift, 0.4)
            thing.keyframe_insert("location", frame=frame)
            thing.keyframe_insert("rotation_euler", frame=frame)
    bpy.ops.wm.save_mainfile()
    return path


def _vector(*xyz: float):
    from mathutils import Vector

    return Vector(xyz)


def arm():
    import bpy

    return next(obj for obj in bpy.context.scene.objects if obj.type == "ARMATURE" and obj.name != "stick")


def configuration(model: pin.Model, values: dict[str, float]) -> np.ndarray:
    q = pin.neutral(model)
    for name, value in values.items():
        q[model.joints[model.getJointId(name)].idx_q] = value
    return q


def hand(values: dict[str, float]) -> np.ndarray:
    """T_root_hand, by Pinocchio."""
    model = pin.buildModelFromUrdf(str(robot("panda")))
    data = model.createData()
    pin.framesForwardKinematics(model, data, configuration(model, values))
    return data.oMf[model.getFrameId("panda_hand")].homogeneous


def center_of_mass(values: dict[str, float]) -> np.ndarray:
    """In the root frame, by Pinocchio, which leaves out what stands still."""
    model = pin.buildModelFromUrdf(str(robot("panda")))
    data, base = model.createData(), model.inertias[0]
    moving = pin.centerOfMass(model, data, configuration(model, values))
    return (data.mass[0] * moving + base.mass * base.lever) / (data.mass[0] + base.mass)


def bake(capsys, tmp_path, file: Path, *tasks: str, more: tuple = (), code: int = 0) -> list[dict]:
    given = [word for task in tasks for word in ("--task", task)]
    options = ("--frames", "{}:{}".format(*FRAMES), "-o", tmp_path / "out.blend", *more)
    return report(capsys, tmp_path, "bake", file, *given, *options, code=code)["frames"]


def shown(file: Path, name: str, bone: str = "") -> list[np.ndarray]:
    """T_root_object at each frame, by Blender."""
    import bpy

    bpy.ops.wm.open_mainfile(filepath=str(file))
    found = []
    for frame in range(FRAMES[0], FRAMES[1] + 1):
        bpy.context.scene.frame_set(frame)
        world = bpy.data.objects[name].matrix_world
        if bone:
            world = world @ bpy.data.objects[name].pose.bones[bone].matrix
        found.append(np.array(arm().matrix_world.inverted() @ world, float))
    return found


def unit(v: np.ndarray) -> np.ndarray:
    return v / np.linalg.norm(v)


def angle(a: np.ndarray, b: np.ndarray) -> float:
    return float(np.linalg.norm(np.cross(unit(a), unit(b))))


FOLLOWED = {
    "pose": ("", lambda T, H: abs(T - H).max()),
    "position": ("", lambda T, H: np.linalg.norm(T[:3, 3] - H[:3, 3])),
    "orientation": ("", lambda T, H: abs(T - H)[:3, :3].max()),
    "axis": (",axis=0:0:1", lambda T, H: angle(H[:3, 2], T[:3, 2]) + (H[:3, 2] @ T[:3, 2] < 0)),
    "aim": (",axis=0:0:1", lambda T, H: angle(H[:3, 2], T[:3, 3] - H[:3, 3])),
    "plane": ("", lambda T, H: abs(T[:3, 2] @ (H[:3, 3] - T[:3, 3]))),
    "line": ("", lambda T, H: np.linalg.norm(np.cross(T[:3, 2], H[:3, 3] - T[:3, 3]))),
    "distance": (",target=0.2", lambda T, H: abs(np.linalg.norm(T[:3, 3] - H[:3, 3]) - 0.2)),
}


@pytest.mark.parametrize(
    ("kind", "target"),
    [
        *((kind, "object=goal") for kind in FOLLOWED),
        ("pose", "object=stick,bone=end"),
        ("aim", "object=stick,bone=end"),
    ],
)
def test_a_task_follows_an_object(kind: str, target: str, scene_file: Path, capsys, tmp_path) -> None:
    more, off = FOLLOWED[kind]
    rows = bake(capsys, tmp_path, scene_file, f"kind={kind},{TIP}{more},{target}")
    places = shown(scene_file, *[part.split("=")[1] for part in target.split(",")])
    assert len(rows) == len(places)
    for row, T in zip(rows, places, strict=True):
        assert off(T, hand(row["q"])) < 3e-5, (kind, row["frame"])


def test_a_laser_follows_an_object_on_a_plane(scene_file: Path, capsys, tmp_path) -> None:
    rows = bake(capsys, tmp_path, scene_file, f"kind=laser,{TIP},axis=0:0:1,object=spot,surface=0:0:0:0:0:1")
    for row, T in zip(rows, shown(scene_file, "spot"), strict=True):
        H = hand(row["q"])
        assert H[:3, 3] - H[:3, 2] * H[2, 3] / H[2, 2] == pytest.approx(T[:3, 3], abs=3e-5)


def spot_on(row: dict, point: np.ndarray, normal: np.ndarray) -> np.ndarray:
    """Where the hand's beam meets a plane."""
    H = hand(row["q"])
    return H[:3, 3] + H[:3, 2] * (normal @ (point - H[:3, 3])) / (normal @ H[:3, 2])


def test_a_laser_on_the_plane_of_its_object_or_on_a_mesh(scene_file: Path, capsys, tmp_path) -> None:
    rows = bake(capsys, tmp_path, scene_file, f"kind=laser,{TIP},axis=0:0:1,object=goal")
    for row, T in zip(rows, shown(scene_file, "goal"), strict=True):
        assert spot_on(row, T[:3, 3], T[:3, 2]) == pytest.approx(T[:3, 3], abs=3e-5)
    text = f"kind=laser,{TIP},axis=0:0:1,object=stick,surface_object=floor"
    for row, T in zip(bake(capsys, tmp_path, scene_file, text), shown(scene_file, "floor"), strict=True):
        assert spot_on(row, T[:3, 3], T[:3, 2]) == pytest.approx(T[:3, 3], abs=3e-5)


@pytest.mark.parametrize(
    ("kind", "target"), [*((kind, "object=goal") for kind in FOLLOWED), ("pose", "object=stick,bone=end")]
)
def test_a_pose_is_solved_for_an_object(kind: str, target: str, scene_file: Path, capsys, tmp_path) -> None:
    """Where the scene stands in the file: at its first frame."""
    more, off = FOLLOWED[kind]
    found = report(capsys, tmp_path, "solve", scene_file, "--task", f"kind={kind},{TIP}{more},{target}")
    place = shown(scene_file, *[part.split("=")[1] for part in target.split(",")])[0]
    assert off(place, hand(found["q"])) < 3e-5


def test_levels_and_influence_of_a_pose_solved_in_a_scene(scene_file: Path, capsys, tmp_path) -> None:
    """Half the way to the object from where it would be without: the first task wins."""
    fixed = f"kind=position,{TIP},target=0.45:0:0.5"
    lifted = f"kind=position,{TIP},object=goal,priority=2"
    found = report(capsys, tmp_path, "solve", scene_file, "--task", fixed, "--task", lifted, code=1)
    assert hand(found["q"])[:3, 3] == pytest.approx([0.45, 0, 0.5], abs=3e-5)
    assert found["residuals"][1]["position"] > 0.05
    alone = f"kind=position,{TIP},object=goal,influence=0.5"
    start = {"panda_joint2": -0.5, "panda_joint4": -2.0, "panda_joint6": 1.6}
    half = report(capsys, tmp_path, "solve", scene_file, "--task", alone, "--q0", json.dumps(start))
    middle = 0.5 * (hand(start)[:3, 3] + shown(scene_file, "goal")[0][:3, 3])
    assert hand(half["q"])[:3, 3] == pytest.approx(middle, abs=3e-5)


VELOCITIES = {
    "twist": f"kind=twist,{TIP},target=0:0:0.1:0:0:0",
    "along_curve": f"kind=along_curve,{TIP},curve=0:0:0:1:0:0,target=0.1",
    "joint_velocity": 'kind=joint_velocity,target={"panda_joint1": 0.1}',
    "linear_velocity": 'kind=linear_velocity,coefficients={"panda_joint1": 1},target=0.1',
}


@pytest.mark.parametrize("kind", VELOCITIES)
def test_velocities_are_refused_where_there_is_no_time(kind: str, scene_file: Path, capsys) -> None:
    for file in (scene_file, robot("panda")):
        assert run(capsys, "solve", file, "--task", VELOCITIES[kind]).refused(
            f"kind={kind}", "velocity", "robokin bake"
        )


def test_velocities_of_a_bake(scene_file: Path, capsys, tmp_path) -> None:
    rows = bake(capsys, tmp_path, scene_file, VELOCITIES["twist"])
    for before, after in pairwise(rows[1:]):
        step = hand(after["q"]) - hand(before["q"])
        assert step[:3, 3] * 24 == pytest.approx([0, 0, 0.1], abs=2e-4)
        assert abs(step[:3, :3]).max() < 1e-5
    both = (
        'kind=joint_velocity,target={"panda_joint2": 0.2}',
        'kind=linear_velocity,target=0.1,coefficients={"panda_joint2": 0.5, "panda_joint6": 1}',
    )
    rows = bake(capsys, tmp_path, scene_file, *both)
    for before, after in pairwise(rows[1:]):
        steps = {name: 24 * (after["q"][name] - before["q"][name]) for name in ("panda_joint2", "panda_joint6")}
        assert steps == pytest.approx({"panda_joint2": 0.2, "panda_joint6": 0.0}, abs=2e-4)


def test_a_velocity_about_a_hinge_that_is_an_object(scene_file: Path, capsys, tmp_path) -> None:
    """Told as a hinge, and as an object that stands still: the same motion, a turn about its Z axis."""
    import bpy

    bpy.ops.wm.open_mainfile(filepath=str(scene_file))
    goal = bpy.data.objects["goal"]
    goal.animation_data_clear()
    still = tmp_path / "still.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(still))
    T = shown(still, "goal")[0]
    hinge = ":".join(map(repr, [*map(float, T[:3, 3]), *map(float, T[:3, 2])]))
    for text in (f"kind=twist,{TIP},object=goal,target=0:0:0:0:0:0.3", f"kind=twist,{TIP},about={hinge},target=0.3"):
        poses = [np.linalg.inv(T) @ hand(row["q"]) for row in bake(capsys, tmp_path, still, text)]
        for i, pose in enumerate(poses[1:]):
            c, s = np.cos(0.3 * i / 24), np.sin(0.3 * i / 24)
            turn = np.array([[c, -s, 0, 0], [s, c, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])
            assert abs(pose - turn @ poses[1]).max() < 1e-4


def test_a_velocity_along_a_curve_that_is_an_object_of_two_splines(scene_file: Path, capsys, tmp_path) -> None:
    import bpy

    bpy.ops.wm.open_mainfile(filepath=str(scene_file))
    rail = bpy.data.objects["rail"]
    rail.animation_data_clear()
    rail.matrix_world = arm().matrix_world
    first = rail.data.splines[0]
    first.points.foreach_set("co", [5, 0, 0, 1, 5, 1, 0, 1])
    rail.data.splines.new("POLY").points.add(2)
    rail.data.splines[1].points.foreach_set("co", [0.4, -0.1, 0.5, 1, 0.4, 0, 0.5, 1, 0.45, 0, 0.5, 1])
    two = tmp_path / "two.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(two))
    start = report(capsys, tmp_path, "solve", two, "--task", f"kind=position,{TIP},target=0.4:-0.02:0.5")["q"]
    text = f"kind=along_curve,{TIP},object=rail,target=0.24"
    rows = bake(capsys, tmp_path, two, text, more=("--q0", json.dumps(start)))
    places = [hand(row["q"])[:3, 3] for row in rows]
    lengths = [min(y, 0.0) + max(x - 0.4, 0.0) for x, y, _ in places]
    assert np.diff(lengths[1:]) == pytest.approx(0.01, abs=1e-4)
    assert lengths[1] < 0.0 < lengths[-1]
    for x, y, z in places:
        assert min(abs(x - 0.4), abs(y)) < 3e-5 and z == pytest.approx(0.5, abs=3e-5)


def test_shapes_of_objects(scene_file: Path, capsys, tmp_path) -> None:
    """The hand on a curve that moves, the centre of mass above a mesh that moves."""
    rows = bake(capsys, tmp_path, scene_file, f"kind=curve,{TIP},object=rail", "kind=support,object=floor,margin=0.6")
    for row, rail, floor in zip(rows, shown(scene_file, "rail"), shown(scene_file, "floor"), strict=True):
        a, b = (rail @ [*point, 1.0] for point in ((-0.3, 0, 0.1), (0.3, 0.1, 0.2)))
        assert np.linalg.norm(np.cross(unit((b - a)[:3]), hand(row["q"])[:3, 3] - a[:3])) < 3e-5
        corners = (floor @ np.array([(-1, -1, 0, 1), (1, -1, 0, 1), (1, 1, 0, 1), (-1, 1, 0, 1)]).T)[:2].T
        middle, c = corners.mean(axis=0), center_of_mass(row["q"])[:2]
        for one, other in zip(corners, np.roll(corners, -1, axis=0), strict=True):
            inward = unit(np.array([one[1] - other[1], other[0] - one[0]]))
            inward *= np.sign(inward @ (middle - one))
            assert inward @ (c - one) > 0.6 - 3e-5
    rows = bake(capsys, tmp_path, scene_file, "kind=center_of_mass,object=goal,weights=0:1:0")
    for row, T in zip(rows, shown(scene_file, "goal"), strict=True):
        assert center_of_mass(row["q"])[1] == pytest.approx(T[1, 3], abs=3e-5)


def test_fixed_targets_and_levels(scene_file: Path, capsys, tmp_path) -> None:
    """The second level yields to the first."""
    fixed, lifted = (f"kind=position,{TIP},target=0.45:0:{z}" for z in (0.5, 0.6))
    rows = bake(capsys, tmp_path, scene_file, fixed, f"{lifted},priority=2", code=1)
    for row in rows:
        assert row["status"] != "CONVERGED"
        assert hand(row["q"])[:3, 3] == pytest.approx([0.45, 0, 0.5], abs=3e-5)
        assert [residual["position"] for residual in row["residuals"]] == pytest.approx([0, 0.1], abs=3e-5)


def test_besides_the_tasks_of_the_file_or_in_their_place(scene_file: Path, capsys, tmp_path) -> None:
    import bpy

    bpy.ops.wm.open_mainfile(filepath=str(scene_file))
    task = arm().robokin.tasks.add()
    task.name, task.tip, task.kind, task.target = "own", "panda_hand_joint", "POSITION", bpy.data.objects["goal"]
    own = tmp_path / "own.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(own))
    down = f"kind=axis,{TIP},axis=0:0:1,target=0:0:-1,name=down"
    for more, count in (((), 2), (("--only-given",), 1)):
        rows = bake(capsys, tmp_path, own, down, more=more)
        assert {len(row["residuals"]) for row in rows} == {count}
        followed = []
        for row, T in zip(rows, shown(own, "goal"), strict=True):
            assert hand(row["q"])[:3, 2] == pytest.approx([0, 0, -1], abs=3e-5)
            followed.append(np.linalg.norm(hand(row["q"])[:3, 3] - T[:3, 3]) < 2e-4)
        assert all(followed) if count == 2 else not any(followed)
    bpy.ops.wm.open_mainfile(filepath=str(own))
    assert [task.name for task in arm().robokin.tasks] == ["own"]


def test_the_same_motion_as_the_task_of_a_file(scene_file: Path, capsys, tmp_path) -> None:
    import bpy

    given = bake(capsys, tmp_path, scene_file, f"kind=pose,{TIP},object=goal,tolerance=1e-4:1e-3")
    bpy.ops.wm.open_mainfile(filepath=str(scene_file))
    task = arm().robokin.tasks.add()
    task.name, task.tip, task.kind, task.target = "own", "panda_hand_joint", "POSE", bpy.data.objects["goal"]
    own = tmp_path / "own.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(own))
    for row, other in zip(bake(capsys, tmp_path, own), given, strict=True):
        assert row["q"] == pytest.approx(other["q"], abs=1e-7)


def test_check_takes_the_same_tasks(scene_file: Path, capsys, tmp_path) -> None:
    text = f"kind=pose,{TIP},object=goal"
    bake(capsys, tmp_path, scene_file, text)
    options = ("check", tmp_path / "out.blend", "--frames", "{}:{}".format(*FRAMES))
    assert report(capsys, tmp_path, *options)["frames"][0]["status"] == "EMPTY"
    for frame in report(capsys, tmp_path, *options, "--task", text)["frames"]:
        assert frame["status"] == "CONVERGED" and frame["residuals"][0]["position"] < 1e-5
    other = f"kind=pose,{TIP},object=stick"
    for frame in report(capsys, tmp_path, *options, "--task", text, "--task", other)["frames"]:
        assert len(frame["residuals"]) == 2
    far = report(capsys, tmp_path, *options, "--task", f"kind=position,{TIP},target=0:0:1", code=1)
    assert {frame["status"] for frame in far["frames"]} == {"MAX_ITERATIONS"}


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--task", f"kind=pose,{TIP},object=gaol"], ["no object in the scene", "'gaol'", "goal"]),
        (["--task", f"kind=pose,{TIP},object=stick,bone=begin"], ["'stick'", "'begin'", "end"]),
        (["--task", f"kind=pose,{TIP},object=goal,bone=end"], ["'goal' is no armature"]),
        (["--task", f"kind=pose,{TIP},bone=end"], ["bone is given without object"]),
        (["--task", f"kind=pose,{TIP},object=goal,target=0:0:0:1:0:0:0"], ["object and target both"]),
        (["--task", f"kind=distance,{TIP},object=goal,target=1,other=panda_link0"], ["object and other both"]),
        (["--task", f"kind=pin,{TIP},object=goal"], ["no target of its kind", "pose, position"]),
        (["--task", f"kind=curve,{TIP},object=goal"], ["'goal' is of type empty, not a curve"]),
        (["--task", f"{TIP},object=goal"], ["kind is missing"]),
        (["--task", f"kind=curve,{TIP},object=rail,closed=yes"], ["object and closed both"]),
        (["--task", f"kind=twist,{TIP},object=goal,target=0:0:0:0:0:1,frame=tip"], ["object and frame both"]),
        (["--task", f"kind=twist,{TIP},object=goal,about=0:0:0:0:0:1,target=1"], ["object and about both"]),
        (["--task", f"kind=twist,{TIP},object=goal"], ["target is missing"]),
        (["--task", f"kind=along_curve,{TIP},object=rail,curve=0:0:0:1:0:0,target=1"], ["object and curve both"]),
        (["--task", f"kind=along_curve,{TIP},object=goal,target=1"], ["'goal' is of type empty, not a curve"]),
        (
            ["--task", f"kind=laser,{TIP},axis=0:0:1,object=spot,surface_object=rail"],
            ["'rail' is of type curve, not a mesh"],
        ),
        (["--task", f"kind=laser,{TIP},axis=0:0:1,object=spot,surface_object=flor"], ["'flor'", "floor"]),
        (["--task", f"kind=laser,{TIP},axis=0:0:1,object=spot,surface=0:0:0:0:0:1,surface_object=floor"], ["give one"]),
        (["--task", f"kind=laser,{TIP},axis=0:0:1,target=1:0:0"], ["surface is missing"]),
        (["--task", f"kind=pose,{TIP},surface_object=floor,object=goal"], ["surface_object"]),
        (["--task", 'kind=linear_velocity,coefficients={"paw": 1},target=1'], ["'paw'", "panda_joint1"]),
        (["--task", 'kind=joint_velocity,target={"panda_joint1": [1, 2]}'], ["panda_joint1", "1 velocities, not 2"]),
        (["--task", "kind=pose,tip=paw,object=goal"], ["'paw'"]),
        (["--task", "kind=loop_closure,tip=panda_hand,other=panda_link0,influence=0.5"], ["influence"]),
        (["--only-given"], ["--only-given", "--task"]),
        ([], ["no task"]),
    ],
)
def test_what_is_wrong_is_named(words: list, told: list, scene_file: Path, capsys, tmp_path) -> None:
    out = tmp_path / "out.blend"
    outcome = run(capsys, "bake", scene_file, "-o", out, *words)
    assert outcome.refused(*told) and not out.exists()


def test_a_target_on_the_robot_itself_is_refused(scene_file: Path, capsys, tmp_path) -> None:
    import bpy

    bpy.ops.wm.open_mainfile(filepath=str(scene_file))
    goal = bpy.data.objects["goal"]
    goal.parent, goal.parent_type, goal.parent_bone = arm(), "BONE", "panda_joint5"
    path = tmp_path / "hung.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    assert run(capsys, "bake", path, "--task", f"kind=pose,{TIP},object=goal").refused("a cycle", "'goal'")
