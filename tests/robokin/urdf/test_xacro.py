"""Robots in xacro: macros, arguments, files, packages without ROS; the same as the package `xacro` makes; faults."""

from __future__ import annotations

import contextlib
import io
import logging
import math
import shutil
from pathlib import Path

import pytest
import xacro
from robokin_addon.robokin import FileFormatError, RobokinError, load_urdf, read_urdf_text, urdf_text
from robokin_addon.robokin.construction.examples import EXAMPLES
from robokin_addon.robokin.urdf import parse_xacro_args
from support.command import report, run
from support.hostile.xacro_styles import HEAD, STYLES
from support.robots import robot_data

ARM = Path(__file__).resolve().parents[2] / "data" / "xacro_robot" / "urdf" / "arm.urdf.xacro"


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
    with pytest.raises(FileFormatError, match=r"package '\.\.'"):
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


def of_the_package(path: Path) -> str:
    with contextlib.redirect_stderr(io.StringIO()):
        return xacro.process_file(str(path)).toxml()


@pytest.mark.parametrize("style", STYLES)
def test_the_same_as_the_package_xacro_makes(tmp_path, style):
    path = tmp_path / "robot.xacro"
    path.write_text(f"{HEAD}{STYLES[style]}</robot>")
    assert urdf_text(load_urdf(path)) == urdf_text(read_urdf_text(of_the_package(path), path))


def test_files_and_namespaces_are_as_in_the_package_xacro(tmp_path):
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "wheel.xacro").write_text(
        f"""{HEAD}<xacro:include filename="sizes.xacro"/>
        <xacro:macro name="wheel" params="side"><link name="${{side}}_wheel_${{size}}"/>
        <joint name="${{side}}_axle" type="continuous"><parent link="base"/><child link="${{side}}_wheel_${{size}}"/>
        </joint></xacro:macro></robot>"""
    )
    (tmp_path / "parts" / "sizes.xacro").write_text(
        f"""{HEAD}<xacro:property name="sizes" value="${{xacro.load_yaml('sizes.yaml')}}"/>
        <xacro:property name="size" value="${{sizes.wheel.diameter}}" lazy_eval="false"/></robot>"""
    )
    (tmp_path / "parts" / "sizes.yaml").write_text("wheel:\n  diameter: 0.25  # metres\n  angle: !degrees 90\n")
    path = tmp_path / "robot.xacro"
    path.write_text(
        f"""{HEAD}<xacro:include filename="parts/wheel.xacro" ns="w"/>
        <xacro:include filename="none.xacro" optional="true"/>
        <xacro:property name="size" value="mine"/><link name="base"/>
        <xacro:w.wheel side="left"/><link name="s_${{size}}_${{w.size}}_${{w.sizes['wheel']['angle']}}"/>
        <joint name="j" type="fixed"><parent link="base"/><child link="s_mine_0.25_{math.pi / 2}"/></joint></robot>"""
    )
    found = urdf_text(load_urdf(path))
    assert found == urdf_text(read_urdf_text(of_the_package(path), path)) and "left_wheel_0.25" in found


def test_the_name_of_the_robot_may_be_an_argument_with_a_default(tmp_path):
    path = tmp_path / "robot.xacro"
    path.write_text('<robot name="$(arg name)"><xacro:arg name="name" default="six"/><link name="a"/></robot>')
    assert load_urdf(path).name == "six"
    assert load_urdf(path, xacro_args={"name": "seven"}).name == "seven"


def test_the_environment_is_not_read(tmp_path, monkeypatch):
    monkeypatch.setenv("ROBOKIN_SECRET", "secret")
    path = tmp_path / "robot.xacro"
    path.write_text(f"{HEAD}<link name='$(optenv ROBOKIN_SECRET nothing at all)'/></robot>")
    assert load_urdf(path).links[0].name == "nothing at all"
    assert load_urdf(path, xacro_args={"ROBOKIN_SECRET": "given"}).links[0].name == "given"
    path.write_text(f"{HEAD}<link name='$(env ROBOKIN_SECRET)'/></robot>")
    assert load_urdf(path, xacro_args={"ROBOKIN_SECRET": "given"}).links[0].name == "given"


def test_warnings_of_the_file_are_said(tmp_path, caplog):
    path = tmp_path / "robot.xacro"
    path.write_text(f"{HEAD}<link name='a'>${{xacro.warning('no inertia', 'of', 1)}}</link></robot>")
    with caplog.at_level(logging.WARNING):
        load_urdf(path)
    assert [record.getMessage() for record in caplog.records] == [f"{path}: no inertia of 1"]


FAULTS = {
    "expression": ("\n<link name='${a + 1}'/>", 2, "in ${a + 1}: name 'a' is not defined"),
    "grammar": ("<link name='${1 +}'/>", 1, "not an expression"),
    "not closed": ("<link name='${1'/>", 1, "not closed"),
    "macro": ("<xacro:nothing/>", 1, "unknown macro name: xacro:nothing"),
    "macro of a namespace": ("<xacro:no.thing/>", 1, "unknown macro name: xacro:no.thing"),
    "parameter": ("<xacro:macro name='m' params='a b'/>\n<xacro:m a='1' c='2'/>", 2, "no parameter 'c' (valid: a, b)"),
    "parameter missing": ("<xacro:macro name='m' params='a b'/>\n<xacro:m a='1'/>", 2, "macro 'm' needs b"),
    "caller's": ("<xacro:macro name='m' params='a:=^'/>\n<xacro:m/>", 2, "'a', which the macro takes from its caller"),
    "block missing": ("<xacro:macro name='m' params='*b'/>\n<xacro:m/>", 2, "takes 1 blocks inside, not 0"),
    "block too many": ("<xacro:macro name='m'/>\n<xacro:m><origin/></xacro:m>", 2, "takes 0 blocks inside, not 1"),
    "no block": ("<xacro:insert_block name='b'/>", 1, "there is no block 'b'"),
    "argument": ("<link name='$(arg size)'/>", 1, "argument 'size' has no value"),
    "command": ("<link name='$(shell ls)'/>", 1, "$(shell ls) is not supported (valid: arg, find"),
    "no command": ("<link name='$( )'/>", 1, "is not supported"),
    "environment": ("<link name='$(env HOME)'/>", 1, "argument 'HOME' has no value"),
    "file": ("<xacro:include filename='none.xacro'/>", 1, "cannot read 'none.xacro'"),
    "yaml": ("<link name='${xacro.load_yaml(\"none.yaml\")}'/>", 1, "cannot read 'none.yaml'"),
    "xml": ("\n<link name='a'>\n", 3, "mismatched tag"),
    "recursion": ("<xacro:macro name='m'><xacro:m/></xacro:macro><xacro:m/>", 1, "recursion"),
    "circle": ("<xacro:property name='a' value='${b}'/><xacro:property name='b' value='${a}'/><link name='${a}'/>", 1,
               "properties need each other: a -> b -> a"),
    "name": ("<xacro:property name='a-b' value='1'/>", 1, "'a-b' cannot be the name of a property"),
    "dunder": ("<link name='${().__class__}'/>", 1, "__class__"),
    "condition": ("<xacro:if value='perhaps'/>", 1, "'perhaps' is neither true nor false"),
    "fatal": ("<xacro:if value='1'>${xacro.fatal('no such', 'size')}</xacro:if>", 1, "no such size"),
    "urdf": ("\n\n<link name='a'/><link name='a'/>", 3, "two links are named 'a'"),
}  # fmt: skip


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
