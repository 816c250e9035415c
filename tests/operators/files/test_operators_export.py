"""Export Motion: the file says what the animation shows, at any rate."""

from __future__ import annotations

import csv
import json
from types import SimpleNamespace

import bpy
import numpy as np
import pytest
from robokin_addon.operators.files.export_motion import ROBOKIN_OT_export_motion
from robokin_addon.properties.bridge import binding, read_configuration, robot_model
from robokin_addon.robokin import library_robot
from robokin_addon.scene.animation import frames as animation
from robokin_addon.scene.animation.curves import own_keys
from scipy.interpolate import CubicHermiteSpline, CubicSpline
from support.blender.scene_robots import add_robot, add_target, build, circle
from support.blender.windows import called
from support.command import run


@pytest.fixture
def robot(scene):
    scene.frame_start, scene.frame_end = 1, 25
    robot = add_robot()
    circle(add_target(robot), 25)
    with bpy.context.temp_override(object=robot):
        bpy.ops.robokin.bake()
    return robot


def export(robot, path, **options):
    with bpy.context.temp_override(object=robot):
        assert bpy.ops.robokin.export_motion(filepath=str(path), **options) == {"FINISHED"}
    return path


def table(path):
    rows = list(csv.reader(path.open()))
    return rows[0], np.array(rows[1:], float)


def shown(scene, robot, frame):
    animation.set_frame(scene, frame)
    return robot_model(robot).joint_values(read_configuration(robot))


@pytest.mark.parametrize("rate", [0.0, 24.0, 100.0, 7.3, 1000.0])
def test_the_rows_are_what_the_scene_shows_at_their_times(scene, robot, tmp_path, rate):
    header, rows = table(export(robot, tmp_path / "motion.csv", rate=rate, smooth=False))
    assert header[0] == "time" and "panda_finger_joint2" in header
    assert rows[0, 0] == 0.0 and rows[-1, 0] <= 1.0 + 1e-9
    times = rows[:, 0]
    steps = len(times) - (1 if rate == 7.3 else 0)  # whose last step is shorter
    assert np.diff(times[:steps]) == pytest.approx(1.0 / (rate or 24.0))
    assert steps == int(rate or 24.0) + 1 and times[-1] == pytest.approx(1.0)
    for row in rows[:: max(1, len(rows) // 7)]:
        values = shown(scene, robot, 1 + row[0] * 24)
        assert row[1:] == pytest.approx([values[name] for name in header[1:]], abs=2e-6)


def test_a_smooth_export_goes_through_the_frames(scene, robot, tmp_path):
    frames = json.loads(export(robot, tmp_path / "frames.json").read_text("utf-8"))
    fine = json.loads(export(robot, tmp_path / "fine.json", rate=1200.0).read_text("utf-8"))
    dt = fine["times"][1] - fine["times"][0]
    for name, values in fine["accelerations"].items():
        a, most = np.array(values), np.abs(frames["accelerations"][name]).max()
        assert abs(np.diff(a)).max() <= 4.0 * most * 24.0 * dt  # no jumps
        by_differences = np.diff(fine["positions"][name], 2) / dt**2
        assert np.median(abs(by_differences[:-1] - a[1:-2])) <= 1e-3 * most + 1e-6
        np.testing.assert_allclose(fine["positions"][name][::50], frames["positions"][name], atol=1e-9)


def test_a_smooth_export_keeps_the_limits_of_the_robot_at_all_times(scene, robot, tmp_path):
    """Limits that the frames just keep, and the spline through them would not: SciPy's says so."""
    frames = json.loads(export(robot, tmp_path / "frames.json").read_text("utf-8"))
    through = {name: CubicSpline(frames["times"], q, bc_type="natural") for name, q in frames["positions"].items()}
    rates = {1: ("velocity", "velocities"), 2: ("acceleration", "accelerations")}
    for name in frames["velocities"]:
        settings = robot.data.bones[name].robokin
        for order, (limit, _) in rates.items():
            steps = np.diff(frames["positions"][name], order) * 24.0**order
            setattr(settings, f"use_{limit}", True)
            setattr(settings, limit, 1.001 * abs(steps).max() + 1e-4)
    fine = json.loads(export(robot, tmp_path / "fine.json", rate=1200.0).read_text("utf-8"))
    spline = table(export(robot, tmp_path / "motion.pvt"))
    at = np.linspace(0.0, 1.0, 9001)
    for order, (limit, kind) in rates.items():
        beyond = []
        for name, values in fine[kind].items():
            most = getattr(robot.data.bones[name].robokin, limit)
            assert abs(np.array(values)).max() <= most * (1.0 + 1e-6), (name, limit)
            own = spline[0].index(name)
            driven = CubicHermiteSpline(spline[1][:, 0], spline[1][:, own], spline[1][:, own + 1])
            assert abs(driven(at, nu=order)).max() <= most * (1.0 + 1e-6), (name, limit)
            beyond.append(abs(through[name](at, nu=order)).max() > 1.01 * most)
        assert any(beyond), limit
    for name, values in frames["positions"].items():  # as near as the spline whose points are the frames, or nearer
        off = np.array(fine["positions"][name][::50]) - values
        assert np.linalg.norm(off) <= np.linalg.norm(np.diff(values, 2)) / 6.0 + 1e-6


def test_a_spline_for_a_controller_is_the_smooth_curve(scene, robot, tmp_path):
    """SciPy's cubics between its rows are what a smooth export has at a higher rate."""
    header, rows = table(export(robot, tmp_path / "motion.pvt"))
    assert header[:3] == ["time", "panda_joint1", "panda_joint1 velocity"] and len(rows) == 25
    spline = CubicHermiteSpline(rows[:, 0], rows[:, 1::2], rows[:, 2::2])
    names = header[1::2]
    fine = json.loads(export(robot, tmp_path / "fine.json", rate=1000.0).read_text("utf-8"))
    for order, kind in enumerate(("positions", "velocities")):
        asked = np.array([fine[kind][name] for name in names]).T
        np.testing.assert_allclose(spline(fine["times"], nu=order), asked, atol=1e-8)
    model = robot_model(robot)
    speeds = abs(spline(np.linspace(0.0, 1.0, 9001), nu=1)).max(axis=0)
    assert (speeds <= model.velocity[: len(names)] * (1 + 1e-6)).all()
    refused = called(bpy.ops.robokin.export_motion, robot, filepath=str(tmp_path / "motion.pvt"), rate=100.0)
    assert "rate 100 Hz is no multiple of the 24 frames per second" in refused


def test_the_command_exports_smoothly_too(scene, robot, tmp_path, capsys):
    wanted = table(export(robot, tmp_path / "wanted.csv", rate=200.0))[1]
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "robot.blend"))
    given = "export", tmp_path / "robot.blend", "--rate", "200", "-o", tmp_path / "found.csv"
    assert run(capsys, *given, "--no-smooth").code == 0
    assert abs(table(tmp_path / "found.csv")[1] - wanted).max() > 1e-5
    assert run(capsys, *given).code == 0
    np.testing.assert_allclose(table(tmp_path / "found.csv")[1], wanted, atol=1e-9)
    assert run(capsys, *given[:2], "-o", tmp_path / "found.pvt").code == 0
    spline = export(bpy.context.view_layer.objects.active, tmp_path / "wanted.pvt")
    assert (tmp_path / "found.pvt").read_text() == spline.read_text()


