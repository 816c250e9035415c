"""A robot's own Denavit-Hartenberg parameters and screws, against Pinocchio and the tables of publications."""

from __future__ import annotations

import math

import numpy as np
import pytest
from robokin_addon.robokin import (
    DHRow,
    Joint,
    Link,
    ModelError,
    RobotModel,
    UnknownNameError,
    dh_table,
    forward_kinematics,
    inverse_dynamics,
    library_robot,
    load_urdf,
    mass_matrix,
    random_configuration,
    read_robot_table,
    robot_from_dh,
    robot_table_text,
    screw_table,
    space_jacobian,
)
from robokin_addon.robokin.construction import DHTable, ScrewTable
from support.few import rest_slow
from support.oracles.pinocchio_oracle import Oracle
from support.random_problems.random_arms import random_arm
from support.random_problems.random_trees import random_placement, random_robot
from support.robots import robot

HALF = math.pi / 2.0
CONVENTIONS = ("classic", "modified")
AXES = ("fixed", "revolute", "continuous", "prismatic", "planar", "cylindrical", "universal", "gimbal")


def tables(model: RobotModel, tip: str) -> list[DHTable | ScrewTable]:
    return [*(dh_table(model, tip, convention) for convention in CONVENTIONS), screw_table(model, tip)]


def assert_same_motion(model: RobotModel, tip: str, other: RobotModel, seed: int = 0) -> None:
    """Pinocchio says where the robot's tip is from its root link; the robot of the table says the same."""
    oracle, rng = Oracle.from_model(model), np.random.default_rng(seed)
    columns = [i for joint in way(model, tip) for i in range(model.slot(joint).q.start, model.slot(joint).q.stop)]
    assert other.nq == len(columns)
    for _ in range(5):
        q = np.clip(rng.uniform(-3.0, 3.0, model.nq), model.lower, model.upper)
        placed = oracle.frames(q)
        expected = np.linalg.inv(placed[model.root_link.name]) @ placed[tip]
        assert forward_kinematics(other, q[columns])["tool"] == pytest.approx(expected, abs=1e-9)


def way(model: RobotModel, tip: str) -> list[str]:
    """Moving joints from the root link to the tip."""
    parents = {joint.child: joint for joint in model.joints[1:]}
    found = []
    while tip in parents:
        if parents[tip].nv:
            found.append(parents[tip].name)
        tip = str(parents[tip].parent)
    return found[::-1]


@pytest.mark.parametrize("seed", rest_slow(range(30), 15))
def test_random_robots(seed: int) -> None:
    """Any placement of any joint that is a sequence of axes, in a tree, on any base."""
    root = ("fixed", "planar", "floating")[seed % 3]
    model = random_robot(seed, joints=8, root=root, types=AXES, mimics=0.0)
    tip = next(name for name in model.link_names[::-1] if way(model, name))
    for table in tables(model, tip):
        assert_same_motion(model, tip, table.robot())
        assert_same_motion(model, tip, read_robot_table(robot_table_text(table)))


@pytest.mark.parametrize("seed", range(20))
def test_tables_of_tables(seed: int) -> None:
    """Right angles, parallel and meeting axes, as tables of real arms have them, from random placements of the base."""
    rng = np.random.default_rng(seed)
    rows = [
        DHRow(
            a=rng.choice([0.0, 0.3, -0.2]),
            d=rng.choice([0.0, 0.4]),
            alpha=rng.choice([0.0, HALF, -HALF, math.pi]),
            theta=rng.choice([0.0, HALF, math.pi, rng.uniform(-3, 3)]),
            type=str(rng.choice(["R", "R", "P"])),
        )
        for _ in range(6)
    ]
    base, tool = random_placement(rng), random_placement(rng)
    model = robot_from_dh(rows, str(rng.choice(CONVENTIONS)), base=base, tool=tool)
    for table in tables(model, "tool"):
        assert_same_motion(model, "tool", table.robot())
    for row in dh_table(model).rows:
        assert abs(row.theta) <= HALF + 1e-9 or row.a  # parallel axes may need a turn
        assert max(abs(row.a), abs(row.d)) < 10.0


