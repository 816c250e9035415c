"""Every status is a claim; here each is made to appear, and re-checked by other means."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from robokin_addon.robokin import Joint, Link, Mimic, RobotModel, library_robot, load_urdf
from robokin_addon.robokin.configuration import random_configuration
from robokin_addon.robokin.kinematics import forward_kinematics
from robokin_addon.robokin.spatial import so3
from robokin_addon.solvers import (
    AdvanceTask,
    AimTask,
    AxisTask,
    DistanceTask,
    IKProblem,
    JointTask,
    OnCurveTask,
    OnLineTask,
    OnPlaneTask,
    OrientationTask,
    PinTask,
    PoseTask,
    PositionTask,
    PostureTask,
    SolveResult,
    Status,
    Task,
    solve_ik,
)
from robokin_addon.solvers.criteria import JointSprings
from support.blender.every_task import every_task
from support.oracles.task_oracle import TaskOracle
from support.problems.levels import in_levels
from support.random_problems.random_arms import random_arm
from support.random_problems.random_tasks import random_task
from support.random_problems.random_trees import random_robot
from support.robots import robot

TIP = "panda_link8"


@pytest.fixture(scope="module")
def panda() -> RobotModel:
    return load_urdf(robot("panda"))


def _planar_arm(*limits: tuple[float, float]) -> RobotModel:
    """Joints about z, links of 1 m and 0.5 m along x; the tip is the link "tip"."""
    lengths = (0.0, 1.0, 0.5)
    joints = []
    for i, (low, high) in enumerate(limits):
        placement = np.eye(4)
        placement[0, 3] = lengths[i]
        joints.append(Joint(f"joint{i}", "revolute", f"link{i}", f"link{i + 1}", placement, lower=low, upper=high))
    end = np.eye(4)
    end[0, 3] = lengths[len(limits)]
    joints.append(Joint("end", "fixed", f"link{len(limits)}", "tip", end))
    return RobotModel("planar arm", [*(Link(f"link{i}") for i in range(len(limits) + 1)), Link("tip")], joints)


FULL = (-np.pi, np.pi)


@pytest.mark.parametrize("backend", ["native", "numpy"])
def test_out_of_reach_has_a_certificate_and_stretches(panda: RobotModel, backend: str) -> None:
    rng = np.random.default_rng(0)
    target = np.array([0.0, 2.0, 0.5])
    tips = [forward_kinematics(panda, random_configuration(panda, rng))[TIP][:3, 3] for _ in range(1000)]
    result = solve_ik(panda, [PositionTask(TIP, target)], backend=backend)
    assert result.status is Status.OUT_OF_REACH
    assert result.tasks == (f"PositionTask of {TIP}",)
    assert "farther" in result.reason
    assert result.residuals[0]["position"] < np.linalg.norm(tips - target, axis=1).min()


def test_out_of_reach_is_never_said_of_what_is_met() -> None:
    """The certificate bounds every configuration: random trees with strokes, screws, offsets and free axes."""
    for seed in range(150):
        rng = np.random.default_rng(seed)
        types = ("revolute", "prismatic", "continuous", "planar", "fixed")
        model = random_robot(seed, int(rng.integers(2, 10)), str(rng.choice(["fixed", "planar"])), types)
        q = random_configuration(model, rng)
        tasks = [random_task(rng, model, q) for _ in range(2)]
        result = IKProblem(model, tasks, attempts=1).solve(q0=q, diagnose=False)
        assert result.converged and result.iterations == 0


def _far() -> dict[str, Task]:
    """Tasks of points that the Panda's hand cannot come to, with room of 0.1 m or more."""
    x = np.array([1.0, 0.0, 0.0])
    return {
        "plane": OnPlaneTask(TIP, (1.5 * x, x)),
        "above": OnPlaneTask(TIP, (1.5 * x, x), "above"),
        "below": OnPlaneTask(TIP, (-1.5 * x, x), "below", band=0.1),
        "line": OnLineTask(TIP, (1.5 * x, (0.0, 1.0, 1.0)), band=0.1),
        "curve": OnCurveTask(TIP, [(1.5, 0.0, 0.0), (2.0, 1.0, 0.0)]),
        "equal": DistanceTask(TIP, 0.4, other_point=2.0 * x),
        "inside": DistanceTask(TIP, 0.4, other_point=2.0 * x, relation="inside"),
        "outside": DistanceTask(TIP, 4.0, other_point=x, relation="outside"),
        "advance": AdvanceTask(TIP, (2.5, 0.0, 0.0), frame="world"),
        "pin": PinTask(TIP, _moved(2.0 * x)),
        "band": PositionTask(TIP, 2.0 * x, band=0.2),
    }


