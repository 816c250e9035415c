"""Commands on Blender files: import, bake, check, export, and the pure ones reading what was imported."""

from __future__ import annotations

import csv
import json
from functools import cache
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
import yaml
from robokin_addon.robokin import load_urdf
from robokin_addon.robokin.inertia import implausible_links
from support.command import report, run
from support.few import rest_slow
from support.oracles.compare import compare_models
from support.program import program
from support.robots import robot, robot_data

pytestmark = pytest.mark.usefixtures("addon")

FRAMES = 20
START, END = np.array([0.45, -0.2, 0.5]), np.array([0.45, 0.2, 0.6])
FPS = 24


@pytest.fixture(scope="module")
def panda(addon, tmp_path_factory) -> Path:
    """A Panda whose hand is to follow a target along a line, as linear keys over FRAMES frames."""
    import bpy
    from robokin_addon.cli import main

    path = tmp_path_factory.mktemp("panda") / "panda.blend"
    assert main(["import", str(robot("panda")), "-o", str(path), "--no-meshes"]) == 0
    bpy.ops.wm.open_mainfile(filepath=str(path))
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, FRAMES
    target = bpy.data.objects.new("target", None)
    scene.collection.objects.link(target)
    for frame, location in ((1, START), (FRAMES, END)):
        target.location = location
        target.keyframe_insert("location", frame=frame)
    for curve in target.animation_data.action.layers[0].strips[0].channelbags[0].fcurves:
        for key in curve.keyframe_points:
            key.interpolation = "LINEAR"
    task = add_task("follow", "panda_hand_joint", "POSITION")
    task.target = target
    task.id_data.robokin.solver.posture = json.dumps({"panda_joint4": -2.0, "panda_joint6": 2.0})
    bpy.ops.wm.save_mainfile()
    return path


def add_task(name: str, tip: str, kind: str):
    import bpy

    (armature,) = (obj for obj in bpy.context.scene.objects if obj.type == "ARMATURE")
    task = armature.robokin.tasks.add()
    task.name, task.tip, task.kind = name, tip, kind
    return task


@pytest.fixture
def edited(panda, tmp_path):
    """A copy of the file, changed by what the test does with it: `edited(function)` returns the path."""
    import bpy

    def edit(change=lambda: None) -> Path:
        path = tmp_path / "edited.blend"
        bpy.ops.wm.open_mainfile(filepath=str(panda))
        change()
        bpy.ops.wm.save_as_mainfile(filepath=str(path))
        return path

    return edit


@pytest.fixture(scope="module")
def baked(panda, tmp_path_factory) -> tuple[Path, dict]:
    from robokin_addon.cli import main

    folder = tmp_path_factory.mktemp("baked")
    path, told = folder / "baked.blend", folder / "bake.json"
    assert main(["bake", str(panda), "--frames", f"1:{FRAMES}", "-o", str(path), "--json", str(told)]) == 0
    return path, json.loads(told.read_text("utf-8"))


@cache
def pin_panda() -> pin.Model:
    return pin.buildModelFromUrdf(str(robot("panda")))


def hand_position(values: dict[str, float]) -> np.ndarray:
    """By Pinocchio."""
    model = pin_panda()
    data = model.createData()
    q = pin.neutral(model)
    for name, value in values.items():
        q[model.joints[model.getJointId(name)].idx_q] = value
    pin.framesForwardKinematics(model, data, q)
    return data.oMf[model.getFrameId("panda_hand")].translation


def wanted(frame: float) -> np.ndarray:
    return START + (END - START) * (frame - 1) / (FRAMES - 1)


@pytest.mark.parametrize("root", ["fixed", "floating", "planar"])
@pytest.mark.parametrize("name", rest_slow(["panda", "ur5_robot", "anymal", "tiago_dual"], 3))
def test_an_imported_robot_is_the_robot(name, root, capsys, tmp_path) -> None:
    blend = tmp_path / "robot.blend"
    done = run(capsys, "import", robot(name), "-o", blend, "--root", root, "--no-meshes")
    doubtful = implausible_links(load_urdf(robot(name)))  # some of these files have such links
    assert done.code == 0 and bool(done.err) == bool(doubtful)
    assert all(line.startswith("robokin: link ") for line in done.err.splitlines()[:4])
    assert report(capsys, tmp_path, "info", blend) == report(capsys, tmp_path, "info", robot(name), "--root", root)
    frames = report(capsys, tmp_path, "fk", blend)["frames"]
    for link, T in report(capsys, tmp_path, "fk", robot(name), "--root", root)["frames"].items():
        assert np.array(frames[link]) == pytest.approx(np.array(T), abs=1e-9)


