"""Motion files: what is written reads back bit by bit, YAML is what ROS reads, bad files are named."""

from __future__ import annotations

import csv
import json
import math
import os
import re

import numpy as np
import pytest
import yaml
from robokin_addon.robokin import (
    ConfigurationError,
    FileFormatError,
    Joint,
    Link,
    Mimic,
    RobotModel,
    library_robot,
    load_urdf,
)
from robokin_addon.solvers.motion.dynamics import MotionDynamics
from robokin_addon.solvers.motion.files import read_known_motion, read_motion, write_motion
from robokin_addon.solvers.motion.motion import Motion, coordinate_names
from support.problems.motions import wandering
from support.random_problems.random_trees import random_robot
from support.robots import robot


def motion_of(model: RobotModel, frames: int = 12) -> Motion:
    return Motion.of(model, 0.1 + np.arange(frames) / 24.0, wandering(model, frames))


@pytest.mark.parametrize("extension", [".csv", ".json", ".CSV"])
@pytest.mark.parametrize("root", ["fixed", "planar", "floating"])
def test_written_and_read_is_equal_bit_by_bit(tmp_path, extension, root):
    motion = motion_of(random_robot(4, root=root))
    path = write_motion(motion, tmp_path / f"motion{extension}")
    again = read_motion(path, motion.model)
    for name in ("times", "q", "v", "a"):
        assert (getattr(again, name) == getattr(motion, name)).all()


def test_csv_of_a_real_robot(tmp_path):
    model = load_urdf(robot("panda"))
    motion = motion_of(model)
    with open(write_motion(motion, tmp_path / "m.csv"), newline="") as file:
        rows = list(csv.reader(file))
    q = model.joint_values(motion.q[3])
    assert rows[0] == ["time", *q]
    assert [float(x) for x in rows[4]] == [motion.times[3], *q.values()]
    assert len(rows) == 13


def test_json_values(tmp_path):
    model = load_urdf(robot("talos_reduced"), root="floating")
    motion = motion_of(model)
    data = json.loads(write_motion(motion, tmp_path / "m.json").read_text())
    assert data["robot"] == model.name and data["times"] == motion.times.tolist()
    values = model.joint_values(motion.q[5])
    assert {name: column[5] for name, column in data["positions"].items()} == values
    assert data["velocities"]["root_joint"][5] == motion.v[5, :6].tolist()
    assert set(data["accelerations"]) == {j.name for j in model.moving_joints}


def test_yaml_is_a_joint_trajectory(tmp_path):
    model = load_urdf(robot("panda"), root="planar")
    motion = Motion.of(model, 5.0 + np.arange(40) / 24.0, wandering(model, 40)).resample(100.0)
    data = yaml.safe_load(write_motion(motion, tmp_path / "m.yaml").read_text())
    assert set(data) == {"header", "joint_names", "points"}
    assert data["header"] == {"stamp": {"sec": 0, "nanosec": 0}, "frame_id": ""}
    assert data["joint_names"][:4] == ["root_joint/x", "root_joint/y", "root_joint/angle", "panda_joint1"]
    assert "panda_finger_joint2" not in data["joint_names"]  # a mimic joint is not commanded
    assert len(data["points"]) == len(motion)
    for k, point in enumerate(data["points"]):
        for key, array in (("positions", motion.q), ("velocities", motion.v), ("accelerations", motion.a)):
            assert all(type(x) is float for x in point[key])
            assert point[key] == array[k].tolist()
        time = point["time_from_start"]
        assert type(time["sec"]) is int and 0 <= time["nanosec"] < 10**9
        assert time["sec"] + 1e-9 * time["nanosec"] == pytest.approx(motion.times[k] - 5.0, abs=1e-9)


def test_yaml_leaves_quaternions_out_and_says_so(tmp_path):
    model = random_robot(4, root="floating")
    text = write_motion(motion_of(model), tmp_path / "m.yml").read_text()
    data = yaml.safe_load(text)
    assert '"root_joint"' in text.splitlines()[1]
    assert not any(name.startswith("root_joint") for name in data["joint_names"])
    assert all(len(p["positions"]) == len(p["velocities"]) == len(data["joint_names"]) for p in data["points"])