def _moved(p: np.ndarray) -> np.ndarray:
    T = np.eye(4)
    T[:3, 3] = p
    return T


@pytest.mark.parametrize("kind", _far())
def test_points_that_are_too_far_have_a_certificate(panda: RobotModel, kind: str) -> None:
    task = _far()[kind]
    result = in_levels(panda, [task]).solve()
    assert result.status is Status.OUT_OF_REACH and result.tasks == (task.name,)
    gap = float(result.reason.split("at least ")[1].split(" m")[0])
    rng = np.random.default_rng(0)
    start = IKProblem(panda, [PositionTask(TIP, (0, 0, 0))]).limits.middle(panda.neutral())
    oracle = TaskOracle(panda, start)
    least = min(oracle.residuals(task, random_configuration(panda, rng))[0] for _ in range(300))
    assert gap > 0.0 and gap <= min(least, oracle.residuals(task, result.q)[0]) + 1e-9


@pytest.mark.slow
def test_no_certificate_against_what_a_pose_meets() -> None:
    for seed in range(60):
        rng = np.random.default_rng(seed)
        model = random_robot(seed, int(rng.integers(2, 10)), ("fixed", "planar", "floating")[seed % 3])
        q, away = random_configuration(model, rng), random_configuration(model, rng)
        oracle = TaskOracle(model, q)
        for name, task in every_task(rng, model, q, away).items():
            problem = in_levels(model, [task])
            if oracle.is_met(task, away):
                assert not problem.search.excess([task.target]).any(), f"{name} of seed {seed}"


def test_a_link_that_cannot_move_is_out_of_reach(panda: RobotModel) -> None:
    assert solve_ik(panda, [PositionTask("panda_link0", [0.0, 0.0, 0.1])]).status is Status.OUT_OF_REACH
    assert solve_ik(panda, [PositionTask("panda_link0", [0.0, 0.0, 0.0])]).converged
    turned = np.diag([1.0, -1.0, -1.0])
    result = solve_ik(panda, [OrientationTask("panda_link0", turned)])
    assert result.status is Status.OUT_OF_REACH and "3.14 rad are missing in every pose" in result.reason


SCARA, GANTRY = library_robot("scara"), library_robot("gantry")


@pytest.mark.parametrize("model", [SCARA, GANTRY], ids=["scara", "gantry"])
def test_what_no_joint_moves_is_out_of_reach(model: RobotModel) -> None:
    """All axes of a SCARA are upright, a gantry does not turn: how far a tilt is from all that they do is exact."""
    here = forward_kinematics(model, random_configuration(model, np.random.default_rng(2)))["tool"]
    tilt, spin = (so3.exp(np.array(axis) * 0.4) for axis in ((0.6, 0.8, 0.0), (0.0, 0.0, 1.0)))
    for turn in (tilt, spin, tilt @ spin):
        target = here.copy()
        target[:3, :3] = turn @ here[:3, :3]
        result, is_met = solve_ik(model, [PoseTask("tool", target)]), turn is spin and model is SCARA
        assert result.status is (Status.CONVERGED if is_met else Status.OUT_OF_REACH)
        alone = solve_ik(model, [OrientationTask("tool", target[:3, :3])])
        assert alone.status is result.status
        least = 0.0 if is_met else 0.4 if model is SCARA else np.linalg.norm(so3.log(turn))
        assert alone.residuals[0]["orientation"] == pytest.approx(least, abs=1e-5)
        assert is_met or f"{least:.3g} rad are missing in every pose" in alone.reason
        assert (
            solve_ik(model, [OrientationTask("tool", target[:3, :3], weights=(1, 1, 0))]).status
            is not Status.OUT_OF_REACH
        )
    high = PositionTask("tool", here[:3, 3] + [0, 0, 0.01])
    assert solve_ik(model, [high]).status is not Status.OUT_OF_REACH