def test_meshes_are_imported_unless_not_wanted(capsys, tmp_path) -> None:
    import bpy

    for option, meshes in ((), True), (("--no-meshes",), False):
        assert run(capsys, "import", robot("panda"), "-o", tmp_path / "p.blend", *option).code == 0
        bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "p.blend"))
        shown = [o for o in bpy.data.objects if o.type == "MESH" and o.parent is not None]
        assert bool(shown) is meshes


def test_a_mesh_that_cannot_be_read_is_a_warning(capsys, tmp_path) -> None:
    import bpy

    (tmp_path / "bad.stl").write_bytes(b"no mesh")
    shapes = [f'<mesh filename="{name}"/>' for name in ("bad.stl", "gone.stl", "//host/share/x.stl")]
    visuals = "".join(f"<visual><geometry>{s}</geometry></visual>" for s in [*shapes, '<sphere radius="1"/>'])
    path = tmp_path / "robot.urdf"
    path.write_text(f'<robot name="r"><link name="base">{visuals}</link></robot>')
    done = run(capsys, "import", path, "-o", tmp_path / "r.blend")
    assert done.code == 0 and "Traceback" not in done.err
    for words in ("bad.stl: not an STL file", "mesh 'gone.stl' not found", "'//host/share/x.stl' is a network path"):
        assert any(line.startswith("robokin: mesh left out: ") and words in line for line in done.err.splitlines())
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "r.blend"))
    assert len([o for o in bpy.data.objects if o.type == "MESH" and o.parent is not None]) == 1


def test_collision_meshes_are_cut_where_there_are_some(capsys, tmp_path) -> None:
    """A robot without them is as it was."""
    blend = tmp_path / "r.blend"
    done = run(capsys, "import", robot("panda"), "-o", blend, "--no-meshes", "--convex-parts")
    assert done.code == 0 and "shapes on 9 links; they reach at most" in done.err
    run(capsys, "export", blend, "-o", tmp_path / "parts.urdf")
    assert "_collision" in (tmp_path / "parts.urdf").read_text()
    path = tmp_path / "bare.urdf"
    path.write_text('<robot name="bare"><link name="base"/></robot>')
    done = run(capsys, "import", path, "-o", blend, "--convex-parts")
    assert done.code == 0 and "left as they are: no mesh with faces is among the collision shapes of 'bare'" in done.err


def test_the_imported_file_holds_the_robot_alone(capsys, tmp_path) -> None:
    import bpy

    assert run(capsys, "import", robot("ur5_robot"), "-o", tmp_path / "u.blend", "--no-meshes").code == 0
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "u.blend"))
    assert [obj.type for obj in bpy.context.scene.objects if obj.parent is None] == ["ARMATURE"]


def test_bake_follows_the_target_at_every_frame(baked) -> None:
    _, told = baked
    assert set(told) == {"frames", "failures", "violations", "soft"}
    assert not told["failures"] and not told["violations"] and not told["soft"]
    assert [row["frame"] for row in told["frames"]] == list(range(1, FRAMES + 1))
    for row in told["frames"]:
        assert set(row) == {"frame", "status", "residuals", "q"}
        assert row["status"] == "CONVERGED"
        (residual,) = row["residuals"]
        assert set(residual) == {"position", "orientation"}
        off = np.linalg.norm(hand_position(row["q"]) - wanted(row["frame"]))
        assert off < 2e-4  # the task's tolerance is 1e-4 m
        assert off == pytest.approx(residual["position"], abs=2e-6)


def test_bake_writes_keyframes_into_the_output_and_leaves_the_input(panda, baked, capsys) -> None:
    import bpy

    def keyed(path: Path) -> bool:
        bpy.ops.wm.open_mainfile(filepath=str(path))
        (armature,) = (obj for obj in bpy.context.scene.objects if obj.type == "ARMATURE")
        return armature.animation_data is not None and armature.animation_data.action is not None

    assert keyed(baked[0])
    assert not keyed(panda)


