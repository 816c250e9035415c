"""How near tools are to singularities, against Pinocchio's Jacobians; which ones, where determinants vanish."""

from __future__ import annotations

import numpy as np
import pytest
from robokin_addon.robokin import ConfigurationError, RobotModel, library_robot, load_urdf, random_configuration
from robokin_addon.solvers import (
    Motion,
    MotionSingularities,
    PoseTask,
    PositionTask,
    Singularities,
    check_motion,
    tool_at,
    tools_of,
)
from robokin_addon.solvers.families.chain import chain_of, jacobian
from robokin_addon.solvers.families.recognition import recognise
from robokin_addon.solvers.singularities.kinds import factors
from scipy.optimize import brentq, minimize_scalar
from support.oracles.pinocchio_oracle import Oracle
from support.problems.family_robots import RANDOM_FAMILIES, family_robot, random_family
from support.robots import robot

SIX = [name for name, (joints, *_) in RANDOM_FAMILIES.items() if joints == 6]


def mobile_arm() -> RobotModel:
    return library_robot("mobile_arm")


@pytest.mark.parametrize(("name", "link"), [("panda", "panda_hand"), ("ur5_robot", "tool0")])
def test_values_are_those_of_pinocchio(name: str, link: str) -> None:
    path = robot(name)
    model = load_urdf(path)
    oracle, rng = Oracle.from_urdf(model, path), np.random.default_rng(1)
    tool = tool_at(model, link)
    q = np.array([random_configuration(model, rng) for _ in range(20)])
    values, sizes = Singularities(tool).over(q)
    for each, value, size in zip(q, values, sizes, strict=True):
        J = oracle.frame_jacobian(each, link, "local_world_aligned")
        J[:3] /= tool.length
        J = J * np.where(model.is_length, tool.length, 1.0)
        s = np.linalg.svd(J, compute_uv=False)
        assert value == pytest.approx(s[5], abs=1e-12) and size == pytest.approx(s.prod(), rel=1e-9)


def test_the_axes_of_a_task_count_and_its_tip() -> None:
    model = load_urdf(robot("panda"))
    oracle = Oracle.from_model(model)
    q, offset = random_configuration(model, np.random.default_rng(2)), np.eye(4)
    offset[:3, 3] = 0.1, 0.2, 0.3
    (tool,) = tools_of(model, [PoseTask("panda_hand", np.eye(4), (1, 0, 1), (0, 2, 0), "tip", offset)])
    J = oracle.frame_jacobian(q, "panda_hand", "local")
    J[:3] += np.cross(J[3:].T, offset[:3, 3]).T
    assert tool.rank == 3
    J[:3] /= tool.length
    J = (J * np.where(model.is_length, tool.length, 1.0))[[0, 2, 4]]
    value = Singularities(tool).over(q[None])[0][0]
    assert value == pytest.approx(np.linalg.svd(J, compute_uv=False)[2], abs=1e-12)


@pytest.mark.parametrize("name", SIX)
def test_a_factor_vanishes_wherever_the_determinant_does(name: str) -> None:
    rng = np.random.default_rng(3)
    model = random_family(name, rng)
    chain = chain_of(model, "tool", np.eye(4), model.limits)
    assert chain is not None
    family = recognise(chain, True)
    assert family is not None
    roots = 0
    for _ in range(8):
        start, way = rng.uniform(-3.0, 3.0, (2, 6))

        def determinant(share: float, start=start, way=way) -> float:
            return float(np.linalg.det(jacobian(chain, start + share * way)))

        shares = np.linspace(0.0, 1.0, 40)
        values = np.array([determinant(share) for share in shares])
        for i in np.flatnonzero(np.sign(values[1:]) != np.sign(values[:-1])):
            root = brentq(determinant, shares[i], shares[i + 1], xtol=1e-15)
            assert min(factors(family, start + root * way).values()) < 1e-9
            roots += 1
    assert roots > 2


