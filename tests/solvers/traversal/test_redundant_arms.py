"""Arms of seven joints, with and without a closed form, led past singularities; measured by Pinocchio's kinematics."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from robokin_addon.robokin import RobotModel, forward_kinematics, load_urdf, robot_from_dh
from robokin_addon.robokin.errors import TaskError
from robokin_addon.solvers import PoseTask, Singularities, Traversal, all_postures, tool_at, traverse
from robokin_addon.solvers.progress import finish, mapped
from robokin_addon.solvers.traversal import led_postures
from robokin_addon.solvers.traversal.led_postures import led_from
from robokin_addon.solvers.traversal.postures_along import PosturesAlong
from robokin_addon.solvers.traversal.tool_path import ToolPath
from robokin_addon.solvers.traversal.traverse import traverse_steps
from scipy.spatial.transform import Rotation
from support.few import rest_slow
from support.oracles.pinocchio_oracle import Oracle
from support.robots import robot

DT, FRAMES, SPEED, MOST = 1.0 / 24.0, 49, 2.0, (0.01, 0.05)
TIPS = {"panda": "panda_hand", "xarm7": "link7"}
H = 0.5 * np.pi
TABLES = {  # a [m], alpha [quarter turns], d [m], theta [quarter turns] of each joint
    "sawyer": "0.081 -1 0.317 0, 0 1 0.1925 1, 0 -1 0.4 0, 0 1 -0.1685 0, 0 -1 0.4 0, 0 1 0.1363 0, 0 0 0.1337 0",
    "iiwa": "0 -1 0.36 0, 0 1 0 0, 0 1 0.42 0, 0 -1 0 0, 0 -1 0.4 0, 0 1 0 0, 0 0 0.126 0",
}


def arm(name: str) -> tuple[RobotModel, str]:
    if name in TIPS:
        found = load_urdf(robot(name))
        joints = [replace(j, velocity=SPEED) if j.nq else j for j in found.joints[1:]]
        return RobotModel(found.name, found.links, joints, found.root), TIPS[name]
    rows = []
    for row in TABLES[name].split(","):
        a, alpha, d, theta = map(float, row.split())
        rows.append({"a": a, "alpha": alpha * H, "d": d, "theta": theta * H, "lower": -2.9, "upper": 2.9})
        rows[-1]["velocity"] = SPEED
    return robot_from_dh(rows, name=name), "tool"


def near_singular(model: RobotModel, link: str, rng: np.random.Generator) -> np.ndarray:
    lower, upper = model.lower + 0.1, model.upper - 0.1
    q = lower + (upper - lower) * rng.uniform(0.15, 0.85, model.nq)
    tool = Singularities(tool_at(model, link))
    for _ in range(25):
        steps = rng.normal(0.0, 0.3, (200, model.nq)) * rng.random((200, 1)) ** 2
        around = np.vstack((q, np.clip(q + steps, lower, upper)))
        q = around[tool.over(around)[0].argmin()]
    return q


def line_past(model: RobotModel, link: str, offset: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Poses (FRAMES, 4, 4) on 0.2 m beside a singular pose, which have postures; and one (nq,) of the first."""
    rng = np.random.default_rng(seed)
    while True:
        q = near_singular(model, link, rng)
        lost = Singularities(tool_at(model, link)).at(q).lost[:3]
        way = rng.normal(size=3)
        way -= (way @ lost) * lost / max(lost @ lost, 1e-12)
        way /= np.linalg.norm(way)
        aside = np.cross(way, rng.normal(size=3))
        poses = np.tile(forward_kinematics(model, q)[link], (FRAMES, 1, 1))
        poses[:, :3, 3] -= 0.1 * np.cos(np.linspace(0.0, np.pi, FRAMES))[:, None] * way
        poses[:, :3, 3] += offset * aside / np.linalg.norm(aside)
        starts = all_postures(model, [PoseTask(link, poses[0])], q).q
        if len(starts) and all(len(all_postures(model, [PoseTask(link, poses[k])], q)) for k in (24, 48)):
            return poses, starts[0]


