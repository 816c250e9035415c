"""Robots from text files: the three kinds of table, units, and what is wrong with a file, by line."""

from __future__ import annotations

import math
import os
from pathlib import Path

import numpy as np
import pytest
from robokin_addon.robokin import (
    DHRow,
    FileFormatError,
    RobotModel,
    ScrewRow,
    forward_kinematics,
    load_robot_table,
    mass_matrix,
    robot_from_dh,
    robot_from_screws,
)
from robokin_addon.robokin.construction import read_robot_table
from robokin_addon.robokin.construction.table_file import AXIS
from robokin_addon.robokin.spatial import se3, so3

HALF = math.pi / 2.0

DH_TABLE = """# A Stanford-like arm
robot,Three Axes
convention,classic
angles,degrees
lengths,mm
base,0,0,100,0,0,90
tool,0,0,50,180,0,0

joint,link,type,a,alpha,d,theta,offset,lower,upper,velocity,effort,mass,comx,comy,comz,ixx,iyy,izz,ixy
waist,column,R,0,-90,412,,,-160,160,120,50,9.3,0,17.5,-110,0.3,0.2,0.1,0.01
shoulder,,R,0,90,154,,30,-125,125,,,5,,,,,,,
reach,,P,0,0,250,0,,-100,400,500,200,4.25,0,0,-640,2.5,2.5,0.006
"""


def written(folder: Path, text: str | bytes) -> Path:
    path = folder / "arm.csv"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def assert_same_robot(a: RobotModel, b: RobotModel) -> None:
    assert [(j.name, j.type, j.child) for j in a.joints] == [(j.name, j.type, j.child) for j in b.joints]
    for one, other in zip(a.joints, b.joints, strict=True):
        for limit in ("lower", "upper", "velocity", "effort", "acceleration"):
            assert getattr(one, limit) == pytest.approx(getattr(other, limit))
    q = np.linspace(0.1, 0.3, a.nq)
    assert forward_kinematics(a, q).array == pytest.approx(forward_kinematics(b, q).array, abs=1e-14)
    assert mass_matrix(a, q) == pytest.approx(mass_matrix(b, q), abs=1e-14)


def test_a_denavit_hartenberg_table(tmp_path: Path) -> None:
    turn, wide = math.pi / 180.0, math.radians(125.0)
    inertia = np.diag([0.3, 0.2, 0.1]) + 0.01 * (np.eye(3, k=1) + np.eye(3, k=-1)) * [[1, 1, 0], [1, 1, 0], [0, 0, 0]]
    expected = robot_from_dh(
        [
            DHRow(
                joint="waist",
                link="column",
                alpha=-HALF,
                d=0.412,
                lower=-160 * turn,
                upper=160 * turn,
                velocity=120 * turn,
                effort=50.0,
                mass=9.3,
                com=np.array([0.0, 0.0175, -0.11]),
                inertia=inertia,
            ),
            DHRow(joint="shoulder", alpha=HALF, d=0.154, offset=30 * turn, lower=-wide, upper=wide, mass=5.0),
            DHRow(
                joint="reach",
                type="P",
                d=0.25,
                lower=-0.1,
                upper=0.4,
                velocity=0.5,
                effort=200.0,
                mass=4.25,
                com=np.array([0.0, 0.0, -0.64]),
                inertia=np.diag([2.5, 2.5, 0.006]),
            ),
        ],
        base=se3.placement(so3.from_rpy((0.0, 0.0, HALF)), np.array([0.0, 0.0, 0.1])),
        tool=se3.placement(so3.from_rpy((math.pi, 0.0, 0.0)), np.array([0.0, 0.0, 0.05])),
    )
    model = load_robot_table(written(tmp_path, DH_TABLE))
    assert model.name == "Three Axes"
    assert_same_robot(model, expected)
    assert load_robot_table(written(tmp_path, DH_TABLE), root="planar").root == "planar"


@pytest.mark.parametrize("change", [("\n", "\r\n"), (",", ";"), (",", "\t"), (",", " , "), ("# A", "\ufeff# A")])
def test_as_spreadsheets_write_it(tmp_path: Path, change: tuple[str, str]) -> None:
    assert_same_robot(load_robot_table(written(tmp_path, DH_TABLE.replace(*change))), read_robot_table(DH_TABLE))


