"""Arms that are stretched out reach in: from the singular posture a robot bends its elbows, whatever else is asked."""

from __future__ import annotations

import numpy as np
import pytest
from robokin_addon.robokin import RobotModel, forward_kinematics, library_robot
from robokin_addon.robokin.arrays import Array
from robokin_addon.solvers import AxisTask, OrientationTask, PoseTask, PositionTask, PostureTask, Task, solve_ik, track
from robokin_addon.solvers.criteria import Criterion, JointSprings, KineticEnergy
from support.engine.robots import ball_bones
from support.problems.limits import with_rates
from support.problems.planar_arms import free_arm

DT = 1.0 / 24.0
FRAMES = 48
SHARE = 0.3  # of the way from the hand to the shoulder
SHARES = 0.5 - 0.5 * np.cos(np.linspace(0.0, np.pi, FRAMES))  # of that, by frame

# robot: (link that reaches in, link that it comes nearer to, link that a level below holds where it is)
REACHES = {
    "humanoid": ("left_hand", "left_upper_arm", "right_hand"),
    "planar 4R": ("end_effector", "ground", "part_2"),
    "ball bones": ("tip", "root", "middle"),
}


def stretched(name: str) -> tuple[RobotModel, Array]:
    robots = {
        "humanoid": lambda: library_robot("humanoid"),
        "planar 4R": lambda: library_robot("planar_4r"),
        "ball bones": ball_bones,
    }
    model = robots[name]()
    return model, model.limits.clamp(model.neutral())


def beside(model: RobotModel, q: Array, link: str) -> dict[str, tuple[list[Task], list[Criterion]]]:
    T = forward_kinematics(model, q)[link]
    return {
        "alone": ([], []),
        "energy": ([], [KineticEnergy()]),
        "springs": ([], [JointSprings()]),
        "level": ([PositionTask(link, T[:3, 3], priority=2)], []),
        "posture": ([PostureTask(q, priority=2)], []),
    }


BESIDE = ("alone", "energy", "springs", "level", "posture")


@pytest.mark.parametrize("other", BESIDE)
@pytest.mark.parametrize("name", REACHES)
def test_a_hand_comes_in_along_its_arm(name: str, other: str) -> None:
    """Every frame is met: in 2 s, beginning and ending slowly, straight towards the shoulder."""
    model, q = stretched(name)
    hand, shoulder, link = REACHES[name]
    frames = forward_kinematics(model, q)
    start, way = frames[hand][:3, 3], SHARE * (frames[shoulder][:3, 3] - frames[hand][:3, 3])
    below, criteria = beside(model, q, link)[other]
    held = [task.target for task in below]
    targets = [[start + way * s, *held] for s in SHARES]
    found = track(model, [PositionTask(hand, start), *below], targets, q, DT, criteria=criteria)
    missed = np.flatnonzero(found.residuals[:, 0, 0] > 1e-5)
    assert not len(missed), f"frames {missed.tolist()}, by {found.residuals[:, 0, 0].max():.3g} m"


@pytest.mark.parametrize("other", BESIDE)
@pytest.mark.parametrize("name", REACHES)
def test_a_pose_nearer_to_the_shoulder_is_found(name: str, other: str) -> None:
    model, q = stretched(name)
    hand, shoulder, link = REACHES[name]
    frames = forward_kinematics(model, q)
    place = frames[hand][:3, 3] + SHARE * (frames[shoulder][:3, 3] - frames[hand][:3, 3])
    below, criteria = beside(model, q, link)[other]
    found = solve_ik(model, [PositionTask(hand, place), *below], q, criteria=criteria)
    assert found.residual_array[0, 0] <= 1e-5


