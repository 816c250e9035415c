"""Arms with a spherical wrist led past singularities: limits, the path and its end, by Pinocchio's kinematics."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from robokin_addon.robokin import Joint, Link, RobotModel, forward_kinematics, library_robot, read_urdf_text
from robokin_addon.robokin.errors import TaskError
from robokin_addon.solvers import PoseTask, PositionTask, Singularities, Traversal, all_postures, tool_at, traverse
from robokin_addon.solvers.traversal import beside
from robokin_addon.solvers.traversal import traverse as traversal
from robokin_addon.solvers.traversal.led_postures import TooLong, lead_near
from robokin_addon.solvers.traversal.slower import LeapError
from robokin_addon.solvers.traversal.traverse import Past, traverse_steps
from scipy.optimize import brentq
from scipy.spatial.transform import Rotation
from support.few import rest_slow
from support.oracles.pinocchio_oracle import Oracle
from support.problems.family_robots import family_robot

DT, FRAMES = 1.0 / 24.0, 49
OFFSETS = (0.0, 1e-5, 1e-4, 1e-3, 5e-3)
MOST = (0.01, 0.05)


def arm(name: str, acceleration: float = np.inf) -> RobotModel:
    found = family_robot(name)
    joints = [replace(j, velocity=2.5, acceleration=acceleration) if j.nq else j for j in found.joints[1:]]
    return RobotModel(found.name, found.links, joints, found.root)


def line(model: RobotModel, q: np.ndarray, way: np.ndarray, aside: np.ndarray) -> np.ndarray:
    """0.2 m along a direction, at rest at both ends, its middle `aside` of where q has the tool."""
    T = forward_kinematics(model, q)[model.links[-1].name]
    poses = np.tile(T, (FRAMES, 1, 1))
    shares = -0.5 * np.cos(np.linspace(0.0, np.pi, FRAMES))
    poses[:, :3, 3] += 0.2 * shares[:, None] * way / np.linalg.norm(way) + aside
    return poses


def started(model: RobotModel, poses: np.ndarray, q: np.ndarray) -> np.ndarray:
    return all_postures(model, [PoseTask(model.links[-1].name, poses[0])], q).q[0]


def led(model: RobotModel, poses: np.ndarray, q: np.ndarray, past: str) -> Traversal:
    """With what holds of all."""
    link = model.links[-1].name
    found = traverse(model, PoseTask(link, poses[0]), poses, q, DT, past, *MOST)
    motion = found.motion
    assert (abs(motion.v) <= 2.5 + 1e-9).all() and model.limits.contain(motion.q).all()
    assert (abs(motion.a) <= model.acceleration * (1.0 + 1e-6)).all()
    assert (np.diff(found.at) >= 0.0).all() and found.at[0] == 0.0 and found.at[-1] == pytest.approx(FRAMES - 1)
    assert found.added == len(motion) - FRAMES
    oracle, last = Oracle.from_model(model), poses[-1]
    halves = 0.5 * (motion.q[1:] + motion.q[:-1])
    if past == "deviate":
        for frame, each in enumerate(motion.q):
            off = np.linalg.inv(poses[frame]) @ oracle.frames(each)[link]
            assert np.linalg.norm(off[:3, 3]) <= MOST[0] and Rotation.from_matrix(off[:3, :3]).magnitude() <= MOST[1]
    else:  # on the line: what is across it, at frames and half-way
        way = poses[-1, :3, 3] - poses[0, :3, 3]
        way /= np.linalg.norm(way)
        for each in (*motion.q, *halves):
            off = oracle.frames(each)[link]
            away = off[:3, 3] - poses[0, :3, 3]
            assert np.linalg.norm(away - (away @ way) * way) < 2e-4
            assert Rotation.from_matrix(poses[0, :3, :3].T @ off[:3, :3]).magnitude() < 2e-3
    end = np.linalg.inv(last) @ oracle.frames(motion.q[-1])[link]
    assert np.linalg.norm(end[:3, 3]) < (MOST[0] if past == "deviate" else 1e-5)
    return found


@pytest.mark.parametrize(
    ("offset", "acceleration"),
    rest_slow(
        [(0.0, np.inf), (1e-5, np.inf), (1e-4, 8.0), (5e-3, np.inf), (1e-4, np.inf), (1e-3, np.inf), (5e-3, 8.0)], 4
    ),
)
def test_a_line_by_the_singular_wrist(offset: float, acceleration: float) -> None:
    model = arm("kr6", acceleration)
    q = np.array([0.2, -1.2, 0.9, 0.3, 0.0, 0.2])
    poses = line(model, q, np.array([0.0, 1.0, 0.2]), offset * np.array([0.0, 0.2, -1.0]))
    start = started(model, poses, q)
    slow = led(model, poses, start, "slow-down")
    assert slow.added == 0 if offset == 0.0 else 8 < slow.added < 60
    assert led(model, poses, start, "deviate").added == 0
    if offset > 1e-4:  # in all postures the wrist turns
        with pytest.raises(TaskError, match="no such path past the singularity was found"):
            led(model, poses, start, "change-posture")


def test_the_share_that_is_done_never_falls() -> None:
    """Exactly along the path the wrist is too slow, so that frames are skipped after all of them were tried."""
    model, q = arm("kr6"), np.array([0.2, -1.2, 0.9, 0.3, 0.0, 0.2])
    poses = line(model, q, np.array([0.0, 1.0, 0.2]), 5e-3 * np.array([0.0, 0.2, -1.0]))
    task = PoseTask("tool", poses[0])
    shares = list(traverse_steps(model, task, poses, started(model, poses, q), DT, "deviate", *MOST))
    assert len(shares) > len(poses) and (np.diff(shares) >= 0.0).all() and 0.0 <= shares[0] and shares[-1] <= 1.0


@pytest.mark.parametrize("offset", rest_slow(OFFSETS))
def test_a_line_over_the_shoulder(offset: float) -> None:
    model = arm("irb140")
    q = np.array([0.2, -2.6505, 0.2, 0.3, 0.8, 0.2])
    near = Singularities(tool_at(model, "tool"))
    angles = np.linspace(-2.8, -2.5, 3001)
    q[1] = angles[near.over(np.array([[*q[:1], angle, *q[2:]] for angle in angles]))[0].argmin()]
    assert near.at(q).kind == "shoulder" and near.at(q).value < 1e-3
    ahead = np.array([np.cos(q[0]), np.sin(q[0]), 0.0])
    poses = line(model, q, ahead, offset * np.array([-ahead[1], ahead[0], 0.0]))
    assert led(model, poses, started(model, poses, q), "deviate").added == 0
    if offset:  # its fifth joint ends at 115 degrees
        narrow = [replace(j, lower=(-1.5,), upper=(1.5,)) if i in (3, 5) else j for i, j in enumerate(model.joints[1:])]
        model = RobotModel(model.name, model.links, narrow, model.root)  # fewer postures, each of which is tried
        with pytest.raises(TaskError, match="a limit is in the way"):
            led(model, poses, started(model, poses, q), "slow-down")


def jointed(*lengths: float) -> RobotModel:
    """A shoulder, an elbow and a wrist with crossing axes. lengths: shoulder aside, height, upper arm, elbow up,
    forearm, hand."""
    aside, height, upper, up, fore, hand = lengths
    places = [(0, 0, height), (aside, 0, 0), (upper, 0, 0), (fore, 0, up), (0, 0, 0), (0, 0, 0)]
    axes, ranges = "zyyxyx", (3.6, 2.9, 2.9, 6.0, 2.2, 6.2)
    rows = "".join(
        f'<link name="l{i}"/><joint name="j{i}" type="revolute"><parent link="l{i}"/><child link="l{i + 1}"/>'
        f'<origin xyz="{x} {y} {z}"/><axis xyz="{" ".join("01"[a == axes[i]] for a in "xyz")}"/>'
        f'<limit lower="{-ranges[i]}" upper="{ranges[i]}" velocity="2.5" effort="1"/></joint>'
        for i, (x, y, z) in enumerate(places)
    )
    tool = (
        '<link name="l6"/><link name="tool"/><joint name="hand" type="fixed"><parent link="l6"/><child link="tool"/>'
        f'<origin xyz="{hand} 0 0"/></joint>'
    )
    return read_urdf_text(f'<robot name="jointed">{rows}{tool}</robot>')


@pytest.mark.parametrize("lengths", [(0.05, 0.4, 0.7, 0.03, 0.55, 0.1), (0.3, 0.7, 1.1, 0.2, 1.2, 0.2)])
@pytest.mark.parametrize("offset", [1e-5, 1e-3])
def test_arms_of_other_proportions_turn_on_in_the_wrist(lengths: tuple, offset: float) -> None:
    """Where to fold the elbow over would take less time than to turn the wrist, which no tool can follow."""
    model = jointed(*lengths)
    q = np.array([0.2, -0.9, 1.1, 0.3, 0.0, 0.2])
    poses = line(model, q, np.array([0.0, 1.0, 0.2]), offset * np.array([0.0, 0.2, -1.0]))
    start = started(model, poses, q)
    assert 8 < led(model, poses, start, "slow-down").added < 60


def test_branches_that_come_near_each_other_are_not_leapt_between() -> None:
    """The elbow begins nearly stretched: down would be better later, but the two are 0.1 rad apart and never meet."""
    model = jointed(0.079, 0.466, 0.532, 0.072, 1.118, 0.156)
    q = np.array([0.085, -1.092, 0.619, 0.586, 0.434, 0.178])
    q[1] = over_the_base(model, q, -2.1, -1.9)
    poses = line(model, q, np.array([-0.426, 0.478, -0.445]), 1e-3 * np.array([0.823, 0.265, -0.503]))
    assert 0 < led(model, poses, started(model, poses, q), "slow-down").added < 60


def over_the_base(model: RobotModel, q: np.ndarray, low: float, high: float) -> float:
    """The second joint's angle between two that has the wrist above the first axis."""

    def ahead(angle: float) -> float:
        wrist = forward_kinematics(model, [q[0], angle, *q[2:]])["l5"][:3, 3]
        return float(wrist[0] * np.cos(q[0]) + wrist[1] * np.sin(q[0]))

    return float(brentq(ahead, low, high, xtol=1e-15))


