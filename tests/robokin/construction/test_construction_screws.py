"""Robots from screws, against Pinocchio's exponentials, a power series and other robots' own screws."""

from __future__ import annotations

from functools import reduce

import numpy as np
import pinocchio as pin
import pytest
from robokin_addon.robokin import (
    ModelError,
    ScrewRow,
    forward_kinematics,
    gravity_torque,
    load_urdf,
    random_configuration,
    robot_from_screws,
    space_jacobian,
)
from robokin_addon.robokin.spatial import se3
from support.random_problems.random_trees import random_placement
from support.robots import robot


def random_screws(rng: np.random.Generator, count: int = 6) -> list[np.ndarray]:
    screws = []
    for _ in range(count):
        w = rng.normal(size=3)
        w /= np.linalg.norm(w)
        kind = rng.choice(["turns", "turns", "slides", "screws"])
        pitch = rng.uniform(-0.2, 0.2) if kind == "screws" else 0.0
        v = np.cross(rng.normal(size=3), w) + pitch * w
        screws.append(np.concatenate((w, np.zeros(3)) if kind == "slides" else (v, w)))
    return screws


def series(matrix: np.ndarray) -> np.ndarray:
    """exp of a matrix by its power series, in extended precision, halved twenty times and squared again."""
    term = total = np.eye(4, dtype=np.longdouble)
    small = matrix.astype(np.longdouble) / 2**20
    for k in range(1, 12):
        term = term @ small / k
        total = total + term
    for _ in range(20):
        total = total @ total
    return total


