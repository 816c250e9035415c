"""Robots from Denavit-Hartenberg tables, against the texts' matrices, makers' URDFs and Pinocchio."""

from __future__ import annotations

import math
from functools import reduce

import numpy as np
import pytest
from robokin_addon.robokin import (
    DHRow,
    ModelError,
    RobotModel,
    UnknownNameError,
    forward_kinematics,
    gravity_torque,
    inverse_dynamics,
    load_urdf,
    random_configuration,
    robot_from_dh,
)
from robokin_addon.robokin.spatial import se3
from support.oracles.pinocchio_oracle import Oracle
from support.random_problems.random_trees import random_placement
from support.robots import robot

HALF = math.pi / 2.0


def classic(a: float, alpha: float, d: float, theta: float) -> np.ndarray:
    """The matrix as printed (Spong, Hutchinson, Vidyasagar, Eq. 3.10)."""
    ca, sa, ct, st = math.cos(alpha), math.sin(alpha), math.cos(theta), math.sin(theta)
    return np.array([[ct, -st * ca, st * sa, a * ct], [st, ct * ca, -ct * sa, a * st], [0, sa, ca, d], [0, 0, 0, 1]])


def modified(a: float, alpha: float, d: float, theta: float) -> np.ndarray:
    """The matrix as printed (Craig, Eq. 3.6), with a and alpha of the row."""
    ca, sa, ct, st = math.cos(alpha), math.sin(alpha), math.cos(theta), math.sin(theta)
    return np.array([[ct, -st, 0, a], [st * ca, ct * ca, -sa, -sa * d], [st * sa, ct * sa, ca, ca * d], [0, 0, 0, 1]])


PRINTED = {"classic": classic, "modified": modified}


def random_rows(rng: np.random.Generator, count: int = 6) -> list[DHRow]:
    rows = []
    for _ in range(count):
        a, d = rng.uniform(-0.6, 0.6, 2)
        alpha = rng.choice([0.0, HALF, -HALF, math.pi, rng.uniform(-3, 3)])
        theta, offset = rng.uniform(-3.0, 3.0, 2)
        A = rng.normal(size=(3, 3))
        rows.append(
            DHRow(
                a=a,
                alpha=alpha,
                d=d,
                theta=theta,
                offset=offset,
                type=str(rng.choice(["R", "P", "prismatic", "revolute"])),
                lower=-2.0,
                upper=1.5,
                mass=rng.uniform(0.1, 5.0),
                com=rng.uniform(-0.2, 0.2, 3),
                inertia=A @ A.T,
            )
        )
    return rows


def matrices(rows: list[DHRow], convention: str, q: np.ndarray) -> list[np.ndarray]:
    """T_(i-1)_i of each row at q."""
    turns = [row.type[0].lower() == "r" for row in rows]
    return [
        PRINTED[convention](
            row.a,
            row.alpha,
            row.d + (0.0 if turn else x + row.offset),
            row.theta + (x + row.offset if turn else 0.0),
        )
        for row, x, turn in zip(rows, q, turns, strict=True)
    ]