def test_a_slow_arm_is_on_its_path_beside_the_shoulder() -> None:
    """Half-way between frames the tool runs ahead by more than a frame of the slow path: no frame counts as late."""
    model = jointed(0.3, 0.7, 1.1, 0.2, 1.2, 0.2)
    q = np.array([-0.498, 0.0, 1.34, -0.621, 0.543, -0.3])
    q[1] = over_the_base(model, q, -2.5, -2.2)
    poses = line(model, q, np.array([-0.636, -0.331, -0.697]), 1e-4 * np.array([0.722, 0.063, -0.689]))
    found = led(model, poses, started(model, poses, q), "slow-down")
    assert 0 < found.added < 60 and found.deviation[::2, 0].max() < 1e-5


@pytest.mark.parametrize("past", ["slow-down", "deviate"])
def test_an_elbow_is_stretched_out_to_a_ten_thousandth_and_bent_again(past: str) -> None:
    model = arm("kr6")
    q = np.array([0.2, -0.8, -1.4876550949, 0.3, 0.8, 0.2])
    tool = Singularities(tool_at(model, "tool"))
    angles = np.linspace(-1.6, -1.4, 4001)
    q[2] = angles[tool.over(np.array([[*q[:2], angle, *q[3:]] for angle in angles]))[0].argmin()]
    near = tool.at(q)
    assert near.kind == "elbow"
    T = forward_kinematics(model, q)
    out = near.lost[:3] / np.linalg.norm(near.lost[:3])
    out *= np.sign(out @ (T["tool"][:3, 3] - T["link_2"][:3, 3]))
    poses = np.tile(T["tool"], (61, 1, 1))
    poses[:, :3, 3] -= (8.7e-5 + 0.15 * abs(np.linspace(-1.0, 1.0, 61)))[:, None] * out
    start = started(model, poses, np.add(q, [0.0, 0.0, 0.3, 0.0, 0.0, 0.0]))
    found = traverse(model, PoseTask("tool", poses[0]), poses, start, DT, past, *MOST)
    assert (abs(found.motion.v) <= 2.5 + 1e-9).all() and found.at[-1] == pytest.approx(60.0)
    if past == "slow-down":
        assert 0 < found.added < 12 and found.deviation[:, 0].max() < 2e-4
        assert tool.over(found.motion.q)[0].min() < 0.02
    else:
        assert found.added == 0 and (found.deviation <= MOST).all()