def test_the_masses_come_along() -> None:
    """Equations of motion, Pinocchio's of the robot and ours of its tables, a fixed link behind the last joint too."""
    for seed in range(5):
        arm = random_arm(seed)
        last = arm.links[-1].name
        hand = Link("hand", 0.7, np.array([0.1, 0.0, 0.05]), np.diag([0.01, 0.02, 0.015]))
        joints = [*arm.joints[1:], Joint("grip", "fixed", last, "hand", random_placement(np.random.default_rng(seed)))]
        heavy = [Link(k.name, 1.0 + i, np.array([0.01, 0.02, 0.1]), 0.1 * np.eye(3)) for i, k in enumerate(arm.links)]
        model = RobotModel("arm", [*heavy, hand], joints)
        oracle, rng = Oracle.from_model(model), np.random.default_rng(seed)
        q, v, a = random_configuration(model, rng), rng.normal(size=model.nv), rng.normal(size=model.nv)
        for table in tables(model, "hand"):
            for other in (table.robot(), read_robot_table(robot_table_text(table, "radians", "cm"))):
                assert mass_matrix(other, q) == pytest.approx(oracle.mass_matrix(q), abs=1e-9)
                assert inverse_dynamics(other, q, v, a) == pytest.approx(oracle.inverse_dynamics(q, v, a), abs=1e-8)
                for limit in ("lower", "upper", "velocity", "effort", "acceleration"):
                    assert getattr(other, limit) == pytest.approx(getattr(model, limit))


def shown(table: DHTable) -> np.ndarray:
    return np.array([[row.theta, row.d, row.a, row.alpha] for row in table.rows])


def test_published_tables_come_back() -> None:
    """Of the Puma 560 (classic; Corke and Armstrong-Helouvry 1994) and the Panda (modified; Franka), as printed."""
    puma = dh_table(library_robot("puma560"))
    height = 26.45 * 0.0254
    printed = [
        (0, height, 0, HALF),
        (0, 0.15005, 0.4318, 0),
        (0, 0, 0.0203, -HALF),
        (0, 0.4318, 0, HALF),
        (0, 0, 0, -HALF),
        (0, 0, 0, 0),
    ]
    assert shown(puma)[:, 0] == pytest.approx(0.0, abs=1e-12)
    # d of parallel axes is anyone's choice: the sum of rows 2 and 3 is what the texts say.
    assert shown(puma)[:, 2:] == pytest.approx(np.array(printed, float)[:, 2:], abs=1e-12)
    assert shown(puma)[:, 1] == pytest.approx([height, 0.15005, 0.0, 0.4318, 0.0, 0.0], abs=1e-12)
    panda = dh_table(library_robot("panda"), convention="modified")
    printed = [
        (0, 0.333, 0, 0),
        (0, 0, 0, -HALF),
        (0, 0.316, 0, HALF),
        (0, 0, 0.0825, HALF),
        (0, 0.384, -0.0825, -HALF),
        (0, 0, 0, HALF),
        (0, 0.107, 0.088, HALF),  # the flange, which the text has as a frame of its own
    ]
    assert shown(panda) == pytest.approx(np.array(printed, float), abs=1e-12)
    desk = dh_table(library_robot("desk_arm"))
    for T in (puma.base, puma.tool, panda.base, panda.tool, desk.tool):
        assert T == pytest.approx(np.eye(4), abs=1e-12)


@pytest.mark.parametrize(
    ("name", "tip"), [("ur5_robot", "tool0"), ("panda", "panda_hand"), ("talos_reduced", "gripper_left_base_link")]
)
def test_real_robots(name: str, tip: str) -> None:
    model = load_urdf(robot(name))
    for table in tables(model, tip):
        assert_same_motion(model, tip, table.robot())
        assert_same_motion(model, tip, read_robot_table(robot_table_text(table, lengths="mm")))