def test_a_controllers_spline_has_each_velocity_beside_its_position_and_names_what_it_leaves_out(tmp_path):
    model = random_robot(4, root="floating")  # with balls, planar joints, mimics
    motion = motion_of(model)
    note, header, *lines = write_motion(motion, tmp_path / "m.PVT").read_text().splitlines()
    rows = np.array([line.split(",") for line in lines], float)
    found = dict(zip(header.split(","), rows.T, strict=True))
    assert (found.pop("time") == motion.times).all()
    for joint in model.moving_joints:
        slot = model.slot(joint.name)
        if joint.nq != joint.nv:
            assert note.startswith("# left out") and joint.name in note
            continue
        for i, name in enumerate(coordinate_names(joint)):
            assert (found.pop(name) == motion.q[:, slot.q][:, i]).all()
            assert (found.pop(f"{name} velocity") == motion.v[:, slot.v][:, i]).all()
    assert not found


@pytest.mark.parametrize("value", [1e-05, -3e-17, 1e16, 1e22, 0.1, -0.0, 5e-324, 1.7976931348623157e308])
def test_every_float_is_a_yaml_number(tmp_path, value):
    model = RobotModel("slide", [Link("a"), Link("b")], [Joint("no: [odd] 'name' #1", "continuous", "a", "b")])
    motion = Motion.of(model, [0.0], [[value]])
    data = yaml.safe_load(write_motion(motion, tmp_path / "m.yaml").read_text())
    read = data["points"][0]["positions"][0]
    assert type(read) is float and read == value and math.copysign(1, read) == math.copysign(1, value)
    assert data["joint_names"] == ["no: [odd] 'name' #1"]


def test_names_with_commas_and_quotes_survive_csv(tmp_path):
    model = RobotModel("odd", [Link("a"), Link("b")], [Joint('a, "b"', "continuous", "a", "b")])
    motion = Motion.of(model, [0.0, 1.0], [[0.1], [0.2]])
    assert (read_motion(write_motion(motion, tmp_path / "m.csv"), model).q == motion.q).all()


def follower() -> RobotModel:
    joints = [
        Joint("lead", "continuous", "a", "b"),
        Joint("tail", "continuous", "b", "c", mimic=Mimic("lead", 2.0, 1.0)),
    ]
    return RobotModel("follower", [Link(n) for n in "abc"], joints)


def test_mimic_columns(tmp_path):
    model = follower()
    path = write_motion(Motion.of(model, [0.0], [[0.5]]), tmp_path / "m.csv")
    assert path.read_text() == "time,lead,tail\n0.0,0.5,2.0\n"
    path.write_text("time,tail\n0.0,3.0\n")
    assert read_motion(path, model).q.tolist() == [[1.0]]
    path.write_text("time,lead,tail\n0,1,3\n1,1,3.1\n")
    with pytest.raises(FileFormatError, match="'tail' mimics 'lead' and disagrees in sample 1"):
        read_motion(path, model)


def test_mimic_columns_that_disagree_without_the_joint_they_follow(tmp_path):
    joints = [
        *(j for j in follower().joints if j.parent),
        Joint("end", "continuous", "c", "d", mimic=Mimic("lead", -1.0)),
    ]
    model = RobotModel("follower", [Link(n) for n in "abcd"], joints)
    path = tmp_path / "m.csv"
    path.write_text("time,tail,end\n0,3,-1\n")
    assert read_motion(path, model).q.tolist() == [[1.0]]
    path.write_text("time,tail,end\n0,3,-0.9\n")
    with pytest.raises(FileFormatError, match="'end' mimics 'lead' and disagrees in sample 0"):
        read_motion(path, model)


def test_joints_without_a_column_are_neutral(tmp_path):
    model = load_urdf(robot("panda"), root="floating")
    path = tmp_path / "m.csv"
    path.write_text("\ufefftime,panda_joint4\r\n0,-1.5\r\n0.5,-1.6\r\n\r\n", encoding="utf-8")
    motion = read_motion(path, model)
    assert motion.q[1].tolist() == model.configuration({"panda_joint4": -1.6}).tolist()