@pytest.mark.parametrize("bend", [0.3, -0.3])
def test_an_elbow_that_is_stretched_out_altogether_keeps_its_posture(bend: float) -> None:
    """There the posture is that of both elbows, and has the name of one."""
    model, q = jointed(0.05, 0.4, 0.7, 0.0, 0.55, 0.1), np.array([0.2, -0.9, 0.0, 0.3, 0.8, 0.2])
    T = forward_kinematics(model, q)
    out = T["l4"][:3, 3] - T["l2"][:3, 3]
    poses = np.tile(T["tool"], (61, 1, 1))
    poses[:, :3, 3] -= 0.12 * np.linspace(-1.0, 1.0, 61)[:, None] ** 2 * out
    start = started(model, poses, np.add(q, [0.0, -0.5 * bend, bend, 0.0, 0.0, 0.0]))
    found = traverse(model, PoseTask("tool", poses[0]), poses, start, DT, "keep-posture")
    assert (abs(found.motion.v) <= 2.5 + 1e-9).all() and found.deviation[::2, 0].max() < 1e-5 and found.added == 0
    assert (found.motion.q[[*range(25), *range(36, 61)], 2] * bend > 0.0).all()


@pytest.mark.parametrize(
    ("past", "offset", "turned"),
    rest_slow([("deviate", 1e-3, 0.0), ("slow-down", -5e-3, np.pi), ("deviate", 5e-3, np.pi)], 2),
)
def test_where_a_limit_stops_a_turn_it_goes_beside_it_or_begins_in_another_posture(past, offset, turned) -> None:
    """Joint 4 can turn as far as the wrist asks for from one of its postures alone."""
    free, q = arm("kr6"), np.array([0.2, -1.2, 0.9, 0.3, 0.0, 0.2])
    poses = line(free, q, np.array([0.0, 1.0, 0.2]), offset * np.array([0.0, -0.2, 1.0]))
    start = started(free, poses, q)
    turning = replace(free.joints[4], lower=(start[3] - 3.5,), upper=(start[3] + 0.3,))
    model = RobotModel(free.name, free.links, [*free.joints[1:4], turning, *free.joints[5:]], free.root)
    found = led(model, poses, start, past)
    assert abs(found.motion.q[0] - start).max() == pytest.approx(turned, abs=1e-6)