@pytest.mark.parametrize("seed", range(5))
def test_the_product_of_exponentials(seed: int) -> None:
    rng = np.random.default_rng(seed)
    screws, home = random_screws(rng), random_placement(rng)
    model = robot_from_screws(screws, home)
    for _ in range(5):
        q = random_configuration(model, rng)
        T = forward_kinematics(model, q)["tool"]
        by_pinocchio = reduce(np.matmul, [pin.exp6(S * x).homogeneous for S, x in zip(screws, q, strict=True)]) @ home
        by_series = reduce(np.matmul, [series(se3.hat(S * x)) for S, x in zip(screws, q, strict=True)]) @ home
        assert T == pytest.approx(by_pinocchio, abs=1e-12)
        assert T == pytest.approx(by_series.astype(float), abs=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_the_screws_are_the_space_jacobian_at_zero(seed: int) -> None:
    screws = random_screws(np.random.default_rng(seed))
    model = robot_from_screws(screws, np.eye(4))
    assert space_jacobian(model, model.neutral(), "tool") == pytest.approx(np.array(screws).T, abs=1e-13)


@pytest.mark.parametrize(("name", "tip", "count"), [("panda", "panda_link8", 7), ("ur5_robot", "tool0", 6)])
def test_a_real_arm_from_its_own_screws(name: str, tip: str, count: int) -> None:
    real = load_urdf(robot(name))
    zero = real.neutral()
    screws = space_jacobian(real, zero, tip)[:, :count].T
    made = robot_from_screws(list(screws), forward_kinematics(real, zero)[tip])
    rng = np.random.default_rng(4)
    for _ in range(10):
        q = np.zeros(real.nq)
        q[:count] = rng.uniform(-3.0, 3.0, count)
        assert forward_kinematics(made, q[:count])["tool"] == pytest.approx(forward_kinematics(real, q)[tip], abs=1e-9)


def test_masses_are_given_in_the_root_frame_at_zero() -> None:
    """Gravity torque by central differences of the energy of points carried by the exponentials."""
    rng = np.random.default_rng(5)
    screws = random_screws(rng)
    coms, masses = rng.normal(size=(6, 3)), rng.uniform(0.5, 2.0, 6)
    rows = [ScrewRow(screw=S, mass=m, com=c) for S, m, c in zip(screws, masses, coms, strict=True)]
    model = robot_from_screws(rows, np.eye(4))
    assert forward_kinematics(model, model.neutral())["link_3"][:3, :3] == pytest.approx(np.eye(3), abs=1e-15)

    def potential(q: np.ndarray) -> float:
        T, energy = np.eye(4), 0.0
        for S, x, mass, com in zip(screws, q, masses, coms, strict=True):
            T = T @ pin.exp6(S * x).homogeneous
            energy += 9.81 * mass * (T[:3, :3] @ com + T[:3, 3])[2]
        return energy

    q, h = random_configuration(model, rng), 1e-6
    torque = [(potential(q + dq) - potential(q - dq)) / (2 * h) for dq in h * np.eye(6)]
    assert gravity_torque(model, q) == pytest.approx(np.array(torque), abs=1e-6)


def test_axes_and_points() -> None:
    about = ScrewRow.about((0.0, 0.0, 2.0), (0.3, 0.1, 0.7), lower=-1.0, upper=1.0)
    assert about.screw == pytest.approx([0.1, -0.3, 0.0, 0.0, 0.0, 1.0])
    along = ScrewRow.along((0.0, 5.0, 0.0), joint="slide", upper=0.5, lower=0.0)
    model = robot_from_screws([about, along, [0.0, 0.0, 0.0, 0.0, 0.0, 1.0]], np.eye(4), tool_link="pen")
    assert [j.type for j in model.joints[1:]] == ["revolute", "prismatic", "continuous", "fixed"]
    origins = forward_kinematics(model, model.neutral())
    assert origins["link_1"][:3, 3] == pytest.approx([0.3, 0.1, 0.7])
    assert origins["link_2"][:3, 3] == pytest.approx([0.3, 0.1, 0.7])  # a slide stays where the link before it is
    assert origins["link_3"][:3, 3] == pytest.approx([0.0, 0.0, 0.0])
    rounded = [0.0, 0.0, 0.0, 0.7071, 0.7071, 0.0]  # as printed
    assert np.linalg.norm(robot_from_screws([rounded], np.eye(4)).joint("joint_1").axis) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("screws", "home", "said"),
    [
        ([], np.eye(4), "at least one screw"),
        ([[0, 0, 0, 0, 0, 1], [0, 0, 1, 0, 0, 2]], np.eye(4), r"screw 2: the angular part must have length 1, not 2"),
        ([[0, 3, 0, 0, 0, 0]], np.eye(4), r"screw 1: the linear part must have length 1, not 3"),
        ([[0, 0, 0, 0, 0, 0]], np.eye(4), r"screw 1: the linear part must have length 1, not 0"),
        ([[0, 0, 0, 0, 1]], np.eye(4), r"screw 1 .*must be 6 finite numbers"),
        ([[0, 0, 0, 0, 0, np.nan]], np.eye(4), r"screw 1 .*must be 6 finite numbers"),
        ([[0, 0, 0, 0, 0, 1]], np.diag([1.0, 1.0, -1.0, 1.0]), "home is not a rigid placement"),
        ([ScrewRow(screw=[0, 0, 0, 0, 0, 1], point=[0.1, 0, 0])], np.eye(4), r"screw 1: point .* is not on its axis"),
    ],
)
def test_wrong_screws(screws: list, home: np.ndarray, said: str) -> None:
    with pytest.raises(ModelError, match=said):
        robot_from_screws([S if isinstance(S, ScrewRow) else np.array(S, float) for S in screws], home)


def test_a_screw_joint() -> None:
    row = ScrewRow.about((0, 0, 2), (0.3, 0.0, 0.0), pitch=0.01, lower=-20.0, upper=20.0)
    joint = robot_from_screws([row], np.eye(4)).joint("joint_1")
    assert (joint.type, joint.pitch) == ("screw", pytest.approx(0.01))
    assert (joint.lower[0], joint.upper[0]) == (-20.0, 20.0)
    # The rounding of a printed table is no pitch.
    assert robot_from_screws([row.screw * [1, 1, 1e-6, 1, 1, 1]], np.eye(4)).joint("joint_1").type == "continuous"


def test_an_axis_without_direction() -> None:
    with pytest.raises(ModelError, match="has no direction"):
        ScrewRow.about((0.0, 0.0, 0.0), (1.0, 0.0, 0.0))
