"""What takes long, started from the window: Esc, other scripts and the end of the file leave nothing half done."""

from __future__ import annotations

import bpy
import pytest
from robokin_addon.operators.files.export_motion import ROBOKIN_OT_export_motion
from robokin_addon.operators.solve.bake import ROBOKIN_OT_bake
from robokin_addon.operators.solve.check import ROBOKIN_OT_check
from robokin_addon.operators.solve.solve import ROBOKIN_OT_solve_pose
from robokin_addon.properties.bridge import read_configuration, write_configuration
from robokin_addon.scene.animation import frames as animation
from support.blender.scene_bakes import bake, slow_road, snapshot
from support.blender.scene_robots import add_empty
from support.blender.windows import called, window

FRAMES = 70  # enough for several slices of each kind of work


def does_nothing(*_):
    """Another add-on's handler."""


@pytest.fixture
def robot(robot, target, scene):
    bake(robot)
    slow_road(robot, target)
    bpy.app.handlers.frame_change_post.append(does_nothing)  # so that all is read from the scene, frame by frame
    scene.frame_set(7)
    robot.robokin.solver.bake_status = robot.robokin.solver.check_summary = "before"
    yield robot
    if does_nothing in bpy.app.handlers.frame_change_post:  # which goes with its file
        bpy.app.handlers.frame_change_post.remove(does_nothing)


@pytest.fixture(params=["bake", "check", "export_motion"])
def kind(request):
    return request.param


@pytest.fixture
def path(tmp_path):
    return tmp_path / "motion.csv"


CLASSES = {"bake": ROBOKIN_OT_bake, "check": ROBOKIN_OT_check, "export_motion": ROBOKIN_OT_export_motion}


def options(kind, path):
    return {"frame_end": FRAMES} | ({"filepath": str(path)} if kind == "export_motion" else {})


def run(monkeypatch, kind, robot, path, *events):
    """(the window, what the operator said)"""
    with window(monkeypatch, CLASSES[kind], *events) as shown:
        said = called(getattr(bpy.ops.robokin, kind), robot, **options(kind, path))
    return shown, said


def left(scene, robot, path):
    """All that the three might write, or move."""
    settings = robot.robokin.solver
    told = settings.bake_status, settings.bake_reason, settings.check_summary, len(settings.bake_failures)
    markers = [(marker.name, marker.frame) for marker in scene.timeline_markers]
    return snapshot(scene, robot), told, markers, path.exists(), len(bpy.data.actions)


def test_it_goes_on_by_itself_and_shows_how_far_it_is(monkeypatch, scene, robot, kind, path):
    shown, said = run(monkeypatch, kind, robot, path)
    assert said == {"FINISHED"} and shown.slices >= 3
    assert shown.shares == sorted(shown.shares) and 0.0 <= shown.shares[0] < 20.0 < 50.0 < shown.shares[-1] <= 100.0
    assert all("Esc" in text and "%" in text for text in shown.texts[:-1])
    settings = robot.robokin.solver
    assert path.exists() == (kind == "export_motion")
    assert (settings.bake_status == "before") == (kind != "bake")
    assert (settings.check_summary == "before") == (kind != "check")
    assert scene.frame_current == 7


def test_it_says_the_same_as_a_call_from_a_script(monkeypatch, scene, robot, kind, path):
    run(monkeypatch, kind, robot, path)
    first = left(scene, robot, path), path.exists() and path.read_bytes()
    with bpy.context.temp_override(object=robot):
        getattr(bpy.ops.robokin, kind)(**options(kind, path))
    assert (left(scene, robot, path), path.exists() and path.read_bytes()) == first


def slices_of(monkeypatch, robot, kind, path):
    shown, said = run(monkeypatch, kind, robot, path)
    assert said == {"FINISHED"}
    return shown.slices


@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("ending", ["ESC", "CANCEL"])
def test_stopped_anywhere_it_leaves_everything_as_it_was(monkeypatch, scene, robot, kind, path, share, ending):
    count = slices_of(monkeypatch, robot, kind, path)
    path.unlink(missing_ok=True)
    before = left(scene, robot, path)
    quiet = [""] * round(share * (count - 1))
    shown, said = run(monkeypatch, kind, robot, path, *quiet, ending)
    assert said == {"CANCELLED"} and shown.slices == len(quiet) + 1
    assert left(scene, robot, path) == before