def test_a_motion_that_is_near_enough_is_taken_when_the_search_gets_too_long(monkeypatch) -> None:
    def short(along, start, dt, share, found):
        for step in lead_near(along, start, dt, share, found):
            if found:
                raise TooLong("too long")
            yield step
        raise AssertionError("the search ends with its first motion")

    monkeypatch.setattr(beside, "lead_near", short)
    model, q = arm("kr6"), np.array([0.2, -1.2, 0.9, 0.3, 0.0, 0.2])
    poses = line(model, q, np.array([0.0, 1.0, 0.2]), np.array([0.0, -2e-4, 1e-3]))
    led(model, poses, started(model, poses, q), "deviate")
    with pytest.raises(TooLong):
        traverse(model, PoseTask(model.links[-1].name, poses[0]), poses, q, DT, "deviate", 1e-7, 1e-7)


def test_postures_are_tried_one_by_one_the_nearest_first(monkeypatch) -> None:
    tried = []

    def leaping(along, first, dt):
        tried.append(first)
        raise LeapError("a limit is in the way")
        yield

    monkeypatch.setattr(traversal, "slower_sequence", leaping)
    narrow, q = arm("kr6"), np.array([0.2, -1.2, 0.9, 0.3, 0.4, 0.2])
    joints = [replace(joint, lower=(-3.1,), upper=(3.1,)) if joint.nq else joint for joint in narrow.joints[1:]]
    model = RobotModel(narrow.name, narrow.links, joints, narrow.root)
    poses = line(model, q, np.array([0.0, 1.0, 0.2]), np.zeros(3))
    with pytest.raises(LeapError):
        traverse(model, PoseTask(model.links[-1].name, poses[0]), poses, q, DT, "slow-down")
    away = [abs(first - q).max() for first in tried]
    assert len(away) == 8 and away == sorted(away) and all(len(first) == 1 for first in tried)