@pytest.mark.parametrize(
    ("name", "text", "match"),
    [
        ("m.csv", "", "1: the first column must be 'time'"),
        ("m.csv", "t,lead\n0,0\n", "1: the first column must be 'time', not 't'"),
        ("m.csv", "time,lead\n", "no samples"),
        ("m.csv", "time,lead\n0,0\n1\n", "m.csv:3: 1 value under 2 columns"),
        ("m.csv", "time,lead\n0,x\n", "m.csv:2: not a number"),
        ("m.csv", "time,lead\n0,1_0\n", "m.csv:2: not a number: .* '1_0'"),
        ("m.csv", "time,lead\n0,\u0661\n", "m.csv:2: not a number: .* '\u0661'"),
        ("m.csv", "time,nose\n0,1\n", r"m.csv:1: 'nose' is no joint of 'follower', nor .* \(valid: lead, tail\)"),
        ("m.csv", "time,lead,nose\n0,1,1\n", r"m.csv:1: 'nose' is no joint of 'follower' \(valid: lead, tail\)"),
        ("m.csv", "time,lead,lead\n0,1,1\n", "two columns are named 'lead'"),
        ("m.csv", "time,lead\n1,0\n\n0,0\n", "m.csv:4: times must increase: 0 s comes after 1 s"),
        ("m.csv", "time,lead\n0,0\n1,nan\n", "m.csv:3: 'lead' is not finite"),
        ("m.csv", "time,lead\ninf,0\n", "m.csv:2: 'time' is not finite"),
        ("m.json", "{", "m.json:1: is not JSON"),
        ("m.json", "[]", "must be an object"),
        ("m.json", '{"times": [0], "positions": {"nose": [1]}}', "'nose' is no joint of 'follower', nor"),
        ("m.json", '{"times": [0, 1], "positions": {}}', r"has no values of a joint \(valid: lead, tail\)"),
        ("m.csv", "time\n0\n1\n", r"has no values of a joint \(valid: lead, tail\)"),
        ("m.csv", "time,lead power [W]\n0,1\n", r"has no values of a joint \(valid: lead, tail\)"),
        ("m.json", '{"times": [0], "positions": {"lead": [1, 2]}}', "2 values for 1 times"),
        ("m.json", '{"times": [0], "positions": {"lead": [[1, 2]]}}', "takes 1 value"),
        ("m.json", '{"times": [0], "positions": {"lead": ["x"]}}', "not numbers"),
        ("m.json", '{"times": [0], "positions": {"lead": [true]}}', "positions of 'lead' are not numbers"),
        ("m.json", '{"times": [0, 1], "positions": {"lead": [0.5, true]}}', "positions of 'lead' are not numbers"),
        ("m.json", '{"times": [0, 1], "positions": {"lead": [[0.5], [false]]}}', "positions of 'lead' are not numbers"),
        ("m.json", '{"times": [false, 1], "positions": {"lead": [0.5, 1]}}', '"times" are not numbers'),
        ("m.json", '{"times": [0], "positions": {"lead": [NaN]}}', "positions of 'lead' are not finite"),
        ("m.json", '{"times": 3, "positions": {"lead": [1]}}', "\"times\" must be a list of seconds, not '3'"),
        ("m.json", '{"times": [0], "positions": {"lead": 5}}', "takes 1 value"),
        ("m.csv", f"time,lead\n0,{'1' * 200_000}\n", "m.csv:2: field larger than field limit"),
        ("m.json", '{"times": [0], "positions": {"lead": [' + "9" * 5000 + "]}}", "is not JSON: .*4300 digits"),
        ("m.json", '{"times": [0], "positions": {"lead": [' + "9" * 400 + "]}}", "not numbers"),
        ("m.json", '{"times": [0], "positions": ' + "[" * 100_000, "is not JSON: .*recursion"),
        ("m.json", "\ud800", "not text in UTF-8"),
        ("m.txt", "", r"cannot read motion as '.txt' \(valid: .csv, .json, .yaml, .yml\)"),
        ("m.servo", "", "cannot read motion as '.servo'"),
        ("m.yaml", "", "is no JointTrajectory"),
        ("m.yaml", "joint_names: [lead]\npoints: []\n", "has no points"),
        ("m.yaml", "joint_names: [lead, lead]\npoints: [1]\n", "two joints are named 'lead'"),
        ("m.yaml", "joint_names: [lead]\npoints:\n- positions: [.nan]\n", "point 0: position of 'lead' is not finite"),
        ("m.yaml", "joint_names: [lead]\npoints:\n- positions: []\n", "point 0 has 0 positions for 1 joints"),
        ("m.yaml", "joint_names: [lead]\npoints:\n- positions: [1.0]\n", "point 0: time_from_start must be a number"),
        (
            "m.yaml",
            "joint_names: [lead]\npoints:\n- {positions: [x], time_from_start: 0}\n",
            "position of 'lead' must be",
        ),
        ("m.yaml", "joint_names: [lead\n", "m.yaml:1: "),
    ],
)
def test_bad_files_are_named(tmp_path, name, text, match):
    path = tmp_path / name
    path.write_text(text, "utf-8", errors="surrogatepass")
    with pytest.raises(FileFormatError, match=match) as error:
        read_motion(path, follower())
    assert str(path) in str(error.value) and "\n" not in str(error.value)