@pytest.mark.parametrize("convention", ["classic", "modified"])
@pytest.mark.parametrize("seed", range(5))
def test_the_printed_matrices(convention: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows, base, tool = random_rows(rng), random_placement(rng), random_placement(rng)
    model = robot_from_dh(rows, convention, base=base, tool=tool)
    for _ in range(5):
        q = random_configuration(model, rng)
        expected = base @ reduce(np.matmul, matrices(rows, convention, q)) @ tool
        assert forward_kinematics(model, q)["tool"] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("convention", ["classic", "modified"])
def test_masses_lie_in_the_frames_of_the_text(convention: str) -> None:
    """Potential energy from the printed frames, its gradient by central differences, is the gravity torque; kinetic
    energy from their motion is half v' M v, with M by Pinocchio too."""
    rng = np.random.default_rng(11)
    rows = random_rows(rng)
    model = robot_from_dh(rows, convention)
    oracle = Oracle.from_model(model)

    def frames(q: np.ndarray) -> list[np.ndarray]:
        steps = matrices(rows, convention, q)
        return [reduce(np.matmul, steps[: i + 1]) for i in range(len(rows))]

    def potential(q: np.ndarray) -> float:
        return sum(
            9.81 * row.mass * (T[:3, :3] @ row.com + T[:3, 3])[2] for row, T in zip(rows, frames(q), strict=True)
        )

    q, v, h = random_configuration(model, rng), rng.normal(size=6), 1e-6
    torque = [(potential(q + dq) - potential(q - dq)) / (2 * h) for dq in h * np.eye(6)]
    assert gravity_torque(model, q) == pytest.approx(np.array(torque), abs=1e-6)
    energy = 0.0
    for row, T, ahead, behind in zip(rows, frames(q), frames(q + h * v), frames(q - h * v), strict=True):
        twist = se3.vee(se3.inverse(T) @ (ahead - behind) / (2 * h))
        speed = twist[:3] + np.cross(twist[3:], row.com)
        energy += 0.5 * (row.mass * speed @ speed + twist[3:] @ row.inertia @ twist[3:])
    assert 0.5 * v @ oracle.mass_matrix(q) @ v == pytest.approx(energy, rel=1e-7)
    a = rng.normal(size=6)
    assert inverse_dynamics(model, q, v, a) == pytest.approx(oracle.inverse_dynamics(q, v, a), abs=1e-9)


def same_up_to_fixed_frames(ours: RobotModel, tip: str, other: RobotModel, link: str, names: list[str]) -> float:
    """Largest difference of the two tips' placements at random q, once base and tool are matched at q = 0."""
    rng = np.random.default_rng(2)
    error = 0.0
    zero = se3.inverse(forward_kinematics(ours, ours.neutral())[tip]), forward_kinematics(other, other.neutral())[link]
    for _ in range(20):
        q = rng.uniform(-3.0, 3.0, len(names))
        T = forward_kinematics(ours, q)[tip]
        expected = forward_kinematics(other, other.configuration(dict(zip(names, q, strict=True))))[link]
        error = max(error, abs(T @ zero[0] @ zero[1] - expected).max())
    return error


def test_the_panda_of_its_maker() -> None:
    """Franka's published modified table ("Denavit-Hartenberg parameters") against the URDF."""
    table = [
        (0.0, 0.0, 0.333),
        (0.0, -HALF, 0.0),
        (0.0, HALF, 0.316),
        (0.0825, HALF, 0.0),
        (-0.0825, -HALF, 0.384),
        (0.0, HALF, 0.0),
        (0.088, HALF, 0.0),
    ]
    model = robot_from_dh([{"a": a, "alpha": alpha, "d": d} for a, alpha, d in table], "modified")
    panda = load_urdf(robot("panda"))
    names = [f"panda_joint{i}" for i in range(1, 8)]
    assert same_up_to_fixed_frames(model, "link_7", panda, "panda_link7", names) < 1e-9


def test_the_ur5_of_its_maker() -> None:
    """Universal Robots' published classic table against the URDF, whose base is turned by half a turn."""
    a, d = (0.0, -0.425, -0.39225, 0.0, 0.0, 0.0), (0.089159, 0.0, 0.0, 0.10915, 0.09465, 0.0823)
    alpha = (HALF, 0.0, 0.0, HALF, -HALF, 0.0)
    turned = np.diag([-1.0, -1.0, 1.0, 1.0])
    rows = [DHRow(a=x, alpha=y, d=z) for x, y, z in zip(a, alpha, d, strict=True)]
    model = robot_from_dh(rows, base=turned)
    ur5 = load_urdf(robot("ur5_robot"))
    names = ["shoulder_pan", "shoulder_lift", "elbow", "wrist_1", "wrist_2", "wrist_3"]
    assert same_up_to_fixed_frames(model, "tool", ur5, "tool0", [f"{n}_joint" for n in names]) < 1e-4


def test_names_types_and_limits() -> None:
    model = robot_from_dh(
        [{"a": 0.4}, DHRow(type="P", joint="slide", link="sled", lower=0.0, upper=0.2, effort=50.0)],
        name="two",
        tool_link="pen",
        root="planar",
    )
    assert (model.name, model.root) == ("two", "planar")
    assert [(j.name, j.type, j.parent, j.child) for j in model.joints[1:]] == [
        ("joint_1", "continuous", "base_link", "link_1"),
        ("slide", "prismatic", "link_1", "sled"),
        ("pen_joint", "fixed", "sled", "pen"),
    ]
    slide = model.joint("slide")
    assert (slide.lower[0], slide.upper[0], slide.effort[0]) == (0.0, 0.2, 50.0)


@pytest.mark.parametrize(
    ("rows", "options", "error", "said"),
    [
        ([], {}, ModelError, "at least one row"),
        ([{"a": 1.0}], {"convention": "Craig"}, UnknownNameError, r"no convention named 'Craig'.*classic, modified"),
        ([{"r": 1.0}], {}, UnknownNameError, r"no column named 'r'"),
        ([{}, {"alpha": "pi"}], {}, ModelError, r"row 2: alpha must be a finite number, not 'pi'"),
        ([{"d": math.nan}], {}, ModelError, r"row 1: d must be a finite number, not nan"),
        ([{"type": "S"}], {}, ModelError, r"row 1: no joint type 'S' \(valid: R, P\)"),
        ([{"lower": 1.0, "upper": 0.0}], {}, ModelError, r"joint 'joint_1': lower limit"),
        ([{"mass": -1.0}], {}, ModelError, r"link 'link_1': mass"),
        ([{"joint": "a"}, {"joint": "a"}], {}, ModelError, "'a'"),
        ([{}], {"tool": np.ones((4, 4))}, ModelError, "tool is not a rigid placement"),
        ([{}], {"tool": np.diag([1.0, 1.0, 1.0, 2.0])}, ModelError, "tool is not a rigid placement .its last row"),
        ([{}], {"base": [1.0, 2.0]}, ModelError, r"base must be a \(4, 4\) placement of finite numbers"),
        ([{}], {"base": [[1.0, 2.0], [3.0]]}, ModelError, r"base must be a \(4, 4\) placement"),
        ([(0.1, 0.2)], {}, ModelError, "a row must be a DHRow or a mapping"),
    ],
)
def test_wrong_tables(rows: list, options: dict, error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        robot_from_dh(rows, **options)