def test_bake_without_output_writes_the_file_itself(edited, capsys, tmp_path) -> None:
    path = edited()
    before = run(capsys, "check", path)
    assert before.code == 1
    assert run(capsys, "bake", path).code == 0
    assert run(capsys, "check", path).code == 0


def test_a_motion_in_a_time_of_its_own_gives_it_to_its_targets(edited, capsys) -> None:
    path = edited()
    free = ("bake", path, "--cost", "duration")
    assert run(capsys, *free).code == 0
    assert run(capsys, "check", path).code == 1
    told = run(capsys, *free, "--move-targets")
    assert told.code == 0 and "times as long, to frame" in told.out
    assert run(capsys, "check", path).code == 0
    refused = run(capsys, "bake", path, "--move-targets")
    assert refused.code == 2 and "give --cost duration" in refused.err


def test_bake_is_deterministic_and_starts_from_the_stated_pose(panda, baked, capsys, tmp_path) -> None:
    out = tmp_path / "again.blend"
    again = report(capsys, tmp_path, "bake", panda, "--frames", f"1:{FRAMES}", "-o", out)
    assert again == baked[1]
    other = report(capsys, tmp_path, "bake", panda, "-o", out, "--q0", '{"panda_joint1": 1.5, "panda_joint4": -2}')
    assert other != again
    assert {row["status"] for row in other["frames"]} == {"CONVERGED"}


def test_bake_serves_criteria_that_it_is_given(panda, baked, capsys, tmp_path) -> None:
    out = tmp_path / "held.blend"
    criteria = (
        "--criterion",
        "kind=joint_springs,gain=5,name=springs",
        "--criterion",
        "kind=kinetic_energy,weight=0.1",
    )
    told = report(capsys, tmp_path, "bake", panda, "--frames", f"1:{FRAMES}", "-o", out, *criteria)
    assert {row["status"] for row in told["frames"]} == {"CONVERGED"}
    assert set(told["frames"][0]["costs"]) == {"springs", "KineticEnergy"}
    for row in told["frames"]:
        assert np.linalg.norm(hand_position(row["q"]) - wanted(row["frame"])) < 2e-4
    joints = [j for j in json.loads(run(capsys, "info", panda, "--json", "-").out)["joints"] if j["type"] == "revolute"]
    served, plain = (
        sum((found["frames"][-1]["q"][j["name"]] - 0.5 * (j["lower"] + j["upper"])) ** 2 for j in joints)
        for found in (told, baked[1])
    )
    assert served < 0.8 * plain


def test_check_of_a_bake_finds_nothing_and_agrees_with_it(baked, capsys, tmp_path) -> None:
    path, told = baked
    found = report(capsys, tmp_path, "check", path, "--frames", f"1:{FRAMES}")
    assert set(found) == {"frames", "violations"}
    assert found["violations"] == []
    for row, other in zip(found["frames"], told["frames"], strict=True):
        assert (row["frame"], row["status"], set(row)) == (other["frame"], other["status"], set(other))
        assert row["q"] == pytest.approx(other["q"], abs=1e-6)


def test_check_names_the_limit_that_is_broken(edited, capsys, tmp_path) -> None:
    import bpy

    def jump() -> None:
        (armature,) = (obj for obj in bpy.context.scene.objects if obj.type == "ARMATURE")
        bone = armature.pose.bones["panda_joint1"]
        index = next(i for i in range(3) if not bone.lock_rotation[i])
        for frame, angle in ((1, 0.0), (10, 0.0), (11, 1.0)):
            bone.rotation_euler[index] = angle
            bone.keyframe_insert("rotation_euler", index=index, frame=frame)

    path = edited(jump)
    found = report(capsys, tmp_path, "check", path, "--frames", "5:15", code=1)
    speeds = [v for v in found["violations"] if v["kind"] == "velocity"]
    assert [(v["frame"], v["joint"]) for v in speeds] == [(11, "panda_joint1")]
    assert set(speeds[0]) == {"frame", "joint", "kind", "value", "limit", "unit"}
    assert speeds[0]["limit"] == pytest.approx(2.175)
    assert abs(speeds[0]["value"]) == pytest.approx(1.0 * FPS, rel=1e-5)


