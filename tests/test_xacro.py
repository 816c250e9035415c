"""xacro through the package of that name: macros, arguments, files, packages without ROS; faults in one line."""

from __future__ import annotations

import builtins
import math
import shutil
from pathlib import Path

import pytest
from robokin_addon.robokin import FileFormatError, RobokinError, load_urdf
from robokin_addon.robokin.construction.examples import EXAMPLES
from robokin_addon.robokin.urdf import parse_xacro_args
from support.command import report, run
from support.robots import robot_data

ARM = Path(__file__).parent / "data" / "xacro_robot" / "urdf" / "arm.urdf.xacro"
HEAD = '<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro">'


def test_a_robot_of_several_files():
    model = load_urdf(ARM)
    assert [joint.name for joint in model.moving_joints] == ["s1_joint", "s2_joint", "finger_joint"]
    assert model.joint("s2_joint").placement[2, 3] == 0.15
    assert model.joint("s1_joint").upper[0] == math.pi / 2
    assert model.joint("finger_joint").upper[0] == 0.02
    assert model.link("s1").visuals[0].shape.size == (0.05, 0.05, 0.3)


def test_arguments():
    model = load_urdf(ARM, xacro_args={"segments": 4, "gripper": False, "prefix": "left_"}, root="floating")
    assert [j.name for j in model.moving_joints[1:]] == [f"left_s{i}_joint" for i in range(1, 5)]
    assert model.root == "floating"
    with pytest.raises(RobokinError, match=r"no xacro argument named 'segmets'.*segments"):
        load_urdf(ARM, xacro_args={"segmets": 4})
    with pytest.raises(FileFormatError, match="arguments are for xacro files"):
        load_urdf(robot_data() / "panda_description/urdf/panda.urdf", xacro_args={"a": 1})
    assert parse_xacro_args(["a:=1 2", "b:="]) == {"a": "1 2", "b": ""}
    for text in ("a=1", ":=1", ""):
        with pytest.raises(RobokinError, match="not name:=value"):
            parse_xacro_args([text])


def test_packages_are_found_in_given_folders(tmp_path):
    shutil.copytree(ARM.parent.parent, tmp_path / "workspace" / "src" / "renamed")
    top = tmp_path / "elsewhere" / "top.xacro"
    top.parent.mkdir()
    top.write_text(f'{HEAD}<xacro:include filename="$(find xacro_robot)/urdf/arm.urdf.xacro"/></robot>')
    with pytest.raises(FileFormatError, match=r"top\.xacro.*package 'xacro_robot'.*not found .*--package-path"):
        load_urdf(top)
    model = load_urdf(top, [tmp_path / "workspace"])
    assert len(model.moving_joints) == 3
    with pytest.raises(FileFormatError, match=r"'\.\.'"):
        top.write_text(f'{HEAD}<xacro:include filename="$(find ..)/x"/></robot>')
        load_urdf(top)


def test_a_real_one(tmp_path):
    """The macro of a quadrotor in example-robot-data, against the URDF beside it."""
    folder = robot_data() / "hector_description" / "robots"
    top = tmp_path / "hector.xacro"
    include = f'<xacro:include filename="{folder / "quadrotor_base.urdf.xacro"}"/>'
    top.write_text(f"{HEAD}{include}<xacro:quadrotor_base_macro/></robot>")
    share = robot_data().parent.parent
    (found,), (wanted, *_) = load_urdf(top, [share]).links, load_urdf(folder / "quadrotor_base.urdf", [share]).links
    assert found.name == wanted.name and found.mass == wanted.mass and (found.inertia == wanted.inertia).all()
    assert [g.shape.path for g in found.visuals] == [g.shape.path for g in wanted.visuals] != []


FAULTS = {
    "expression": ("<link name='${a + 1}'/>", None, "name 'a' is not defined"),
    "macro": ("<xacro:nothing/>", None, "unknown macro name: xacro:nothing"),
    "argument": ("<link name='$(arg size)'/>", None, "size"),
    "file": ("<xacro:include filename='none.xacro'/>", None, "none.xacro"),
    "xml": ("\n<link name='a'>\n", 3, "mismatched tag"),
    "recursion": ("<xacro:macro name='m'><xacro:m/></xacro:macro><xacro:m/>", None, "recursion"),
    "dunder": ("<link name='${().__class__}'/>", None, "__class__"),
    "condition": ("<xacro:if value='perhaps'/>", None, "perhaps"),
    "urdf": ("\n\n<link name='a'/><link name='a'/>", None, "expanded text"),
}


@pytest.mark.parametrize(("text", "line", "words"), FAULTS.values(), ids=FAULTS.keys())
def test_faults_are_one_line_with_the_file(tmp_path, text, line, words):
    path = tmp_path / "bad.xacro"
    path.write_text(f"{HEAD}{text}</robot>")
    with pytest.raises(FileFormatError) as fault:
        load_urdf(path)
    assert words in str(fault.value) and "bad.xacro" in str(fault.value) and "\n" not in str(fault.value), fault.value
    assert fault.value.line == line


def test_the_file_is_the_one_that_is_wrong(tmp_path):
    (tmp_path / "inner.xacro").write_text(f"{HEAD}\n<link name='a'></robot>")
    (tmp_path / "top.xacro").write_text(f"{HEAD}<xacro:include filename='inner.xacro'/></robot>")
    with pytest.raises(FileFormatError, match=r"inner\.xacro:2: ") as fault:
        load_urdf(tmp_path / "top.xacro")
    assert fault.value.line == 2


def test_without_the_package_one_line_says_how_to_get_it(monkeypatch):
    original = builtins.__import__

    def refuse(name, *rest):
        if name.split(".")[0] == "xacro":
            raise ImportError(name)
        return original(name, *rest)

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(FileFormatError, match="needs the Python package xacro: pip install xacro"):
        load_urdf(ARM)


def test_source_under_another_name_says_what_to_do(tmp_path):
    path = tmp_path / "arm.urdf"
    shutil.copy(ARM, path)
    with pytest.raises(FileFormatError, match=r"xacro source.*\.xacro"):
        load_urdf(path)


def test_on_the_command_line(capsys, tmp_path):
    assert report(capsys, tmp_path, "info", ARM, "--xacro-arg", "segments:=3")["nq"] == 4
    outcome = run(capsys, "export", ARM, "--xacro-arg", "gripper:=false", "-o", tmp_path / "arm.urdf")
    assert outcome.code == 0 and load_urdf(tmp_path / "arm.urdf").nq == 2
    run(capsys, "info", ARM, "--xacro-arg", "segments=3").refused("'segments=3'", "name:=value")
    table = tmp_path / "robot.csv"
    table.write_text(EXAMPLES["CLASSIC"].text)
    for option, value in (("--xacro-arg", "segments:=3"), ("--package-path", tmp_path)):
        run(capsys, "info", table, option, value).refused(option, "for .xacro files")


def test_in_blender(scene):
    import bpy

    assert bpy.ops.robokin.import_urdf(filepath=str(ARM), xacro_args="segments:=3 'prefix:=a b '") == {"FINISHED"}
    assert "a b s3_joint" in bpy.context.object.data.bones
    with pytest.raises(RuntimeError, match="No closing quotation"):
        bpy.ops.robokin.import_urdf(filepath=str(ARM), xacro_args="'")