def test_pauses_are_kept_and_nothing_is_early() -> None:
    model = arm("kr6")
    q = np.array([0.2, -1.2, 0.9, 0.3, 0.0, 0.2])
    poses = line(model, q, np.array([0.0, 1.0, 0.2]), np.array([0.0, 2e-4, -1e-3]))
    poses = poses[[*[0] * 10, *range(30), *[29] * 12, *range(30, FRAMES)]]
    found = traverse(model, PoseTask("tool", poses[0]), poses, started(model, poses, q), DT, "slow-down")
    assert (found.at <= np.arange(len(found.at)) + 0.5).all() and found.at[-1] == pytest.approx(len(poses) - 1)
    stands = abs(found.motion.v).max(axis=1) < 1e-9
    assert stands[1:9].all() and stands.sum() >= 8 + 10
    still = traverse(model, PoseTask("tool", poses[0]), poses[:9], started(model, poses, q), DT, "slow-down")
    assert still.added == 0 and not still.motion.v.any()


def test_another_posture_stays_away() -> None:
    """Of the elbow's two, where one comes near a limit of speed and the other does not, it takes the latter."""
    model = arm("kr6")
    q = np.array([0.2, -1.2, 0.9, 0.3, 0.7, 0.2])
    poses = line(model, q, np.array([0.0, 1.0, 0.2]), np.zeros(3))
    link = model.links[-1].name
    tool = Singularities(tool_at(model, link))
    ways = []
    for first in all_postures(model, [PoseTask(link, poses[0])], q).q:
        try:
            ways.append(tool.over(led(model, poses, first, "deviate").motion.q)[0].min())
        except TaskError:
            continue
    found = led(model, poses, q, "change-posture")
    assert found.added == 0 and tool.over(found.motion.q)[0].min() >= max(ways) - 1e-3