def test_a_spline_is_never_the_animation_as_it_is(tmp_path, capsys):
    refused = run(capsys, "export", tmp_path / "none.blend", "--no-smooth", "-o", tmp_path / "b.pvt")
    assert refused.code == 2 and "--no-smooth: a .pvt is the smooth curve" in refused.err  # before the file is opened


def test_curves_are_sampled_between_frames_as_they_are(scene, robot, tmp_path):
    path, index = next(key for key in own_keys(binding(robot)) if "panda_joint1" in key[0])
    curve = animation.fcurves(robot)[path, index]
    curve.keyframe_points.clear()
    for frame, value in ((1, 0.0), (3, 1.0), (25, 0.0)):
        curve.keyframe_points.insert(frame, value)
    header, rows = table(export(robot, tmp_path / "motion.csv", rate=240.0, smooth=False))
    column = rows[:, header.index("panda_joint1")]
    sign = own_keys(binding(robot))[path, index].sign
    assert column == pytest.approx([sign * curve.evaluate(1 + time * 24) for time in rows[:, 0]], abs=1e-6)
    straight = np.interp(rows[:, 0], rows[::10, 0], column[::10])
    assert abs(straight - column).max() > 1e-3


def test_a_trajectory_keeps_the_velocity_limits_at_any_rate(scene, robot, tmp_path):
    text = export(robot, tmp_path / "motion.yaml", rate=500.0).read_text()
    names = json.loads(next(line for line in text.splitlines() if line.startswith("joint_names"))[13:])
    assert names[:2] == ["panda_joint1", "panda_joint2"]
    velocities = np.array([json.loads(line.split(":")[1]) for line in text.splitlines() if "velocities:" in line])
    model = robot_model(robot)
    assert (abs(velocities) <= model.velocity[: len(names)] * (1 + 1e-5)).all() and abs(velocities).max() > 0.1
    accelerations = [json.loads(line.split(":")[1]) for line in text.splitlines() if "accelerations:" in line]
    by_frame = np.array(velocities[:: 500 // 24])
    assert abs(np.array(accelerations)).max() < 4 * abs(np.diff(by_frame, axis=0)).max() * 24 + 1


def test_json_and_range(robot, tmp_path):
    data = json.loads(export(robot, tmp_path / "motion.json", frame_start=5, frame_end=9).read_text())
    assert len(data["times"]) == 5 and data["times"][0] == 0.0
    assert set(data["positions"]) >= {"panda_joint1", "panda_finger_joint2"}


def test_the_step_of_the_bake_does_not_cut_the_end(robot, tmp_path):
    robot.robokin.solver.step = 7
    assert table(export(robot, tmp_path / "motion.csv"))[1][-1, 0] == pytest.approx(1.0)


def test_the_format_completes_a_name_without_extension(robot, tmp_path):
    export(robot, tmp_path / "motion", format="YAML")
    assert (tmp_path / "motion.yaml").read_text().startswith("# trajectory_msgs/JointTrajectory")


def test_the_scene_stays_where_it_is(scene, robot, tmp_path):
    animation.set_frame(scene, 7.5)
    before = read_configuration(robot).tolist()
    export(robot, tmp_path / "motion.csv", rate=333.0)
    assert (scene.frame_current_final, read_configuration(robot).tolist()) == (7.5, before)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("motion.bvh", "cannot write motion as '.bvh' .valid: .csv, .json, .yaml"),
        ("missing/motion.csv", "cannot be written"),
    ],
)
def test_what_cannot_be_written_says_why_and_leaves_no_file(robot, tmp_path, name, words):
    with pytest.raises(RuntimeError, match=words):
        export(robot, tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_the_file_menu_offers_it(scene):
    offered = []
    layout = SimpleNamespace(operator=lambda name, **_: offered.append(name))
    for draw in bpy.types.TOPBAR_MT_file_export._dyn_ui_initialize():
        if draw.__module__.startswith("robokin_addon"):
            draw(SimpleNamespace(layout=layout), bpy.context)
    assert sorted(offered) == ["robokin.export_motion", "robokin.export_srdf", "robokin.export_urdf"]


def test_a_rate_beyond_all_files_is_refused(robot, tmp_path) -> None:
    with pytest.raises(RuntimeError, match="1e\\+09 Hz over 1 s is more than 1000000 samples"):
        export(robot, tmp_path / "motion.csv", rate=1e9)
    assert not list(tmp_path.iterdir())


def test_the_file_selector_cuts_no_name_and_believes_what_is_typed():
    """Its name and format, as it is told of each change of one of them."""
    selector = SimpleNamespace(filepath="/a/panda_v1.2", format="CSV", _shown="CSV")

    def changed(**one):
        vars(selector).update(one)
        told = ROBOKIN_OT_export_motion.check(selector, None)
        return told, selector.filepath, selector.format

    assert changed() == (True, "/a/panda_v1.2.csv", "CSV")
    assert changed() == (False, "/a/panda_v1.2.csv", "CSV")
    assert changed(format="JSON") == (True, "/a/panda_v1.2.json", "JSON")
    assert changed(filepath="/a/motion.YML") == (True, "/a/motion.YML", "YAML")
    assert changed(filepath="/a/motion.csv") == (True, "/a/motion.csv", "CSV")
    assert changed(format="YAML") == (True, "/a/motion.yaml", "YAML")


@pytest.mark.parametrize("kind", ["motion", "urdf", "srdf"])
def test_an_export_without_a_file_says_so(robot, kind):
    with pytest.raises(RuntimeError, match="no file to write 'panda' to: set filepath, as"):
        getattr(bpy.ops.robokin, f"export_{kind}")()


@pytest.mark.parametrize("path", ["{folder}", "{folder}/", "{folder}/new/"])
def test_a_folder_is_no_file(robot, tmp_path, path):
    with bpy.context.temp_override(object=robot), pytest.raises(RuntimeError, match="it is a folder"):
        bpy.ops.robokin.export_motion(filepath=path.format(folder=tmp_path))
    assert not any(tmp_path.iterdir())


def test_quantities_of_the_exported_curve_are_columns(scene, robot, tmp_path, capsys):
    """Velocities and efforts are those of the smooth curve that the file holds, not of the frames."""
    robot.robokin.solver.dynamics_curves = {"JOINTS", "DRIVES"}
    header, rows = table(export(robot, tmp_path / "motion.csv", rate=2400.0, dynamics=True))
    found = dict(zip(header, rows.T, strict=True))
    assert "kinetic energy [J]" not in found and not any("impulse" in name for name in header)
    for joint in robot_model(robot).moving_joints[:7]:
        q, v, a = (found[f"{joint.name}{own}"] for own in ("", " velocity [rad/s]", " acceleration [rad/s\u00b2]"))
        np.testing.assert_allclose(CubicSpline(found["time"], q)(found["time"], 1)[5:-5], v[5:-5], atol=2e-5)
        np.testing.assert_allclose(np.diff(v), (a[1:] + a[:-1]) / 4800.0, atol=1e-12)
        power = found[f"{joint.name} power [W]"]
        np.testing.assert_allclose(power, v * found[f"{joint.name} effort [N m]"], atol=1e-12)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "a.blend"))
    done = run(capsys, "export", tmp_path / "a.blend", "--dynamics", "-o", tmp_path / "b.json")
    told = json.loads((tmp_path / "b.json").read_text("utf-8"))
    assert done.code == 0 and told["quantities"]["panda_joint2 effort"]["unit"] == "N m"
    refused = run(capsys, "export", tmp_path / "a.blend", "--dynamics", "-o", tmp_path / "b.urdf")
    assert refused.code == 2 and "--dynamics are for motions" in refused.err
    refused = run(capsys, "export", tmp_path / "none.blend", "--dynamics", "-o", tmp_path / "b.pvt")
    assert refused.code == 2 and "a .pvt has no place for it (valid: .csv" in refused.err  # before the file is opened