def check(model: RobotModel, link: str, poses: np.ndarray, found: Traversal, bound: tuple[float, float]) -> None:
    """Limits, the nearest pose of the path, and its end."""
    q, oracle = found.motion.q, Oracle.from_model(model)
    assert (abs(np.diff(q, axis=0)) <= SPEED * DT * (1.0 + 1e-9)).all() and model.limits.contain(q).all()
    assert (np.diff(found.at) >= 0.0).all() and found.at[-1] == pytest.approx(len(poses) - 1)
    fine = np.linspace(0.0, len(poses) - 1.0, 40 * len(poses))
    path = np.array([np.interp(fine, np.arange(len(poses)), column) for column in poses[:, :3, 3].T]).T
    for each in q:
        T = oracle.frames(each)[link]
        assert np.linalg.norm(path - T[:3, 3], axis=1).min() <= bound[0]
        assert Rotation.from_matrix(poses[0, :3, :3].T @ T[:3, :3]).magnitude() <= bound[1]
    assert np.linalg.norm(oracle.frames(q[-1])[link][:3, 3] - poses[-1, :3, 3]) <= bound[0]


CASES = [("sawyer", 0.0), ("panda", 1e-4), ("iiwa", 1e-3), ("xarm7", 1e-5), ("sawyer", 5e-3)]


@pytest.mark.parametrize(("name", "offset"), rest_slow(CASES, 2))
def test_a_redundant_arm_moves_in_itself_past_a_singularity(name: str, offset: float) -> None:
    model, link = arm(name)
    poses, start = line_past(model, link, offset, 5)
    task, tool = PoseTask(link, poses[0]), Singularities(tool_at(model, link))
    slow = traverse(model, task, poses, start, DT, "slow-down")
    assert abs(slow.motion.q[0] - start).max() < 0.6
    check(model, link, poses, slow, (1e-4, 1e-3))
    deviating = traverse(model, task, poses, start, DT, "deviate", *MOST)
    assert deviating.added == 0 and (deviating.deviation <= MOST).all()
    check(model, link, poses, deviating, MOST)
    other = traverse(model, task, poses, start, DT, "change-posture")
    assert other.added == 0
    check(model, link, poses, other, (1e-4, 1e-3))
    assert tool.over(other.motion.q)[0].min() >= tool.over(slow.motion.q)[0].min() - 1e-2


@pytest.mark.slow
@pytest.mark.parametrize("name", ["iiwa", "sawyer"])
def test_a_redundant_arm_stretches_its_elbow_to_a_ten_thousandth_and_bends_it_again(name: str) -> None:
    model, link = arm(name)
    q = np.array([0.3, 0.5, 0.4, 0.0, 0.6, 0.9, 0.2])
    axis, wrist = (model.links[i].name for i in (2, 6))

    def arms(bend: float) -> np.ndarray:
        T = forward_kinematics(model, [*q[:3], bend, *q[4:]])
        return T[wrist][:3, 3] - T[axis][:3, 3]

    low, high = -0.6, 0.6
    while high - low > 1e-10:  # the length has one maximum
        third = (high - low) / 3.0
        inner = [np.linalg.norm(arms(low + third)), np.linalg.norm(arms(high - third))]
        low, high = (low + third, high) if inner[0] < inner[1] else (low, high - third)
    q[3] = low
    out, length = arms(low) / np.linalg.norm(arms(low)), np.linalg.norm(arms(low))
    poses = np.tile(forward_kinematics(model, q)[link], (61, 1, 1))
    poses[:, :3, 3] -= (1e-4 * length + 0.15 * abs(np.linspace(-1.0, 1.0, 61)))[:, None] * out
    start = all_postures(model, [PoseTask(link, poses[0])], q + 0.3 * np.eye(7)[3]).q[0]
    task = PoseTask(link, poses[0])
    slow = traverse(model, task, poses, start, DT, "slow-down")
    assert 0 < slow.added < 20
    check(model, link, poses, slow, (1e-4, 1e-3))
    beside = traverse(model, task, poses, start, DT, "deviate", *MOST)
    assert (beside.deviation <= MOST).all()
    check(model, link, poses, beside, MOST)