@pytest.mark.parametrize("play", [0.0, 1e-12, 1e-3])
def test_a_joint_without_play_is_a_limit(play: float) -> None:
    """It moves the tip across, to first order, but at its stop the tip never goes along x."""
    lift = Joint("lift", "prismatic", "base", "carriage", axis=(0, 0, 1), lower=-1.0, upper=1.0)
    turn = Joint("turn", "revolute", "carriage", "arm", axis=(0, 0, 1), lower=-play, upper=play)
    model = RobotModel("crane", [Link("base"), Link("carriage"), Link("arm")], [lift, turn])
    out = np.eye(4)
    out[0, 3] = 1.0
    result = solve_ik(model, [PositionTask("arm", (0.0, 1.0, 0.2), offset=out)])
    assert result.status is Status.LIMIT and result.joints == ("turn",)


def test_a_fine_thread_moves_far() -> None:
    """A screw of many turns beside a slide: 1 mm takes it 10^6 rad, but it gets there."""
    slide = Joint("slide", "prismatic", "base", "cart", axis=(1, 0, 0))
    screw = Joint("screw", "screw", "cart", "nut", axis=(0, 0, 1), pitch=1e-9)
    model = RobotModel("vice", [Link("base"), Link("cart"), Link("nut")], [slide, screw])
    result = solve_ik(model, [PositionTask("nut", (0.3, 0.0, 1e-3))])
    assert not result.converged and "missing in every pose" not in result.reason


def test_a_pose_of_too_few_motions_conflicts_with_itself() -> None:
    """Of five axes: the tool comes to the place, and is turned so, but not both."""
    arm = library_robot("desk_arm")
    rng, found = np.random.default_rng(4), []
    for _ in range(20):
        q, turn = random_configuration(arm, rng), so3.exp(0.1 * rng.normal(size=3))
        target = forward_kinematics(arm, q)["tool"]
        target[:3, :3] = turn @ target[:3, :3]
        result = solve_ik(arm, [PoseTask("tool", target, name="reach")])
        parts = [PositionTask("tool", target[:3, 3]), OrientationTask("tool", target[:3, :3])]
        if result.status is Status.TASK_CONFLICT:
            assert result.tasks == ("reach",) and all(solve_ik(arm, [part], result.q).converged for part in parts)
        found.append(result.status)
    assert found.count(Status.TASK_CONFLICT) > 5


def test_a_pose_inside_that_was_missed_is_no_limit() -> None:
    """The target was taken from a pose inside narrow limits; from one beyond them the search finds it after all."""
    rng, joints = np.random.default_rng(3905), []
    count, place = int(rng.integers(4, 8)), np.eye(4)
    for i in range(count):
        middle, play = rng.uniform(-1.5, 1.5), 10 ** rng.uniform(-4, 0.5)
        axis, bounds = np.eye(3)[rng.integers(3)], {"lower": middle - play, "upper": middle + play}
        joints.append(Joint(f"j{i}", "revolute", f"l{i}", f"l{i + 1}", place, axis, **bounds))
        place = np.eye(4)
        place[0, 3] = 0.4
    arm = RobotModel("arm", [Link(f"l{i}") for i in range(count + 1)], joints)
    q = random_configuration(arm, rng)
    q = np.where(rng.random(count) < 0.5, rng.choice([arm.lower, arm.upper]), q)
    target, tip = forward_kinematics(arm, q)[f"l{count}"] @ place, f"l{count}"
    tasks = [
        PositionTask(tip, target[:3, 3], offset=place),
        OrientationTask(tip, target[:3, :3], priority=2),
    ]
    result = solve_ik(arm, tasks)
    assert result.converged or (result.status is Status.MAX_ITERATIONS and "inside the limits" in result.reason)


def test_limit_names_the_joint_to_free() -> None:
    model = _planar_arm((-0.5, 0.5), FULL)
    result = solve_ik(model, [PositionTask("tip", [0.0, 1.2, 0.0])])
    assert result.status is Status.LIMIT
    assert result.joints == ("joint0",)
    assert solve_ik(_planar_arm(FULL, FULL), [PositionTask("tip", [0.0, 1.2, 0.0])]).converged
    assert (
        solve_ik(_planar_arm((-0.5, 0.5), (-100.0, 100.0)), [PositionTask("tip", [0.0, 1.2, 0.0])]).status
        is Status.LIMIT
    )