def test_screws_are_the_space_jacobian_at_zero() -> None:
    model = library_robot("puma560")
    screws = np.array([row.screw for row in screw_table(model).rows]).T
    assert screws == pytest.approx(space_jacobian(model, np.zeros(6), "tool"), abs=1e-12)


def test_nearly_parallel_axes() -> None:
    """What 1.57 for a right angle makes of parallel axes."""
    for angle in (1e-3, 3.7e-6, 1e-12):
        rows = [DHRow(a=0.5, alpha=angle), DHRow(a=0.4, alpha=-angle / 3), DHRow(a=0.3, d=0.1)]
        model = robot_from_dh(rows)
        for table in tables(model, "tool"):
            assert_same_motion(model, "tool", table.robot())
            assert_same_motion(model, "tool", read_robot_table(robot_table_text(table)))


def chain(*joints: Joint) -> RobotModel:
    return RobotModel("chain", [Link("base"), *(Link(joint.child) for joint in joints)], joints)


def test_what_no_table_can_hold_is_said() -> None:
    screw = Joint("lead", "screw", "base", "nut", pitch=0.01, lower=-50.0, upper=50.0)
    model = chain(screw)
    with pytest.raises(ModelError, match="'lead' is a screw: no Denavit-Hartenberg row is one"):
        dh_table(model)
    assert screw_table(model).rows[0].screw == pytest.approx([0.0, 0.0, 0.01, 0.0, 0.0, 1.0])
    assert_same_motion(model, "nut", read_robot_table(robot_table_text(screw_table(model), lengths="mm")))
    for make in (dh_table, screw_table):
        with pytest.raises(ModelError, match="'free' is floating"):
            make(chain(Joint("free", "floating", "base", "body")))
        with pytest.raises(ModelError, match="no joint moves 'a'"):
            make(chain(Joint("still", "fixed", "base", "a")))
        with pytest.raises(ModelError, match=r"'chain' has 2 tips: say which .*\(a, b\)"):
            make(chain(Joint("left", "revolute", "base", "a"), Joint("right", "revolute", "base", "b")))
        with pytest.raises(UnknownNameError, match="no link named 'hand'"):
            make(library_robot("puma560"), "hand")
        with pytest.raises(ModelError, match="'panda_finger_joint2' follows 'panda_finger_joint1'"):
            make(load_urdf(robot("panda")), "panda_rightfinger")
    with pytest.raises(UnknownNameError, match=r"no convention named 'Craig'.*classic, modified"):
        dh_table(library_robot("puma560"), convention="Craig")
    with pytest.raises(UnknownNameError, match="no lengths named 'feet'"):
        robot_table_text(dh_table(library_robot("puma560")), lengths="feet")


def test_names_that_a_table_cannot_hold() -> None:
    """Separators, words of the table itself, and names that would meet."""
    joints = [
        Joint("a,b", "revolute", "base", "base_link"),
        Joint("a;b", "universal", "base_link", "tool"),
        Joint("tool_joint", "continuous", "tool", "link_1"),
        Joint("# \t", "prismatic", "link_1", 'x"' + 200 * "y"),
    ]
    model = chain(*joints)
    for table in tables(model, model.link_names[-1]):
        again = read_robot_table(robot_table_text(table))
        assert_same_motion(model, model.link_names[-1], again)
        assert [j.name for j in again.moving_joints][:3] == ["a b", "a b_1", "a b_2"]


def test_a_table_is_short() -> None:
    """Only columns that say something, and a teacher's numbers in them."""
    text = robot_table_text(dh_table(library_robot("planar_2r"), convention="modified"))
    assert text.splitlines()[:5] == [
        "robot,Planar 2R",
        "angles,degrees",
        "lengths,m",
        "convention,modified",
        "tool,0.4,0,0,0,0,0",
    ]
    first = dict(zip(text.splitlines()[5].split(","), text.splitlines()[6].split(","), strict=True))
    assert (first["joint"], first["type"], first["theta"], first["lower"]) == ("joint_1", "R", "0", "-160")
    assert "friction" not in first