def test_a_joint_trajectory_is_read_as_ros_stores_it(tmp_path):
    """By the names of the joints, in any order, as another writer of YAML puts it; what the robot has not is told."""
    model, rng = load_urdf(robot("panda")), np.random.default_rng(3)
    names = [joint.name for joint in model.moving_joints if joint.mimic is None][::-1]
    rows = rng.uniform(-0.1, 0.0, (5, len(names) + 1))
    points = [
        {
            "positions": row.tolist(),
            "velocities": [],
            "time_from_start": {"sec": k // 2, "nanosec": 500_000_000 * (k % 2)},
        }
        for k, row in enumerate(rows)
    ]
    data = {"header": {"frame_id": ""}, "joint_names": ["rail", *names], "points": points}
    path = tmp_path / "goal.yaml"
    for text in (yaml.safe_dump({"trajectory": data}), yaml.safe_dump(data, default_flow_style=None) + "---\n"):
        path.write_text(text)
        found, others, _ = read_known_motion(path, model)
        assert others == ["rail"] and found.times.tolist() == [0.0, 0.5, 1.0, 1.5, 2.0]
        for i, name in enumerate(names):
            assert found.q[:, model.slot(name).q][:, 0].tolist() == rows[:, i + 1].tolist()
        with pytest.raises(FileFormatError, match="'rail' is no joint of"):
            read_motion(path, model)


def test_a_written_joint_trajectory_is_read_back(tmp_path):
    motion = motion_of(load_urdf(robot("panda"), root="planar"))
    found = read_motion(write_motion(motion, tmp_path / "m.yaml"), motion.model)
    assert (found.q == motion.q).all() and abs(found.times - (motion.times - motion.times[0])).max() < 1e-9


def test_planar_needs_all_its_columns(tmp_path):
    model = load_urdf(robot("panda"), root="planar")
    path = tmp_path / "m.csv"
    path.write_text("time,root_joint/x,root_joint/y\n0,1,2\n")
    with pytest.raises(FileFormatError, match="'root_joint' lacks the column 'root_joint/angle'"):
        read_motion(path, model)


def test_what_is_no_file_of_text(tmp_path):
    (tmp_path / "folder.csv").mkdir()
    (tmp_path / "b.csv").write_bytes(bytes(range(256)))
    os.mkfifo(tmp_path / "pipe.json")
    (tmp_path / "zero.csv").symlink_to("/dev/zero")
    for name, match in {
        "none.csv": "no such file",
        "folder.csv": "this is a folder, not a motion",
        "b.csv": "this is not text in UTF-8",
        "pipe.json": "not a regular file",
        "zero.csv": "not a regular file",
    }.items():
        with pytest.raises(FileFormatError, match=rf"{name}(:2)?: {match}"):
            read_motion(tmp_path / name, follower())


def test_writing_is_whole_or_not_at_all(tmp_path):
    motion = Motion.of(follower(), [0.0], [[0.5]])
    with pytest.raises(
        FileFormatError, match=r"cannot write motion as '.xls' \(valid: .csv, .json, .yaml, .yml, .servo, .pvt, .svg\)"
    ):
        write_motion(motion, tmp_path / "m.xls")
    with pytest.raises(FileFormatError, match="cannot be written"):
        write_motion(motion, tmp_path / "nowhere" / "m.csv")
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(FileFormatError, match="cannot be written"):
        write_motion(motion, tmp_path / "folder.csv")
    path = tmp_path / "m.csv"
    path.write_text("old")
    write_motion(motion, path)
    assert path.read_text().startswith("time")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["folder.csv", "m.csv"]
    if os.name == "posix":
        mask = os.umask(0)
        os.umask(mask)
        path.unlink()
        write_motion(motion, path)
        assert path.stat().st_mode & 0o777 == 0o666 & ~mask


@pytest.mark.parametrize("extension", [".csv", ".json", ".yaml"])
def test_quantities_are_written_beside_and_not_read_back(tmp_path, extension):
    model = load_urdf(robot("kinova"))
    motion = motion_of(model)
    columns = MotionDynamics.of(motion).columns()
    columns["zero-moment point x"] = "m", np.full(len(motion), np.nan)
    path = write_motion(motion, tmp_path / f"m{extension}", columns)
    again, others, absent = read_known_motion(path, model)
    assert not others and not absent and (again.q == motion.q).all()
    if extension == ".csv":
        with open(path, newline="") as file:
            header, *rows = csv.reader(file)
        found = {name: np.array(values, float) for name, values in zip(header, zip(*rows, strict=True), strict=True)}
        assert header[-len(columns) :] == [f"{name} [{unit}]" for name, (unit, _) in columns.items()]
        for name, (unit, values) in columns.items():
            np.testing.assert_array_equal(found[f"{name} [{unit}]"], values)
    elif extension == ".json":
        told = json.loads(path.read_text())["quantities"]
        assert told.keys() == columns.keys() and told.pop("zero-moment point x")["values"] == [None] * len(motion)
        for name, own in told.items():
            assert own["unit"] == columns[name][0]
            np.testing.assert_array_equal(np.array(own["values"], float), columns[name][1])  # None is NaN
    else:
        points = yaml.safe_load(path.read_text())["points"]
        efforts = np.column_stack([columns[f"{joint.name} effort"][1] for joint in model.moving_joints])
        np.testing.assert_array_equal([point["effort"] for point in points], efforts)


@pytest.mark.parametrize("column", ["panda_joint1 [deg]", "ghost []", "panda_joint1 torque [N m]"])
def test_a_unit_makes_no_quantity_of_a_column(tmp_path, column):
    path = tmp_path / "m.csv"
    path.write_text(f"time,panda_joint2,{column}\n0,0.5,45\n")
    with pytest.raises(FileFormatError, match=re.escape(f"'{column}' is no joint of 'panda'")):
        read_motion(path, load_urdf(robot("panda")))


def test_quantities_have_no_place_in_other_files(tmp_path):
    motion = motion_of(load_urdf(robot("kinova")))
    with pytest.raises(ConfigurationError, match=r"\.pvt has no place for quantities \(valid: \.csv"):
        write_motion(motion, tmp_path / "m.pvt", MotionDynamics.of(motion).columns())


@pytest.mark.parametrize("extension", [".csv", ".json", ".yaml"])
def test_joints_that_a_file_has_no_values_for_are_named(tmp_path, caplog, extension):
    """Balls have no place in .yaml; all are kept neutral where an arm alone is given."""
    puppet = library_robot("puppet")
    path = write_motion(motion_of(puppet), tmp_path / f"m{extension}")
    caplog.clear()
    _, _, absent = read_known_motion(path, puppet)
    balls = [joint.name for joint in puppet.moving_joints if joint.nq != joint.nv]
    assert balls and absent == (balls if extension == ".yaml" else [])
    read_motion(path, puppet)
    assert all((f"{name!r}" in caplog.text) == bool(absent) for name in balls)
