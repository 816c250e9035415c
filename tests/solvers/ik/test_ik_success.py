"""How often reachable targets are met, on real and random robots; judged by Pinocchio's FK."""

from __future__ import annotations

import numpy as np
import pytest
from robokin_addon.robokin import RobotModel, load_urdf
from robokin_addon.robokin.backend import get_backend
from robokin_addon.robokin.configuration import random_configuration
from robokin_addon.solvers import IKProblem, PoseTask, PositionTask
from support.oracles.pinocchio_oracle import Oracle
from support.random_problems.random_arms import random_arm
from support.robots import robot


def _reachable(model: RobotModel, links: list[str], count: int, seed: int = 0) -> np.ndarray:
    """(count, links, 4, 4) targets from uniform configurations."""
    rng = np.random.default_rng(seed)
    q = np.array([random_configuration(model, rng) for _ in range(count)])
    frames = get_backend("native").frame_placements(model.tree, q)
    return np.ascontiguousarray(frames[:, [model.link_index(link) for link in links]])


def _problem(model: RobotModel, links: list[str], **options) -> IKProblem:
    return IKProblem(model, [PoseTask(link, np.eye(4)) for link in links], backend="native", **options)


def _count_met(oracle: Oracle, links: list[str], targets: np.ndarray, configurations: np.ndarray) -> int:
    """Configurations inside the limits at which Pinocchio sees every tip within 1e-5 m and 1e-5 rad."""
    met = 0
    for goal, q in zip(targets, configurations, strict=True):
        frames = oracle.frames(q)
        good = (q >= oracle.model.lower).all() and (q <= oracle.model.upper).all()
        for link, target in zip(links, goal, strict=True):
            T = frames[link]
            angle = np.linalg.norm(T[:3, :3].T @ target[:3, :3] - np.eye(3)) / np.sqrt(2.0)
            good &= np.linalg.norm(T[:3, 3] - target[:3, 3]) < 1.001e-5 and angle < 1.001e-5
        met += bool(good)
    return met


@pytest.mark.parametrize(
    ("name", "links", "root", "count"),
    [
        ("panda", ["panda_link8"], "fixed", 1000),
        ("ur5_robot", ["ee_link"], "fixed", 1000),
        ("kinova", ["j2s6s200_end_effector"], "fixed", 1000),
        ("tiago_dual", ["arm_left_tool_link", "arm_right_tool_link"], "planar", 60),
        ("talos_reduced", ["gripper_left_base_link", "gripper_right_base_link", "left_sole_link", "right_sole_link"],
         "floating", 300),
        ("anymal", ["LF_FOOT", "RF_FOOT", "LH_FOOT", "RH_FOOT"], "floating", 100),
    ],
)  # fmt: skip
def test_real_robots(name: str, links: list[str], root: str, count: int) -> None:
    model = load_urdf(robot(name), root=root)
    targets = _reachable(model, links, count)
    result = _problem(model, links).solve_batch(targets)
    assert result.converged.sum() >= 0.999 * count
    assert _count_met(Oracle.from_urdf(model, robot(name)), links, targets, result.q) == result.converged.sum()


def test_random_arms() -> None:
    met = 0
    for seed in range(48):
        model = random_arm(seed)
        met += (
            _problem(model, [model.links[-1].name])
            .solve_batch(_reachable(model, [model.links[-1].name], 50))
            .converged.sum()
        )
    assert met >= 0.9985 * 48 * 50


@pytest.mark.parametrize("scale", [0.01, 100.0])
def test_size_does_not_matter(scale: float) -> None:
    """The same robot at another scale, with tolerances to scale: the same iterations."""
    for seed in range(12):
        counts = []
        for size in (1.0, scale):
            model = random_arm(seed, size)
            tip = model.links[-1].name
            task = PoseTask(tip, np.eye(4), position_tolerance=1e-5 * size)
            result = IKProblem(model, [task], backend="native").solve_batch(_reachable(model, [tip], 40))
            counts.append(result.iterations)
            assert result.converged.all()
        assert (counts[0] == counts[1]).mean() > 0.9  # rounding may tip a rare decision


def test_limits_hold_to_the_last_bit() -> None:
    """Arms pulled against their stops from random starts: q + (upper - q) is often not upper in floating point."""
    pulled = 0
    for seed in range(8):
        model = random_arm(seed)
        rng = np.random.default_rng(seed)
        targets = np.tile(np.eye(4), (100, 1, 1, 1))
        targets[:, 0, :3, 3] = 50.0 * rng.normal(size=(100, 3))
        starts = np.array([random_configuration(model, rng) for _ in targets])
        problem = IKProblem(model, [PositionTask(model.links[-1].name, np.zeros(3))], backend="native")
        q = problem.solve_batch(targets, starts).q
        assert (q >= model.lower).all() and (q <= model.upper).all()
        pulled += ((q == model.lower) | (q == model.upper)).sum()
    assert pulled > 200


def test_far_away_targets_of_a_free_base() -> None:
    """A base that floats can be anywhere: the start may be many robot lengths away."""
    model = load_urdf(robot("talos_reduced"), root="floating")
    links = ["left_sole_link", "right_sole_link"]
    targets = _reachable(model, links, 20)
    targets[:, :, :3, 3] += [1000.0, -500.0, 20.0]
    assert _problem(model, links).solve_batch(targets).converged.all()


def test_a_start_at_the_solution_needs_no_step() -> None:
    model = load_urdf(robot("panda"))
    rng = np.random.default_rng(0)
    q = random_configuration(model, rng)
    T = Oracle.from_urdf(model, robot("panda")).frames(q)["panda_link8"]
    result = _problem(model, ["panda_link8"]).solve(T[None], q0=q)
    assert result.converged and result.iterations == 0
    np.testing.assert_array_equal(result.q, q)