@pytest.mark.slow
def test_where_one_route_leaps_another_slows_down() -> None:
    """From the posture that is nearest the arm would leap at frame 24; from another one it need not even slow down.
    The share that is done does not fall."""
    model, link = arm("iiwa")
    poses, start = line_past(model, link, 1e-4, 2)
    shares: list[float] = []
    slow = finish(mapped(traverse_steps(model, PoseTask(link, poses[0]), poses, start, DT, "slow-down"), shares.append))
    assert slow.added == 0
    check(model, link, poses, slow, (1e-4, 1e-3))
    assert_grows(shares)


def test_the_search_of_an_arm_that_moves_in_itself_can_be_stopped_at_each_step() -> None:
    model, link = arm("sawyer")
    poses, start = line_past(model, link, 0.0, 5)
    shares = list(traverse_steps(model, PoseTask(link, poses[0]), poses, start, DT, "deviate", *MOST))
    assert len(shares) > 3 and 0.0 <= min(shares) and max(shares) <= 1.0


def assert_grows(shares: list[float]) -> None:
    assert len(shares) > 10 and (np.diff(shares) >= 0.0).all() and 0.0 <= shares[0] and shares[-1] <= 1.0


def test_the_share_that_is_done_never_falls() -> None:
    model, link = arm("sawyer")
    poses, start = line_past(model, link, 1e-4, 5)
    assert_grows(list(traverse_steps(model, PoseTask(link, poses[0]), poses, start, DT, "change-posture")))


def test_where_no_way_is_found_it_says_where() -> None:
    model, link = arm("sawyer")
    poses = np.tile(forward_kinematics(model, np.full(7, 0.4))[link], (20, 1, 1))
    poses[10:, 2, 3] += 5.0
    with pytest.raises(TaskError, match="cannot get on from frame 9 of its path to frame 10: no posture meets"):
        traverse(model, PoseTask(link, poses[0]), poses, np.full(7, 0.4), DT, "slow-down")


def test_balls_and_floating_bases_can_only_deviate() -> None:
    model = load_urdf(robot("panda"), root="floating")
    q = model.limits.middle(model.neutral())
    poses = np.tile(forward_kinematics(model, q)["panda_hand"], (5, 1, 1))
    poses[:, 2, 3] -= np.linspace(0.0, 0.01, 5)
    task = PoseTask("panda_hand", poses[0])
    assert (traverse(model, task, poses, q, DT, "deviate", *MOST).deviation <= MOST).all()
    for past in ("slow-down", "keep-posture", "change-posture"):
        with pytest.raises(TaskError, match=f"'panda' has balls or a floating base, and can only deviate, not {past}"):
            traverse(model, task, poses, q, DT, past)


def test_what_may_deviate_by_too_little_is_refused_at_once() -> None:
    """It took half a minute of whole motions from eight postures, none of which can reach so far."""
    model, link = arm("panda")
    poses, start = line_past(model, link, 0.0, 1)
    poses[-8:, 2, 3] += 2.0
    steps = traverse_steps(model, PoseTask(link, poses[0]), poses, start, DT, "deviate", *MOST)
    with pytest.raises(
        TaskError, match="from frame 40 of its path to frame 41: no posture is as near to its target as it may deviate"
    ):
        next(steps)


def test_a_search_that_takes_too_long_ends_and_says_so(monkeypatch) -> None:
    """But keeps the routes that it has."""
    model, link = arm("iiwa")
    poses, start = line_past(model, link, 1e-4, 2)
    task = PoseTask(link, poses[0])
    monkeypatch.setattr(led_postures, "BUDGET", 10 * len(poses))
    with pytest.raises(TaskError, match="found within the budget of the search, though there may be one"):
        traverse(model, task, poses, start, DT, "slow-down")
    needed: list[int] = []
    for most in (1, 3):
        along = PosturesAlong(model, task, ToolPath(poses), start)
        monkeypatch.setattr(led_postures, "BUDGET", needed[0] + 1 if needed else 10**9)
        led = finish(led_from(along, along.unwound(along.starts(), start)[:4], DT, (), most))
        needed.append(along.sought)
        assert len(led.starts()) == 1
    assert needed[1] > needed[0]