def test_the_convention_is_heeded() -> None:
    modified = read_robot_table(DH_TABLE.replace("convention,classic", "convention,modified"))
    tips = [forward_kinematics(m, [0.1, 0.2, 0.3])["tool"][:3, 3] for m in (modified, read_robot_table(DH_TABLE))]
    assert np.linalg.norm(tips[0] - tips[1]) > 0.1


def test_tables_of_screws_and_of_axes() -> None:
    home = se3.placement(so3.from_rpy((0.0, 0.0, HALF)), np.array([0.0, 0.5, 0.2]))
    screws = [
        ScrewRow.about((0, 0, 1), (0.0, 0.0, 0.1), lower=-1.0, upper=2.0),
        ScrewRow.about((1, 0, 0), (0.0, 0.2, 0.3), lower=-1.0, upper=1.0),
        ScrewRow.along((0, 1, 0), lower=0.0, upper=0.4),
    ]
    expected = robot_from_screws(screws, home, name="robot")
    by_axes = read_robot_table(
        "home,0,50,20,0,0,90\nlengths,cm\nangles,degrees\n"
        "type,axis_x,axis_y,axis_z,point_x,point_y,point_z,lower,upper\n"
        f"R,0,0,3,0,0,10,{math.degrees(-1)},{math.degrees(2)}\n"
        f"revolute,1,0,0,0,20,30,{math.degrees(-1)},{math.degrees(1)}\nP,0,1,0,0,20,30,0,40\n"
    )
    tip = forward_kinematics(expected, [0.3, -0.4, 0.2])["tool"]
    assert_same_robot(by_axes, expected)
    by_screws = read_robot_table(
        "lengths;mm\nhome;0;500;200;0;0;1.5707963267948966\nwx;wy;wz;vx;vy;vz;lower;upper\n"
        "0;0;1;0;0;0;-1;2\n1;0;0;0;300;-200;-1;1\n0;0;0;0;1000;0;0;400\n"
    )
    assert forward_kinematics(by_screws, [0.3, -0.4, 0.2])["tool"] == pytest.approx(tip, abs=1e-14)
    screw = read_robot_table("home,0,0,0,0,0,0\nlengths,mm\n" + ",".join(AXIS) + ",pitch\n0,0,1,5,0,0,2\n")
    assert screw.joint("joint_1").pitch == pytest.approx(0.002)
    assert [j.type for j in by_screws.joints] == [j.type for j in expected.joints]


def test_limits_as_two_angles() -> None:
    """The arc that holds the start, in the turn where the start is; a joint without a start begins at 0."""
    model = read_robot_table(
        "angles,degrees\na,alpha,d,theta,arc_1,arc_2,start\n0,0,1,0,270,90\n0,0,1,0,90,270,180\n0,0,1,0,-170,170,185\n0,0,1,0\n"
    )
    assert np.degrees(model.lower[:3]) == pytest.approx([-90.0, 90.0, 170.0])
    assert np.degrees(model.upper[:3]) == pytest.approx([90.0, 270.0, 190.0])
    assert model.joints[4].type == "continuous"