def test_limit_leaves_out_joints_that_happen_to_be_at_a_bound(panda: RobotModel) -> None:
    result = solve_ik(panda, [PositionTask(TIP, [0.0, 0.0, 0.33])])
    assert result.status is Status.LIMIT
    assert len(result.limits_active) > 1
    assert result.joints == ("panda_joint4",)


@pytest.mark.parametrize("backend", ["native", "numpy"])
def test_a_free_joint_with_bounded_lengths(backend: str) -> None:
    """The box of its lengths is kept, and is the reach."""
    low, high = np.array([-0.1, -0.2, -0.3, *[-np.inf] * 3]), np.array([0.4, 0.5, 0.6, *[np.inf] * 3])
    model = RobotModel("box", [Link("a"), Link("b")], [Joint("free", "floating", "a", "b", lower=low, upper=high)])
    turned = np.diag([-1.0, -1.0, 1.0, 1.0])
    corner = turned.copy()
    corner[:3, 3] = high[:3]
    result = solve_ik(model, [PoseTask("b", corner)], backend=backend)
    assert result.converged and (result.q <= model.upper).all()
    corner[:3, 3] = 0.4, 0.0, 0.7
    assert solve_ik(model, [PoseTask("b", corner)], backend=backend).status is Status.LIMIT
    corner[:3, 3] = 0.4, 0.5, 1.0
    result = solve_ik(model, [PoseTask("b", corner)], backend=backend)
    assert result.status is Status.OUT_OF_REACH
    np.testing.assert_allclose(result.q[:3], high[:3], atol=1e-4)


def test_limits_that_are_blamed_are_to_blame() -> None:
    """Targets met only outside the limits: freeing the named joints, and only those, makes each converge."""
    seen = 0
    for seed in range(30):
        model = random_arm(seed)
        rng = np.random.default_rng(seed)
        tip = model.links[-1].name
        q = random_configuration(model, rng)
        wide = q + np.where(rng.random(model.nq) < 0.5, 1.5, 0.0) * (model.upper - model.lower)
        result = solve_ik(model, [PoseTask(tip, forward_kinematics(model, wide)[tip])])
        if result.status is not Status.LIMIT:
            continue
        seen += 1
        assert not result.converged and result.joints
        joints = [
            Joint(j.name, j.type, j.parent, j.child, j.placement, j.axis) if j.name in result.joints else j
            for j in model.joints[1:]
        ]
        freed = RobotModel("freed", model.links, joints)
        assert (
            IKProblem(freed, [PoseTask(tip, forward_kinematics(model, wide)[tip])], attempts=200)
            .solve(q0=result.q)
            .converged
        )
    assert seen >= 5


def test_task_conflict_names_those_in_conflict_only(panda: RobotModel) -> None:
    here, there = [0.4, 0.1, 0.5], [0.4, 0.1, 0.6]
    tasks = [
        PositionTask(TIP, here, name="here"),
        PositionTask(TIP, there, name="there"),
        OrientationTask("panda_link1", np.eye(3), name="bystander"),
    ]
    result = solve_ik(panda, tasks)
    assert result.status is Status.TASK_CONFLICT
    assert result.tasks == ("here", "there")
    for task in tasks:
        assert solve_ik(panda, [task]).converged
    halfway = forward_kinematics(panda, result.q)[TIP][:3, 3]
    np.testing.assert_allclose(halfway, [0.4, 0.1, 0.55], atol=1e-3)


def test_singular_inside_the_hole_of_the_workspace() -> None:
    """Nearer to the base than the links differ in length: folded, the arm can do no better."""
    model = _planar_arm((-np.inf, np.inf), (-np.inf, np.inf))
    target = np.array([0.2, 0.1, 0.0])
    result = solve_ik(model, [PositionTask("tip", target)])
    assert result.status is Status.SINGULAR
    assert result.residuals[0]["position"] == pytest.approx(0.5 - np.linalg.norm(target), abs=1e-6)


def test_least_squares_of_an_unreachable_height_is_no_singularity() -> None:
    result = solve_ik(_planar_arm((-np.inf, np.inf), (-np.inf, np.inf)), [PositionTask("tip", [0.9, 0.3, 0.2])])
    assert result.status is Status.OUT_OF_REACH
    assert result.residuals[0]["position"] == pytest.approx(0.2, abs=1e-9)
    assert result.reason == "no joint moves it there, 0.2 m are missing in every pose: PositionTask of tip"