def test_a_kept_posture_is_of_one_branch_and_does_not_go_through_a_singularity() -> None:
    model = arm("kr6")
    q = np.array([0.2, -1.2, 0.9, 0.3, 0.7, 0.2])
    way, link = np.array([0.0, 1.0, 0.2]), model.links[-1].name
    poses = line(model, q, way, np.zeros(3))
    for first in all_postures(model, [PoseTask(link, poses[0])], q).q[:3]:
        found = led(model, poses, first, "keep-posture")
        assert found.added == 0
        np.testing.assert_allclose(found.motion.q[0], first, atol=1e-6)
        names = set()
        for pose, each in zip(poses, found.motion.q, strict=True):
            postures = all_postures(model, [PoseTask(link, pose)], each)
            assert abs(postures.q[0] - each).max() < 1e-4
            names.add(postures.names[0])
        assert len(names) == 1
    q[4] = 0.0  # right through the singular wrist: its other posture goes on, the same one would turn about
    poses = line(model, q, way, np.zeros(3))
    start = started(model, poses, q)
    assert np.sign(led(model, poses, start, "deviate").motion.q[[0, -1], 4]).sum() == 0.0
    with pytest.raises(TaskError, match="no such path past the singularity was found"):
        led(model, poses, start, "keep-posture")
    half = poses[: FRAMES // 2 + 1]
    there_and_back = np.concatenate((half, half[-2::-1]))  # it may touch it, where its two postures are one
    found = traverse(model, PoseTask(link, poses[0]), there_and_back, start, DT, "keep-posture")
    assert found.added == 0 and abs(found.motion.q[FRAMES // 2, 4]) < 1e-4
    np.testing.assert_allclose(found.motion.q, found.motion.q[::-1], atol=1e-4)


def test_where_the_posture_that_is_kept_ends_is_named() -> None:
    """1 mm beside its singular wrist joint 4 turns to its limit; another posture goes on."""
    model, q = library_robot("puma560"), np.array([0.2, -0.7, 0.5, 0.3, 0.0, 0.2])
    poses = line(model, q, np.array([0.0, 1.0, 0.0]), np.array([0.0, 0.0, 1e-3]))
    with pytest.raises(TaskError, match=r"from frame 2\d .* with elbow, shoulder and wrist as they are no posture"):
        traverse(model, PoseTask("tool", poses[0]), poses, q, DT, "keep-posture")


def test_a_posture_that_is_kept_may_begin_singular() -> None:
    """With a straight wrist, which is neither flipped nor not: it goes on in the branch that the limits allow."""
    model, q = library_robot("puma560"), np.radians([-60.0, 30.0, -90.0, 30.0, 0.0, 0.0])
    pose = forward_kinematics(model, q)["tool"]
    poses = np.array([pose] * 10)
    poses[:, :3, 3] *= np.linspace(1.0, 0.95, 10)[:, None]
    found = traverse(model, PoseTask("tool", pose), poses, q, 1.0, "keep-posture")
    np.testing.assert_allclose(found.motion.q[0], q, atol=1e-9)
    assert (found.motion.q[1:, 4] > 0.0).all() and found.deviation[::2].max() < 1e-6


def test_what_cannot_be_led_is_reported() -> None:
    model, pose = arm("kr6"), np.eye(4)
    pose[:3, 3] = 5.0, 0.0, 0.0
    task = PoseTask("tool", pose)
    with pytest.raises(TaskError, match="first pose of its path cannot be reached"):
        traverse(model, task, [pose])
    with pytest.raises(TaskError, match="past must be one of slow-down, deviate, keep-posture, change-posture"):
        traverse(model, task, [pose], past="jump")
    with pytest.raises(TaskError, match="position must be a number from 0 on"):
        traverse(model, task, [pose], position=-1.0)
    with pytest.raises(TaskError, match="at least one pose"):
        traverse(model, task, [])
    planar = library_robot("planar_3r")
    with pytest.raises(TaskError, match="needs the whole pose of its tip, and no axis free"):
        traverse(planar, PositionTask(planar.links[-1].name, np.zeros(3)), [np.eye(4)])


@pytest.mark.parametrize("dt", [0.0, -1.0, np.nan, np.inf, "x", None])
def test_a_step_of_time_that_is_none_is_named(dt: object) -> None:
    model = library_robot("puma560")
    q = np.array([0.1, -0.5, 0.3, 0.2, 0.4, 0.1])
    poses = [forward_kinematics(model, q)["tool"]] * 3
    with pytest.raises(TaskError, match="dt must be a positive number"):
        traverse(model, PoseTask("tool", poses[0]), poses, q, dt, "slow-down")
    with pytest.raises(TaskError, match="needs a PoseTask"):
        traverse(model, None, poses, q, 0.04, "slow-down")


def test_a_path_that_leaves_the_reach_says_so() -> None:
    model = arm("puma560")
    q = np.array([0.3, -0.6, 0.5, 0.4, 0.8, 0.2])
    poses = line(model, q, np.array([1.0, 0.0, 0.0]), np.zeros(3))
    poses[20:, 0, 3] += 9.0
    with pytest.raises(TaskError, match=r"cannot get on from frame 19 .*: no posture meets its target"):
        led(model, poses, started(model, poses, q), "slow-down")


@pytest.mark.parametrize("past", Past)
def test_a_robot_without_moving_joints_is_refused(past):
    model = RobotModel("post", [Link("foot"), Link("top")], [Joint("bolt", "fixed", "foot", "top")])
    poses = np.tile(np.eye(4), (3, 1, 1))
    with pytest.raises(TaskError, match="'post' has no joints that move"):
        traverse(model, PoseTask("top", poses[0]), poses, past=past)
