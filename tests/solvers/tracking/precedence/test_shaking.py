"""Too slow for its path, without limits on acceleration: a robot lags behind smoothly, and says which joints are slow.

A path is one that the robot follows with joints as fast as they need to be. Then one joint may be 30 % too slow for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import pytest
from robokin_addon.robokin import RobotModel, forward_kinematics, integrate, load_urdf
from robokin_addon.robokin.arrays import Array
from robokin_addon.solvers import PoseTask, PositionTask, PostureTask, Status, Task, TrackResult, track
from robokin_addon.solvers.criteria import Criterion, KineticEnergy
from support.engine.motions import reversals, velocities
from support.engine.robots import X, engine_robot, iiwa
from support.few import these_slow
from support.problems.limits import with_rates
from support.robots import robot

DT = 1.0 / 24.0
FRAMES = 160
SLOWER = 0.7  # of the speed that the path needs of a joint
SPARE = (1.2, 3.0)  # of that of the others
FLOOR = 0.1  # of its limit: a slower joint is not counted as turning back
FEW = 4  # reversals beside those of the path, and two for each stretch that is too fast

TIPS = {"panda": "panda_hand", "ur5": "tool0", "iiwa": "flange"}
STARTS = {
    "panda": (0.0, -0.5, 0.3, -2.0, 0.1, 1.6, 0.5),
    "ur5": (0.3, -1.2, 1.5, -1.0, -1.5, 0.2),
    "iiwa": (0.1, 0.5, 0.2, 1.2, 0.1, -0.8, 0.3),
}
JOINTS = {"panda": (1, 3, 5), "ur5": (0, 1, 3), "iiwa": (0, 1, 3)}
PATHS = ("circle", "sway", "wander")


@dataclass(frozen=True, eq=False)
class Case:
    """A robot with a slow joint and poses that are too fast for it. targets: (frames, 4, 4).   own: (nv,) reversals of
    the path.   stretches: of frames in which it is too fast."""

    model: RobotModel
    tip: str
    slow: str
    targets: Array
    q0: Array
    own: Array
    stretches: int

    def tracked(self, below: Sequence[Task] = (), criteria: Sequence[Criterion] = ()) -> TrackResult:
        tasks = [PoseTask(self.tip, self.targets[0]), *below]
        targets = [[T, *(task.target for task in below)] for T in self.targets]
        return track(self.model, tasks, targets, self.q0, DT, criteria=criteria)


def fast_robot(robot: str) -> RobotModel:
    return with_rates(iiwa() if robot == "iiwa" else engine_robot(robot), velocity=np.inf, acceleration=np.inf)


def poses(model: RobotModel, tip: str, q0: Array, path: str, seed: int) -> Array:
    """(frames, 4, 4) that q0 begins."""
    rng, s = np.random.default_rng(seed), np.linspace(0.0, 1.0, FRAMES)
    start = forward_kinematics(model, q0)[tip]
    if path == "circle":
        T, angle = np.tile(start, (FRAMES, 1, 1)), 4.0 * np.pi * s
        T[:, 0, 3] += 0.12 * (np.cos(angle) - 1.0)
        T[:, 1, 3] += 0.12 * np.sin(angle)
        return T
    if path == "sway":
        T = np.tile(start, (FRAMES, 1, 1))
        T[:, 1, 3] += 0.25 * np.sin(4.0 * np.pi * s)
        T[:, 2, 3] += 0.05 * np.sin(2.0 * np.pi * s)
        return T
    a, b = rng.normal(size=(2, model.nv)) * np.array([[0.4], [0.2]])
    way = [a * np.sin(2.0 * np.pi * x) + b * (1.0 - np.cos(6.0 * np.pi * x)) for x in s]
    return np.array([forward_kinematics(model, model.limits.clamp(integrate(model, q0, x)))[tip] for x in way])


@cache
def case(robot: str, path: str, joint: int, spare: float) -> Case:
    model, tip = fast_robot(robot), TIPS[robot]
    q0 = model.limits.middle(model.neutral())
    q0[: len(STARTS[robot])] = STARTS[robot]
    targets = poses(model, tip, q0, path, joint)
    followed = track(model, [PoseTask(tip, targets[0])], targets[:, None], q0, DT)
    assert followed.converged.all(), "fast joints follow the path"
    v = velocities(model, followed.q, DT)
    limits = np.maximum(spare * abs(v).max(axis=0), 0.2)
    limits[joint] = SLOWER * abs(v[:, joint]).max()
    joints = [replace(each, velocity=limits[model.slot(each.name).v]) if each.nv else each for each in model.joints[1:]]
    slow = RobotModel(model.name, model.links, joints, model.root, model.drive)
    is_fast = abs(v[:, joint]) > limits[joint]
    stretches = int(is_fast[0]) + int((is_fast[1:] & ~is_fast[:-1]).sum())
    own = reversals(v, FLOOR * limits)
    return Case(slow, tip, model.moving_joints[joint].name, targets, q0, own, stretches)


CASES = [
    (robot, path, joint, spare)
    for robot, joints in JOINTS.items()
    for path in PATHS
    for joint in joints
    for spare in SPARE
]

BESIDE = {
    "alone": lambda own: ([], []),
    "energy": lambda own: ([], [KineticEnergy()]),
    "posture": lambda own: ([PostureTask(own.q0, priority=2)], []),
}


@pytest.mark.parametrize("beside", these_slow(BESIDE, "energy"))
@pytest.mark.parametrize(("robot", "path", "joint", "spare"), CASES)
def test_joints_do_not_turn_back_at_every_frame(robot: str, path: str, joint: int, spare: float, beside: str) -> None:
    own = case(robot, path, joint, spare)
    v = velocities(own.model, own.tracked(*BESIDE[beside](own)).q, DT)
    found = reversals(v, FLOOR * own.model.velocity)
    allowed = own.own + 2 * own.stretches + FEW
    assert (found <= allowed).all(), f"reversals {found.tolist()}, of the path {own.own.tolist()}"


# -- which joints are slow ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("beside", these_slow(BESIDE, "energy"))
@pytest.mark.parametrize(("robot", "path", "joint", "spare"), CASES)
def test_the_first_frame_that_is_late_names_who_is_slow(
    robot: str, path: str, joint: int, spare: float, beside: str
) -> None:
    """Until then the tip is where it has to be. An arm of seven joints goes round a slow one for a while, so that
    another may be the one that is late."""
    own = case(robot, path, joint, spare)
    found = own.tracked(*BESIDE[beside](own))
    late = [frame for frame in range(1, FRAMES) if (found.residuals[frame, 0] > 1e-5).any()]
    if late:
        first = found.diagnosis(late[0])
        assert first.status is Status.LIMIT
        assert is_claim_true(own, found, late[0], first.joints), f"frame {late[0]}: {first.joints}"
        assert own.model.nv > 6 or own.slow in first.joints


def is_claim_true(own: Case, found: TrackResult, frame: int, names: Sequence[str]) -> bool:
    """With the limits on speed of the named joints freed the pose is met in that frame, and none of them is named for
    nothing: freed alone it mends the frame, or kept alone it spoils it."""

    def is_met(freed: Sequence[str]) -> bool:
        model = with_rates(own.model, tuple(freed), velocity=np.inf) if freed else own.model
        q = found.q[frame - 1]
        v = velocities(model, found.q[frame - 2 : frame], DT)[0] if frame > 1 else np.zeros(model.nv)
        here = forward_kinematics(model, q)[own.tip]
        task = PoseTask(own.tip, here)
        again = track(model, [task], np.array([[here], [own.targets[frame]]]), q, DT, start_velocity=v)
        return bool((again.residuals[1] <= 1e-5).all())

    return is_met(names) and all(
        is_met([name]) or not is_met([other for other in names if other != name]) for name in names
    )


@pytest.mark.parametrize("backend", ["native", "numpy"])
def test_joints_without_which_a_late_frame_is_met_are_not_named(backend: str) -> None:
    """Three joints of the Z1 lag behind the posture that is nearest; two of them, free of limits, meet the frame."""
    model = with_rates(load_urdf(robot("z1")), velocity=np.inf, acceleration=np.inf)
    q0, tip = model.limits.middle(model.neutral()) + 0.3 * np.cos(1.3 * np.arange(model.nq)), "gripperMover"
    targets = poses(model, tip, q0, "circle", 1)
    v = velocities(model, track(model, [PoseTask(tip, targets[0])], targets[:, None], q0, DT).q, DT)
    limits = np.maximum(1.2 * abs(v).max(axis=0), 0.2)
    limits[1] = SLOWER * abs(v[:, 1]).max()
    joints = [replace(each, velocity=limits[model.slot(each.name).v]) if each.nv else each for each in model.joints[1:]]
    slow = RobotModel(model.name, model.links, joints, model.root)
    found = track(slow, [PoseTask(tip, targets[0])], targets[:60, None], q0, DT, backend=backend)
    own = Case(slow, tip, "joint2", targets, q0, np.zeros(model.nv), 0)
    late = [frame for frame in range(60) if found.status[frame] is Status.LIMIT]
    assert late
    for frame in late:
        assert is_claim_true(own, found, frame, found.diagnosis(frame).joints), f"{found.diagnosis(frame).joints}"


def test_a_joint_at_its_limit_is_named_alone() -> None:
    """Three slides at right angles: one is too slow for its own way, the two others have speed to spare."""
    model = with_rates(engine_robot("gantry"), acceleration=np.inf)
    model = with_rates(model, (model.moving_joints[1].name,), velocity=0.2)
    tip = model.link_names[-1]
    start = forward_kinematics(model, model.limits.middle(model.neutral()))[tip][:3, 3]
    way = np.array([0.004, 0.02, 0.003])
    for below in ([], [PositionTask("tool", start + 0.1 * X, priority=2, name="below")]):
        targets = [[start + way * frame, *(task.target for task in below)] for frame in range(10)]
        found = track(model, [PositionTask(tip, start), *below], targets, model.limits.middle(model.neutral()), DT)
        told = [found.diagnosis(frame) for frame in range(1, 10)]
        assert {each.status for each in told} == {Status.LIMIT}
        assert {each.joints for each in told} == {(model.moving_joints[1].name,)}