def test_a_trajectory_holds_efforts_whatever_groups_the_panel_shows(robot, tmp_path, capsys):
    robot.robokin.solver.dynamics_curves = {"ENERGY"}
    by_hand = export(robot, tmp_path / "a.yaml", dynamics=True).read_text("utf-8")
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "a.blend"))
    assert run(capsys, "export", tmp_path / "a.blend", "--dynamics", "-o", tmp_path / "b.yml").code == 0
    assert by_hand.count("  effort: ") == by_hand.count("positions: ") > 10
    assert (tmp_path / "b.yml").read_text("utf-8") == by_hand


@pytest.mark.parametrize("ending", ["pvt", "svg"])
def test_a_switch_that_the_format_hides_does_not_count(robot, tmp_path, ending):
    plain, ticked = (export(robot, tmp_path / f"{on}.{ending}", dynamics=on).read_text("utf-8") for on in (False, True))
    assert ticked == plain


@pytest.mark.parametrize(("ending", "is_whole"), [("yaml", False), ("pvt", False), ("csv", True), ("json", True)])
def test_a_file_without_a_place_for_quaternions_says_which_joints_it_leaves_out(
    scene, tmp_path, capfd, ending, is_whole
):
    """In the window, and on the command line."""
    scene.frame_start, scene.frame_end = 1, 4
    robot = build(library_robot("puppet"))
    left_out = [joint.name for joint in robot_model(robot).moving_joints if joint.nq != joint.nv]
    export(robot, tmp_path / f"window.{ending}")
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "robot.blend"))
    said = [capfd.readouterr().out]
    done = run(capfd, "export", tmp_path / "robot.blend", "-o", tmp_path / f"told.{ending}")
    said.append(done.err)
    assert done.code == 0 and len(left_out) > 3
    for text, file in zip(said, ("window", "told"), strict=True):
        lines = [line for line in text.splitlines() if f"{file}.{ending} leaves out" in line]
        assert len(lines) == (0 if is_whole else 1)
        assert is_whole or all(repr(name) in lines[0] for name in left_out)


def test_the_format_that_a_person_chooses_is_the_next_export_s(robot):
    selector = SimpleNamespace(_selects=True, format="JSON", begin=lambda context: {"RUNNING_MODAL"})
    assert ROBOKIN_OT_export_motion.execute(selector, bpy.context) == {"RUNNING_MODAL"}
    assert robot.robokin.solver.format == "JSON"