@pytest.mark.parametrize(
    ("name", "q", "kind", "joints"),
    [
        ("puma560", [0.2, -0.7, 0.5, 0.3, 1e-3, 0.2], "wrist", {"joint_4", "joint_6"}),
        ("kr6", [0.3, -1.0, 1.5, 0.4, 0.0, 0.2], "wrist", {"joint_4", "joint_6"}),
        ("ur5", [0.3, -1.2, 1e-3, -1.0, 0.8, 0.2], "elbow", {"joint_2", "joint_3", "joint_4"}),
        ("ur5", [0.3, -1.2, 1.5, -1.0, 0.0, 0.2], "wrist", {"joint_3", "joint_4", "joint_6"}),
        ("iiwa", [0.3, 0.5, 0.4, 1e-4, 0.6, 0.7, 0.1], "elbow", set()),
        ("iiwa", [0.3, 0.0, 1.5707963, 1.0, 0.2, 0.7, 0.1], "shoulder", set()),
        ("iiwa", [0.3, 0.0, 0.4, 1.0, 0.6, 0.0, 0.1], "shoulder and wrist", set()),
        ("panda", [0.0, 0.0, 0.0, -1.5, 0.0, 1.5, 0.0], "", set()),
    ],
)
def test_which_one_is_reported(name: str, q: list[float], kind: str, joints: set[str]) -> None:
    model = library_robot(name) if name == "panda" else family_robot(name)
    near = Singularities(tool_at(model, model.links[-1].name)).at(np.array(q))
    assert near.kind == kind
    if kind:
        assert near.value < 2e-3
    if joints:
        assert set(near.joints) == joints


def test_the_wrist_above_the_first_axis_is_the_shoulder() -> None:
    model = family_robot("ur5")
    tool = Singularities(tool_at(model, model.links[-1].name))

    found = minimize_scalar(lambda x: tool.at(np.array([0.3, x, 1.0, -1.0, 0.8, 0.2])).value, (-2.4, -2.0)).x
    near = tool.at(np.array([0.3, found, 1.0, -1.0, 0.8, 0.2]))
    assert near.value < 2e-3 and near.kind == "shoulder"


def test_what_an_arm_can_never_do_is_not_singular() -> None:
    """Five of a UR5's joints: five velocities can be chosen."""
    model = load_urdf(robot("ur5_robot"))
    tool = tool_at(model, "wrist_2_link")
    assert tool.rank == 5
    assert Singularities(tool).at(np.array([0.3, -1.2, 1.5, -1.0, 0.8, 0.2])).value > 0.02


def test_wheels_move_a_base_as_they_roll() -> None:
    """A tip on the base cannot go sideways."""
    model = mobile_arm()
    base = model.rolling_bases[0]
    q = model.neutral()
    q[base.q + 2] = 0.4
    J = tool_at(model, model.links[0].name).jacobian(q[None])[0]
    assert not J[:, base.v : base.v + 3].any() and abs(np.linalg.det(J[:2][:, list(base.wheel_v)])) < 1e-12


def test_a_stretched_arm_is_reported_in_a_check() -> None:
    model = library_robot("planar_2r")
    tip = model.links[-1].name
    motion = Motion.of(model, np.arange(5) / 4.0, np.outer(np.arange(5), [0.0, 0.05]))
    tasks = [PositionTask(tip, np.zeros(3), (1, 1, 0))]
    found = check_motion(motion, tasks, singularity=0.02)
    near = found.singularities.near
    assert [each.frame for each in near] == [0, 1] and near[0].why.startswith("elbow: it cannot move along x")
    assert "near a singularity 2" in found.summary() and not found.violations
    assert found.to_dict()["warnings"][1]["kind"] == "singularity"
    assert check_motion(motion, tasks).singularities is None
    columns = MotionSingularities.of(motion, tasks).columns()
    assert len(columns) == 2 and (np.diff(columns[f"{tasks[0].name} singular value"][1]) > 0.0).all()


def test_configurations_that_are_none_are_named() -> None:
    model = library_robot("puma560")
    found = Singularities(tool_at(model, "tool"))
    q = model.neutral()
    for wrong in (q * np.nan, None, q[:3]):
        with pytest.raises(ConfigurationError):
            found.at(wrong)
    for wrong in (q, q[None] * np.nan, None):
        with pytest.raises(ConfigurationError, match="of shape"):
            found.over(wrong)
    motion = Motion.of(model, [0.0, 1.0], np.stack((q, q)))
    for wrong in ("x", np.nan, -1.0):
        with pytest.raises(ConfigurationError, match="threshold must be"):
            MotionSingularities.of(motion, [PoseTask("tool", np.eye(4))], wrong)