def test_other_keys_do_nothing(monkeypatch, scene, robot, kind, path):
    assert run(monkeypatch, kind, robot, path, "A", "LEFTMOUSE", "SPACE")[1] == {"FINISHED"}


def removes_the_target(robot):
    bpy.data.objects.remove(robot.robokin.tasks[0].target)


def removes_the_robot(robot):
    bpy.data.objects.remove(robot)


def adds_tasks(robot):
    for i in range(20):
        robot.robokin.tasks.add().name = f"other {i}"


def adds_a_criterion(robot):
    robot.robokin.criteria.add().kind = "JOINT_SPRINGS"


def removes_the_task(robot):
    robot.robokin.tasks.remove(0)


@pytest.mark.parametrize("act", [removes_the_target, removes_the_robot, adds_tasks, adds_a_criterion, removes_the_task])
def test_what_another_script_changes_meanwhile_ends_it_with_a_reason(monkeypatch, scene, robot, kind, path, act):
    before = left(scene, robot, path)
    _, said = run(monkeypatch, kind, robot, path, "", "", lambda: act(robot))
    assert "meanwhile" in said and "Traceback" not in said
    if act is not removes_the_robot:
        assert left(scene, robot, path) == before


def test_a_bone_that_is_renamed_meanwhile_ends_it_and_no_curve_stays_muted(monkeypatch, robot, kind, path):
    before = read_configuration(robot)
    _, said = run(
        monkeypatch, kind, robot, path, "", "", lambda: setattr(robot.data.bones["panda_joint4"], "name", "elbow")
    )
    assert "meanwhile" in said and "Traceback" not in said
    assert not any(curve.mute for curve in animation.fcurves(robot).values())
    assert read_configuration(robot) == pytest.approx(before, abs=1e-6)


def test_a_file_selector_that_is_closed_writes_nothing(monkeypatch, robot, path):
    shown, said = run(monkeypatch, "export_motion", robot, path, "CLOSE")
    assert said == {"CANCELLED"} and not shown.slices and not path.exists()


def test_an_error_on_the_way_is_reported_and_leaves_everything(monkeypatch, scene, robot, path):
    before = left(scene, robot, path)
    robot.robokin.tasks[0].target.scale = (0, 0, 0)
    add_empty("other")
    robot.robokin.tasks[0].target.constraints.clear()
    for kind in ("bake", "check"):
        _, said = run(monkeypatch, kind, robot, path)
        assert "scale of zero" in said
    assert left(scene, robot, path) == before


def test_one_undo_step_takes_it_back(monkeypatch, scene, robot):
    name = robot.name
    bpy.context.view_layer.objects.active = robot
    bpy.ops.ed.undo_push(message="before")
    with window(monkeypatch, ROBOKIN_OT_check) as shown:
        assert called(bpy.ops.robokin.check, robot, frame_end=FRAMES) == {"FINISHED"} and shown.slices
    assert bpy.data.objects[name].robokin.solver.check_summary != "before"
    bpy.ops.ed.undo()
    assert bpy.data.objects[name].robokin.solver.check_summary == "before"


@pytest.fixture
def hard(robot):
    """A pose that takes several steps: a target, and below it what the robot prefers."""
    robot.robokin.tasks[0].target.location.z += 0.1
    with bpy.context.temp_override(object=robot):
        assert bpy.ops.robokin.criterion_add(kind="JOINT_SPRINGS") == {"FINISHED"}
    robot.robokin.solver.status = "before"
    bpy.context.view_layer.update()
    return robot


def test_a_long_solve_stops_at_esc_and_else_says_the_same(monkeypatch, hard):
    start = read_configuration(hard)
    with window(monkeypatch, ROBOKIN_OT_solve_pose, "ESC") as shown:
        assert called(bpy.ops.robokin.solve_pose, hard) == {"CANCELLED"} and shown.slices == 1
    assert (read_configuration(hard) == start).all() and hard.robokin.solver.status == "before"
    with window(monkeypatch, ROBOKIN_OT_solve_pose) as shown:
        assert called(bpy.ops.robokin.solve_pose, hard) == {"FINISHED"} and shown.slices
    stepped, status = read_configuration(hard), hard.robokin.solver.status
    assert status == "CONVERGED" and abs(stepped - start).max() > 0.01
    write_configuration(hard, start)
    assert called(bpy.ops.robokin.solve_pose, hard) == {"FINISHED"}
    assert (read_configuration(hard) == stepped).all() and hard.robokin.solver.status == status