GOOD = "a,alpha,d,theta\n0,0,1,0\n"


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("", None, "no line of column names"),
        ("# nothing\n\n", None, "no line of column names"),
        ("a,alpha,d,theta\n", 1, "no rows"),
        ("a,alpha,d\n0,0,1\n", 1, "columns are missing"),
        ("a,alpha,d,theta,colour\n0,0,1,0,red\n", 1, "no column named 'colour'"),
        ("a,alpha,d,theta,a\n0,0,1,0,1\n", 1, "column 'a' is there twice"),
        ("a,alpha,d,theta,vx,vy,vz,wx,wy,wz\n0,0,1,0\n", 1, "several kinds"),
        (GOOD + "0,x,1,0\n", 3, "alpha must be a number, not 'x'"),
        (GOOD + "0,nan,1,0\n", 3, "alpha must be a number, not 'nan'"),
        (GOOD + "0,0,1,0,5\n", 3, "5 values for 4 columns"),
        (GOOD + "0,90,1,0\n", 3, "alpha is 90 radians: is a line `angles,degrees` missing"),
        ("angles,grad\n" + GOOD, 1, "no angles named 'grad' .*degrees, radians"),
        ("lengths,feet\n" + GOOD, 1, "no lengths named 'feet'"),
        ("convention,Craig\n" + GOOD, 1, "no convention named 'Craig'"),
        ("robot,x\nrobot,y\n" + GOOD, 2, "robot is stated twice"),
        ("tool,1,2,3\n" + GOOD, 1, "tool must be 6 numbers"),
        ("tool,1,2,3,a,b,c\n" + GOOD, 1, "tool must be a number, not 'a'"),
        ("home,1,2,3,0,0,0\n" + GOOD, 1, "home does not belong"),
        ("wx,wy,wz,vx,vy,vz\n0,0,1,0,0,0\n", None, "no line `home"),
        ("home,0,0,0,0,0,0\nwx,wy,wz,vx,vy,vz\n0,0,1,0,0,0\n0,0,2,0,0,0\n", 4, "screw 2: the angular part"),
        ("home,0,0,0,0,0,0\nbase,0,0,0,0,0,0\nwx,wy,wz,vx,vy,vz\n0,0,1,0,0,0\n", 2, "base does not belong"),
        ("home,0,0,0,0,0,0\naxis_x,axis_y,axis_z,point_x,point_y,point_z\n0,0,0,1,1,1\n", 3, "has no direction"),
        ("type,a,alpha,d,theta\nR,0,0,1,0\nX,0,0,1,0\n", 3, "no joint type 'X'"),
        ("a,alpha,d,theta,lower,upper\n0,0,1,0,-1,1\n0,0,1,0,2,1\n", 3, "lower limit"),
        ("a,alpha,d,theta,mass\n0,0,1,0,1\n0,0,1,0,-2\n", 3, "mass must not be negative: -2"),
        ("joint,a,alpha,d,theta\ntool_joint,0,0,1,0\n", None, "tool_joint"),
        ("type,a,alpha,d,theta,arc_1,arc_2\nP,0,0,1,0,1,2\n", 2, "arc_1 is for joints that turn"),
        ("a,alpha,d,theta,arc_1\n0,0,1,0,1\n", 2, "one of them is missing"),
        ("a,alpha,d,theta,arc_1,arc_2,lower\n0,0,1,0,1,2,0\n", 2, "limits are given twice"),
        (GOOD + "0,1_0,1,0\n", 3, "alpha must be a number, not '1_0'"),
        (GOOD + "0,0,1e300,0\n", 3, "d is too large: 1e300"),
        (GOOD.replace(",", ";") + "0;0;0,5;0\n", 3, "d must be a number, not '0,5'"),
        (GOOD + "0,0,1,0\n" * 1000, 1002, "more than 1000 rows"),
        ("a,alpha,d,theta," + "x" * 101 + "\n", 1, "more than 100 characters"),
        ('a,alpha,d,theta\n"0,0,1,0\n', None, "not comma-separated values"),
    ],
)
def test_wrong_files(tmp_path: Path, text: str, line: int | None, said: str) -> None:
    path = written(tmp_path, text)
    with pytest.raises(FileFormatError, match=said) as caught:
        load_robot_table(path)
    assert (caught.value.path, caught.value.line) == (str(path), line)
    assert "\n" not in str(caught.value)


def test_what_is_no_text(tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match="not text in UTF-8") as caught:
        load_robot_table(written(tmp_path, b"a,alpha\n\x80\xff"))
    assert caught.value.line == 2
    with pytest.raises(FileFormatError, match="larger than 1 MB"):
        load_robot_table(written(tmp_path, "#" * (1 << 20) + GOOD))
    os.mkfifo(tmp_path / "pipe.csv")
    for path, said in (
        (tmp_path, "this is a folder, not a robot table"),
        (tmp_path / "absent.csv", "no such file"),
        (tmp_path / "pipe.csv", "not a regular file"),
    ):
        with pytest.raises(FileFormatError, match=said):
            load_robot_table(path)