def test_an_unreachable_target_is_a_result(edited, capsys, tmp_path) -> None:
    import bpy

    def move_away() -> None:
        target = bpy.data.objects["target"]
        target.animation_data_clear()
        target.location = (5, 0, 0)

    path = edited(move_away)
    told = report(capsys, tmp_path, "bake", path, "--frames", "1:3", "-o", tmp_path / "far.blend", code=1)
    assert [row["status"] for row in told["frames"]] == ["OUT_OF_REACH"] * 3
    assert all(row["residuals"][0]["position"] > 3 for row in told["frames"])


@pytest.mark.parametrize("rate", [None, 100, 7])
def test_export_csv(baked, rate, capsys, tmp_path) -> None:
    path, told = baked
    motion = tmp_path / "motion.csv"
    options = [] if rate is None else ["--rate", rate]
    assert run(capsys, "export", path, "--frames", f"1:{FRAMES}", *options, "-o", motion).code == 0
    rows = list(csv.reader(motion.open(encoding="utf-8")))
    assert rows[0] == ["time", *told["frames"][0]["q"]]
    times = [float(row[0]) for row in rows[1:]]
    step = 1 / (rate or FPS)
    duration = (FRAMES - 1) / FPS
    assert times[:-1] == pytest.approx([i * step for i in range(len(times) - 1)], abs=1e-9)
    assert times[-1] == pytest.approx(duration, abs=1e-9) and times[-1] - times[-2] <= step + 1e-9
    for row in rows[1:]:
        values = dict(zip(rows[0][1:], map(float, row[1:]), strict=True))
        assert np.linalg.norm(hand_position(values) - wanted(1 + float(row[0]) * FPS)) < 1e-3


def test_export_yaml_is_a_joint_trajectory(baked, capsys, tmp_path) -> None:
    path, told = baked
    motion = tmp_path / "motion.yaml"
    assert run(capsys, "export", path, "--frames", f"1:{FRAMES}", "--rate", FPS, "-o", motion).code == 0
    trajectory = yaml.safe_load(motion.read_text("utf-8"))
    names = trajectory["joint_names"]
    assert len(trajectory["points"]) == FRAMES
    for point, row in zip(trajectory["points"], told["frames"], strict=True):
        assert set(point) == {"positions", "velocities", "accelerations", "time_from_start"}
        assert point["positions"] == pytest.approx([row["q"][name] for name in names], abs=1e-6)
        clock = point["time_from_start"]
        seconds = clock.get("sec", clock.get("secs")) + 1e-9 * clock.get("nanosec", clock.get("nsecs"))
        assert seconds == pytest.approx((row["frame"] - 1) / FPS, abs=1e-8)


def test_export_json(baked, capsys, tmp_path) -> None:
    path, told = baked
    motion = tmp_path / "motion.json"
    assert run(capsys, "export", path, "--smooth", "--rate", "500", "-o", motion).code == 0
    assert len(json.loads(motion.read_text("utf-8"))["times"]) > 10 * FRAMES
    assert run(capsys, "export", path, "-o", motion).code == 0
    data = json.loads(motion.read_text("utf-8"))
    assert data["positions"]["panda_joint1"] == pytest.approx(
        [row["q"]["panda_joint1"] for row in told["frames"]], abs=1e-6
    )


def test_solve_on_a_blend(panda, capsys, tmp_path) -> None:
    told = report(capsys, tmp_path, "solve", panda, "--task", "kind=position,tip=panda_hand,target=0.4:0.1:0.5")
    assert hand_position(told["q"]) == pytest.approx([0.4, 0.1, 0.5], abs=2e-5)


def test_which_robot_is_meant(edited, capsys) -> None:
    import bpy

    def duplicate() -> None:
        (armature,) = (obj for obj in bpy.context.scene.objects if obj.type == "ARMATURE")
        copy = armature.copy()
        copy.name = "twin"
        bpy.context.scene.collection.objects.link(copy)

    path = edited(duplicate)
    assert run(capsys, "info", path).refused("several robots", "--robot", "panda", "twin")
    assert run(capsys, "info", path, "--robot", "twin").code == 0
    assert run(capsys, "info", path, "--robot", "tvin").refused("tvin", "did you mean", "twin")


def remove_robot() -> None:
    import bpy

    (armature,) = (obj for obj in bpy.context.scene.objects if obj.type == "ARMATURE")
    bpy.data.objects.remove(armature)


def remove_tasks() -> None:
    import bpy

    (armature,) = (obj for obj in bpy.context.scene.objects if obj.type == "ARMATURE")
    armature.robokin.tasks.clear()