@pytest.mark.parametrize("solver", [IKProblem, in_levels])
def test_rows_that_nothing_can_move_are_no_singularity(solver: Callable[..., IKProblem]) -> None:
    """In the plane, three joints move two of a point's three rows, everywhere."""
    model = _free_arm(0.8, 0.6, 0.5)
    result = solver(model, [PositionTask("end3", [0.9, 0.3, 0.2])]).solve(q0=[0.1, 0.4, 0.7])
    assert result.status is Status.OUT_OF_REACH and result.tasks == ("PositionTask of end3",)
    assert result.residuals[0]["position"] == pytest.approx(0.2, abs=1e-9)
    tilted = solver(model, [AxisTask("end3", (1, 0, 0), (1.0, 0.0, 0.5))]).solve(q0=[0.1, 0.4, 0.7])
    assert tilted.status is Status.MAX_ITERATIONS and "no small motion brings it nearer" in tilted.reason
    assert tilted.residuals[0]["orientation"] == pytest.approx(np.arctan(0.5), abs=1e-6)


# -- singular: analytic cases ------------------------------------------------------------------------------------------


def _free_arm(*lengths: float) -> RobotModel:
    """Joints about z without limits, links along x; the ends of the links are "end1", "end2" ..."""
    joints, links, before = [], [Link("link0")], 0.0
    for i, length in enumerate(lengths, 1):
        shift, end = np.eye(4), np.eye(4)
        shift[0, 3], end[0, 3] = before, length
        joints.append(Joint(f"joint{i}", "continuous", f"link{i - 1}", f"link{i}", shift))
        joints.append(Joint(f"fixed{i}", "fixed", f"link{i}", f"end{i}", end))
        links += [Link(f"link{i}"), Link(f"end{i}")]
        before = length
    return RobotModel("free arm", links, joints)


@pytest.mark.parametrize("solver", [IKProblem, in_levels])
@pytest.mark.parametrize("backend", ["native", "numpy"])
def test_singular_stretched_with_the_target_inward(solver: Callable[..., IKProblem], backend: str) -> None:
    """Along the stretched arm nothing moves: one attempt from there is caught, restarts are not."""
    model, stretched = _free_arm(1.0, 0.5), np.array([0.4, 0.0])
    target = 0.9 * np.array([np.cos(0.4), np.sin(0.4), 0.0])
    caught = solver(model, [PositionTask("end2", target)], attempts=1, backend=backend).solve(q0=stretched)
    assert caught.status is Status.SINGULAR
    np.testing.assert_allclose(caught.q, stretched, atol=1e-9)
    assert caught.residuals[0]["position"] == pytest.approx(0.6, abs=1e-9)
    assert solver(model, [PositionTask("end2", target)], backend=backend).solve(q0=stretched).converged


@pytest.mark.parametrize("solver", [IKProblem, in_levels])
def test_singular_at_gimbal_lock(solver: Callable[..., IKProblem]) -> None:
    """With the pitch at a right angle, yaw and roll turn about one axis, and x about none."""
    joints = [Joint("wrist", "gimbal", "a", "b", order="ZYX", lower=-np.inf, upper=np.inf)]
    model = RobotModel("wrist", [Link("a"), Link("b")], joints)
    locked = np.array([0.0, 0.5 * np.pi, 0.0])
    c, s = np.cos(0.3), np.sin(0.3)
    about_x = np.array([[1, 0, 0], [0, c, -s], [0, s, c]])
    target = about_x @ forward_kinematics(model, locked)["b"][:3, :3]
    caught = solver(model, [OrientationTask("b", target)], attempts=1).solve(q0=locked)
    assert caught.status is Status.SINGULAR
    assert caught.residuals[0]["orientation"] == pytest.approx(0.3, abs=1e-9)
    assert solver(model, [OrientationTask("b", target)]).solve(q0=locked).converged


class _Place(PositionTask):
    """Of another maker's class: no certificate is known of it."""