def test_a_hand_that_keeps_its_orientation_comes_in() -> None:
    """Both hands at once, each with its orientation, as in a push-up against a wall."""
    model, q = stretched("humanoid")
    frames = forward_kinematics(model, q)
    tasks: list[Task] = []
    ways = []
    for side in ("left", "right"):
        hand, shoulder = frames[f"{side}_hand"], frames[f"{side}_upper_arm"]
        ways.append(SHARE * (shoulder[:3, 3] - hand[:3, 3]))
        tasks.append(PoseTask(f"{side}_hand", hand))
    tasks.append(OrientationTask("chest", frames["chest"][:3, :3]))
    targets = []
    for s in SHARES:
        poses = [task.target.copy() for task in tasks[:2]]
        for pose, way in zip(poses, ways, strict=True):
            pose[:3, 3] += s * way
        targets.append([*poses, frames["chest"][:3, :3]])
    found = track(model, tasks, targets, q, DT)
    assert found.converged.all(), f"{(~found.converged).sum()} frames, by {found.residuals.max():.3g}"


@pytest.mark.parametrize(("backend", "count"), [("native", FRAMES), ("numpy", 4)])
def test_a_hand_comes_in_below_feet_that_stand(backend: str, count: int) -> None:
    """A straight arm of a lower level, whose waist has turned as far as it can to lift it."""
    model = library_robot("humanoid")
    q = model.neutral()
    frames = forward_kinematics(model, q)
    feet = [PoseTask(f"{side}_foot", frames[f"{side}_foot"], priority=1) for side in ("left", "right")]
    hand = frames["left_hand"][:3, 3]
    tasks = [*feet, PositionTask("left_hand", hand, priority=2)]
    lifts = 0.25 * np.arange(FRAMES) / (FRAMES - 1)
    targets = [[*(foot.target for foot in feet), hand + np.array([0.0, 0.0, lift])] for lift in lifts]
    late = 0 if backend == "native" else 22  # frames that are met by the waist
    if late:
        q = track(model, tasks, targets[:late], q, DT).q[-1]
    found = track(model, tasks, targets[late : late + count], q, DT, backend=backend)
    missed = np.flatnonzero(found.residuals[:, 2, 0] > 1e-5)
    assert not len(missed), f"frames {missed.tolist()}, by {found.residuals[:, 2, 0].max():.3g} m"


@pytest.mark.parametrize("levels", [1, 2])
@pytest.mark.parametrize("backend", ["native", "numpy"])
def test_an_arm_that_points_away_from_what_it_cannot_reach_turns_round(backend: str, levels: int) -> None:
    """Straight on the line to the target, where no joint brings it nearer to first order. Then it stands."""
    lengths = (1.0, 0.7, 0.4)
    model, point = with_rates(free_arm(*lengths), velocity=6.0), np.array((-2.0 * sum(lengths), 0.0, 0.0))
    tasks = [PositionTask("end3", point), PositionTask("end1", -point, priority=2)][:levels]
    ends = forward_kinematics(model, model.neutral())
    here = [ends[task.link][:3, 3] for task in tasks]
    targets = [here, *[[task.target for task in tasks]] * FRAMES]
    found = track(model, tasks, targets, model.neutral(), DT, backend=backend)
    assert found.residuals[-1, 0, 0] == pytest.approx(sum(lengths), rel=1e-3)
    np.testing.assert_array_equal(found.q[-1], found.q[-8])


def test_a_base_turns_to_what_lies_beside_it() -> None:
    """Its wheels do not roll to that side: a level below turns it, until they do."""
    model = with_rates(library_robot("mobile_arm"), velocity=3.0, acceleration=12.0)
    wheel = PositionTask("right_wheel_link", (0.0, 0.133, 0.0985), weights=(0.0, 1.0, 1.0))
    forward = AxisTask("base_link", (-0.885, -0.017, 0.466), (-0.107, -0.878, 0.466), priority=2)
    frames = forward_kinematics(model, model.neutral())
    here = [frames["right_wheel_link"][:3, 3], frames["base_link"][:3, :3] @ forward.axis]
    targets = [here, *[[(0.0, 0.133, 0.0985), (-0.107, -0.878, 0.466)]] * 50]
    found = track(model, [wheel, forward], targets, model.neutral(), DT, backend="native")
    assert found.residuals[-1, 0, 0] <= 1e-5
    begun = track(model, [wheel, forward], targets[:9], model.neutral(), DT, backend="numpy")
    np.testing.assert_allclose(begun.q, found.q[:9], rtol=0.0, atol=1e-6)