def remove_target() -> None:
    import bpy

    bpy.data.objects.remove(bpy.data.objects["target"])


@pytest.mark.parametrize(
    ("change", "command", "words"),
    [
        (remove_robot, ["bake"], ["edited.blend", "no robot"]),
        (remove_tasks, ["bake"], ["no task"]),
        (remove_target, ["bake"], ["follow", "target"]),
        (remove_target, ["check"], ["follow", "target"]),
        (lambda: None, ["bake", "--q0", '{"panda_joint9": 1}'], ["panda_joint9"]),
        (lambda: None, ["info", "--root", "floating"], ["--root", ".urdf"]),
        (lambda: None, ["export", "-o", "nowhere/motion.csv"], ["no folder"]),
    ],
)
def test_what_is_wrong_with_a_file_is_named(change, command, words, edited, capsys) -> None:
    path = edited(change)
    assert run(capsys, command[0], path, *command[1:]).refused(*words)


def test_a_damaged_file_is_refused(panda, capsys, tmp_path) -> None:
    half = tmp_path / "half.blend"
    half.write_bytes(panda.read_bytes()[:2000])
    assert run(capsys, "info", half).refused("half.blend", "cannot open")


def test_as_programs(tmp_path) -> None:
    """Each command in a process of its own that registers Robokin, leaves it, and ends; the report is all it prints."""
    blend = tmp_path / "panda.blend"
    made = program("import", robot("panda"), "-o", blend, "--no-meshes")
    assert (made.returncode, len(made.stdout.splitlines())) == (0, 1), made
    info = program("info", blend, "--json", "-")
    assert (info.returncode, json.loads(info.stdout)["robot"]) == (0, "panda"), info
    bad = program("bake", blend)
    assert (bad.returncode, bad.stdout, len(bad.stderr.splitlines())) == (2, "", 1), bad


def test_postures_of_an_srdf_file_start_a_solve(capsys, tmp_path):
    srdf = robot_data() / "panda_description/srdf/panda.srdf"
    blend = tmp_path / "panda.blend"
    outcome = run(capsys, "import", robot("panda"), "--srdf", srdf, "-o", blend, "--no-meshes")
    assert outcome.code == 0 and outcome.err == ""
    task = "kind=position,tip=panda_hand,target=0.4:0.1:0.5"
    found = {
        file: report(capsys, tmp_path, "solve", file, "--task", task, "--posture", "default", *more)["q"]
        for file, more in ((blend, ()), (robot("panda"), ("--srdf", srdf)))
    }
    assert found[blend] == pytest.approx(found[robot("panda")], abs=1e-9)
    mid = report(capsys, tmp_path, "solve", blend, "--task", task)["q"]
    assert max(abs(mid[name] - value) for name, value in found[blend].items()) > 0.01
    run(capsys, "solve", blend, "--task", task, "--posture", "rest").refused(
        "no stored posture named 'rest'", "default"
    )
    run(capsys, "bake", blend, "--posture", "rest").refused("no stored posture named 'rest'")
    run(capsys, "solve", blend, "--task", task, "--posture", "default", "--q0", "{}").refused("--q0", "--posture")
    run(capsys, "solve", robot("panda"), "--task", task, "--posture", "default").refused("--srdf")
    run(capsys, "import", robot("panda"), "--srdf", tmp_path / "none.srdf", "-o", blend).refused("no such file")


def test_the_robot_itself_is_exported(capsys, panda, tmp_path):
    for file in (panda, robot("panda")):
        target = tmp_path / "robot.urdf"
        outcome = run(capsys, "export", file, "-o", target)
        assert outcome.code == 0 and outcome.err == "" and outcome.out.startswith(f"{target}: robot written"), outcome
        assert compare_models(load_urdf(target, [robot_data().parent.parent]), load_urdf(robot("panda"))) == []
    run(capsys, "export", panda, "-o", tmp_path / "robot.urdf", "--rate", "100").refused("--rate", ".urdf")
    run(capsys, "export", robot("panda"), "-o", tmp_path / "a.srdf").refused(".blend")
    assert run(capsys, "export", panda, "-o", tmp_path / "a.srdf").out.endswith("a.srdf: 1 posture\n")
    run(capsys, "export", panda, "-o", tmp_path / "a.step").refused(".urdf")