@pytest.mark.parametrize("backend", ["native", "numpy"])
def test_singular_in_what_the_first_level_leaves(backend: str) -> None:
    """The first level holds the second link's end; the other two links fold, since the target is in the hole that
    they cannot reach (and 0.1 m above the plane, so that no pose meets it). The whole arm's J is not singular there."""
    model = _free_arm(0.8, 0.8, 1.0, 0.4)
    elbow = np.array([0.9, 0.6, 0.0])
    away = np.array([0.0, 0.3, 0.1])
    tasks = [PositionTask("end2", elbow), _Place("end4", elbow + away, priority=2)]
    result = solve_ik(model, tasks, [0.9, -0.6, 1.0, 2.5], backend=backend)
    assert result.status is Status.SINGULAR
    assert result.residuals[0]["position"] <= 1e-5
    assert result.residuals[1]["position"] == pytest.approx(np.hypot(0.3, 0.1), abs=1e-4)
    assert abs(np.sin(result.q[3])) < 1e-3 and np.cos(result.q[3]) < 0.0
    e = elbow + away - forward_kinematics(model, result.q)["end4"][:3, 3]
    J = np.array([_along(model, result.q, i) for i in range(4)]).T
    assert np.linalg.norm(J.T @ e) > 0.1  # of all joints; not of the last two
    assert np.linalg.norm(J[:, 2:].T @ e) < 1e-3


def _along(model: RobotModel, q: np.ndarray, joint: int) -> np.ndarray:
    """(3,) velocity of the last end, by central differences."""
    step = 1e-6 * np.eye(4)[joint]
    ahead, back = (forward_kinematics(model, q + side * step)["end4"][:3, 3] for side in (1.0, -1.0))
    return (ahead - back) / 2e-6


def test_a_level_to_which_nothing_is_left_is_not_singular() -> None:
    """Both levels hold one arm of two joints: what the second one lacks is due to the first, not to the pose."""
    model = _free_arm(1.0, 0.5)
    tasks = [PositionTask("end2", (0.9, 0.3, 0.0)), PositionTask("end2", (0.9, 0.3, 0.2), priority=2)]
    result = solve_ik(model, tasks)
    assert result.status is Status.OUT_OF_REACH and result.tasks == (tasks[1].name,)
    assert result.residuals[1]["position"] == pytest.approx(0.2, abs=1e-5)


def test_rounding_in_the_rows_of_a_level_takes_no_motion_from_the_next(panda: RobotModel) -> None:
    """An aim holds two motions; off by 1e-9 rad, its rows have a third singular value of that size."""
    q = 0.4 * panda.lower + 0.6 * panda.upper
    T = forward_kinematics(panda, q)[TIP]
    aim = AimTask(TIP, [0, 0, 1], T[:3, 3] + 0.5 * T[:3, 2] + 5e-10 * T[:3, 0])
    far = PositionTask(TIP, T[:3, 3] + [0.0, 0.0, 2.0], priority=2)
    _, J, _ = IKProblem(panda, [aim, far]).search.linearised([aim.target, far.target], q)
    assert J.shape == (3, 7 - 2)


# -- nothing to do -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("solver", [IKProblem, in_levels])
def test_tasks_without_influence_are_not_there(panda: RobotModel, solver: Callable[..., IKProblem]) -> None:
    q = 0.5 * (panda.lower + panda.upper)
    tasks = [PositionTask(TIP, [9.0, 0.0, 0.0], influence=0.0), OrientationTask(TIP, np.eye(3), influence=0.0)]
    result = solver(panda, tasks).solve(q0=q)
    assert result.status is Status.EMPTY
    np.testing.assert_array_equal(result.q, q)
    assert result.residual_array.shape == (2, 2) and not result.residual_array.any()
    one = [tasks[0], PositionTask(TIP, forward_kinematics(panda, q)[TIP][:3, 3])]
    assert solver(panda, one).solve(q0=q).converged


def test_criteria_without_tasks_that_count_are_at_their_optimum(panda: RobotModel) -> None:
    tasks = [PositionTask(TIP, [0.4, 0.0, 0.4], influence=0.0)]
    for given in ([], tasks):
        result = solve_ik(panda, given, criteria=[JointSprings()], q0=panda.upper)
        assert result.status is Status.EMPTY and result.costs
        np.testing.assert_allclose(result.q, 0.5 * (panda.lower + panda.upper), atol=1e-6)


@pytest.mark.parametrize("tasks", [[], ["plain"], ["plain", "second level"], ["aim"]])
def test_a_start_outside_the_limits_is_moved_in(panda: RobotModel, tasks: list[str]) -> None:
    """The nearest pose inside is the start."""
    q = 0.5 * (panda.lower + panda.upper)
    known = {
        "plain": PositionTask(TIP, forward_kinematics(panda, q)[TIP][:3, 3]),
        "second level": OrientationTask("panda_link1", np.eye(3), priority=2),
        "aim": AimTask(TIP, (0, 0, 1), (0.5, 0.2, 0.0)),
    }
    outside = np.where(np.arange(panda.nq) % 2 == 0, panda.upper + 5.0, panda.lower - 0.1)
    chosen = [known[name] for name in tasks]
    result = solve_ik(panda, chosen, q0=outside)
    inside = solve_ik(panda, chosen, q0=np.clip(outside, panda.lower, panda.upper))
    assert result.status is (Status.CONVERGED if tasks else Status.EMPTY)
    np.testing.assert_array_equal(result.q, inside.q)
    assert (result.q >= panda.lower).all() and (result.q <= panda.upper).all()


def test_no_task_is_empty(panda: RobotModel) -> None:
    result = solve_ik(panda, [], q0=np.full(panda.nq, 9.0))
    assert result.status is Status.EMPTY
    np.testing.assert_array_equal(result.q, panda.upper)


def test_limits_active_names_joints_at_a_bound() -> None:
    result = solve_ik(_planar_arm((-0.5, 0.5), (-0.1, 0.1)), [PositionTask("tip", [0.0, 1.5, 0.0])])
    assert set(result.limits_active) == {"joint0", "joint1"}


def test_reason_is_only_sought_when_wanted() -> None:
    problem = IKProblem(_planar_arm((-0.5, 0.5), FULL), [PositionTask("tip", [0.0, 1.2, 0.0])])
    plain: SolveResult = problem.solve(diagnose=False)
    assert plain.status is Status.MAX_ITERATIONS
    np.testing.assert_array_equal(plain.q, problem.solve().q)


def test_the_whole_tasks_of_a_solve_are_diagnosed() -> None:
    """An influence given to the solve counts, not that which the tasks have."""
    model = load_urdf(robot("panda"))
    joint = model.moving_joints[0]
    high = float(model.upper[0])
    tasks = [JointTask(joint.name, high + 0.2), JointTask(joint.name, -1.0)]
    found = IKProblem(model, tasks).solve(influence=[1.0, 0.0])
    alone = IKProblem(model, tasks[:1]).solve()
    assert (found.status, found.reason) == (Status.LIMIT, alone.reason)


def test_attempts_that_were_made_are_told(panda: RobotModel) -> None:
    name = panda.moving_joints[0].name
    for tasks in ([JointTask(name, 1.0), JointTask(name, -1.0)], [PostureTask({name: 1.0}), JointTask(name, -1.0)]):
        found = IKProblem(panda, tasks).solve(diagnose=False)
        assert f"after {found.attempts} attempt" in found.reason
    once = IKProblem(panda, tasks, attempts=1).solve(diagnose=False)
    assert "after 1 attempt;" in once.reason


@pytest.mark.parametrize("backend", ["native", "numpy"])
def test_a_follower_that_stands_still_has_a_reach(backend: str) -> None:
    """Its leader turns without bounds."""
    ahead = np.eye(4)
    ahead[0, 3] = 0.5
    joints = [
        Joint("lead", "continuous", "a", "b"),
        Joint("slide", "prismatic", "b", "c", mimic=Mimic("lead", 0.0, 0.1)),
        Joint("tip", "revolute", "c", "d", ahead, lower=-3.0, upper=3.0),
    ]
    model = RobotModel("still", [Link(name) for name in "abcd"], joints)
    near = PositionTask("d", [0.7, 0.1, 0.1], offset=ahead)
    assert solve_ik(model, [near, JointTask("tip", 0.3, priority=2)], backend=backend).status is not Status.OUT_OF_REACH
    assert solve_ik(model, [near], backend=backend).converged
    far = solve_ik(model, [PositionTask("d", [2.9, 0.1, 0.1], offset=ahead)], backend=backend)
    assert far.status is Status.OUT_OF_REACH and "nan" not in far.reason
