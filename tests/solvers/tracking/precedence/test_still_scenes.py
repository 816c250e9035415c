"""A still scene bakes to a still robot, whatever is unreachable."""

from __future__ import annotations

import numpy as np
import pytest
from robokin_addon.robokin import forward_kinematics, library_robot, load_urdf, random_configuration
from robokin_addon.solvers import (
    AimTask,
    CenterOfMassTask,
    OrientationTask,
    PoseTask,
    PositionTask,
    solve_ik,
    track,
)
from robokin_addon.solvers.criteria import (
    Criterion,
    DynamicTorque,
    GravityTorque,
    JointSprings,
    KineticEnergy,
    Manipulability,
    RestPosture,
)
from robokin_addon.solvers.tracking.result import TrackResult
from support.engine.goals import random_goal, size
from support.engine.motions import link_steps
from support.engine.robots import ROBOTS, SLOW
from support.engine.scenes import SCENES
from support.engine.stacks import DT, FRAMES, Stack, engine_stack
from support.problems.limits import with_rates
from support.random_problems.random_trees import random_robot
from support.robots import robot

FRAME, ALL = 1e-6, 1e-5  # [m or rad] that a link may move in a frame of a still scene, and in all of them
QUIET = 1e-5  # [m or rad] in a frame, once a robot that had to go somewhere has arrived


def still(stack: Stack, frame: int, frames: int) -> np.ndarray:
    """(frames,) how far links move from frame to frame while the targets of one frame stand still."""
    targets = [stack.targets[frame]] * (frames + 1)
    return link_steps(stack.model, track(stack.model, stack.tasks, targets, stack.q0, DT).q)


@pytest.mark.parametrize("name", SCENES)
@pytest.mark.parametrize("levels", [1, None], ids=["first level", "all levels"])
def test_nothing_moves_after_the_first_frame(name: str, levels: int | None) -> None:
    scene = SCENES[name]()
    steps = still(scene if levels is None else scene.upper(levels), 0, 50)
    assert steps.max() <= FRAME, f"a link moves {steps.max():.3g} in frame {steps.argmax() + 1}"
    assert steps.sum() <= ALL


@pytest.mark.slow
@pytest.mark.parametrize("robot", ROBOTS)
def test_nothing_moves_with_random_stacks(robot: str) -> None:
    faults = []
    for seed in range(20):
        stack = engine_stack(robot, seed)
        steps = still(stack, seed % FRAMES, 20)
        if steps.max() > FRAME or steps.sum() > ALL:
            faults.append(f"{stack.name}: a link moves {steps.max():.3g} in a frame, {steps.sum():.3g} in all")
    assert not faults, "\n".join(faults)


JUMPING = ("ball bones, bent", "planar 4R, bent", "puppet", "humanoid", "panda", "panda, pose", "wheels")


@pytest.mark.parametrize("rates", [{}, SLOW], ids=["any speed", "slow"])
@pytest.mark.parametrize("levels", [1, None], ids=["first level", "all levels"])
@pytest.mark.parametrize("name", JUMPING)
def test_a_target_that_jumps_out_of_reach_is_stood_before(
    name: str, levels: int | None, rates: dict[str, float]
) -> None:
    """At first it is where the tip is. 2 s later the robot stands as near as it gets, and shakes no more; wheels and a
    slow lift take 4 s for their way."""
    scene = SCENES[name]() if levels is None else SCENES[name]().upper(levels)
    model = with_rates(scene.model, **rates) if rates else scene.model
    first, *others = scene.tasks
    here = forward_kinematics(model, scene.q0)[first.link]
    start = here if isinstance(first, PoseTask) and not isinstance(first, PositionTask) else here[:3, 3]
    below = [task.target for task in others]
    targets = [[start, *below], *[[scene.targets[0][0], *below]] * (100 if name == "wheels" else 60)]
    steps = link_steps(model, track(model, scene.tasks, targets, scene.q0, DT).q)
    assert steps[-10:].max() <= QUIET, f"a link still moves {steps[-10:].max():.3g} in a frame"


@pytest.mark.parametrize("start", ["stretched", "middle"])
def test_a_level_below_does_not_turn_a_limb_to_and_fro(start: str) -> None:
    """An arm that is stretched out towards a target out of reach may turn about itself, by more than one frame's way,
    as the level below wants: there it is as near as at the goal that it came from, and does not go back."""
    model = library_robot("humanoid")
    q = model.limits.clamp(model.neutral()) if start == "stretched" else model.limits.middle(model.neutral())
    here = forward_kinematics(model, q)["left_hand"]
    way = np.array([0.373, -3.768, 1.807])
    tasks = [PositionTask("left_hand", here[:3, 3]), OrientationTask("left_hand", here[:3, :3], priority=2)]
    shares = np.minimum(np.arange(120) / 40.0, 1.0)
    found = track(model, tasks, [[here[:3, 3] + s * way, here[:3, :3]] for s in shares], q, DT)
    steps = link_steps(model, found.q)
    assert steps[-10:].max() <= QUIET, f"a link still moves {steps[-10:].max():.3g} in a frame"


@pytest.mark.parametrize(("gain", "backend"), [(1.0, "native"), (0.2, "native"), (1.0, "numpy")])
def test_criteria_come_to_their_optimum_and_rest(gain: float, backend: str) -> None:
    """Springs, where all is met: they move the robot for ten times 1 / gain, and the second that a goal may take."""
    model = load_urdf(robot("xarm7"))
    tip, q = model.link_names[-1], model.limits.middle(model.neutral())
    here = forward_kinematics(model, q + 0.4)[tip][:3, 3]
    springs, frames = [JointSprings(gain=gain)], int(40.0 / gain)
    tasks = [PositionTask(tip, here)]
    found = track(model, tasks, [[here]] * (frames + 48), q, 0.25, backend=backend, criteria=springs)
    best = solve_ik(model, tasks, found.q[-1], criteria=springs).q
    assert found.converged.all() and abs(found.q[0] - best).max() > 0.1
    assert abs(found.q[-1] - best).max() < 1e-4
    assert link_steps(model, found.q[-25:]).max() <= FRAME


AWAY = {  # [m] from where the tips are, their criterion and the time of a frame [s]
    "bent by what is held": ("talos_reduced", [(-0.18, -1.16, -0.09), (-0.48, 0.45, 0.48)], GravityTorque(), 0.04),
    "two levels": ("talos_reduced", [(-0.65, 0.45, 0.22), (-0.27, 0.29, 0.18)], GravityTorque(), 0.04),
    "stretched": ("panda", [(0.93, -0.85, 1.32)], Manipulability(), 0.01),
    "steep": ("panda", [(0.0, 0.0, 0.0)], JointSprings(gain=100.0), 0.04),
}
TIPS = {"talos_reduced": ("gripper_right_fingertip_3_link", "gripper_left_fingertip_2_link"), "panda": ("panda_hand",)}


@pytest.mark.parametrize(
    "case, frames, backend",
    [*[(case, 90, "native") for case in AWAY], ("stretched", 20, "numpy"), ("steep", 24, "numpy")],
)
def test_no_joint_turns_to_and_fro_for_a_criterion(case: str, frames: int, backend: str) -> None:
    name, away, criterion, dt = AWAY[case]
    model = load_urdf(robot(name))
    q = model.limits.clamp(model.neutral())
    fk, tips = forward_kinematics(model, q), TIPS[name]
    kind = PositionTask if name == "talos_reduced" else PoseTask
    tasks = [
        kind(tip, fk[tip][:3, 3] if kind is PositionTask else fk[tip], priority=1 + i) for i, tip in enumerate(tips)
    ]
    then = [fk[tip] + np.pad(np.array(way)[:, None], ((0, 1), (3, 0))) for tip, way in zip(tips, away, strict=True)]
    then = [target[:3, 3] if kind is PositionTask else target for target in then]
    found = track(
        model, tasks, [[task.target for task in tasks], *[then] * frames], q, dt, backend=backend, criteria=[criterion]
    )
    steps = np.diff(found.q, axis=0)[frames // 3 :]
    turns = (steps[1:] * steps[:-1] < -1e-12).sum(axis=0)
    assert turns.max() <= len(steps) // 8, f"joints turn {turns} times in {len(steps)} frames"


def near_a_posture(frames: int, backend: str = "auto") -> TrackResult:
    """Tasks leave hardly a way to the posture, which bends so that each step led past the place nearest to it."""
    model = with_rates(load_urdf(robot("ur5_robot")), velocity=0.84, acceleration=3.6)
    q = model.limits.middle(model.neutral())
    axis, point, mass = (0.119, 0.296, -0.948), np.array([0.678, -0.916, 0.341]), np.array([0.287, 0.064, 0.071])
    tasks = [AimTask("tool0", axis, point), CenterOfMassTask(mass, priority=2)]
    posture = RestPosture([2.952, 3.411, 1.555, 2.037, -3.803, -2.698], gain=20.0)
    return track(model, tasks, [[point, mass]] * frames, q, 0.01, backend=backend, criteria=[posture])


def test_no_step_of_a_criterion_goes_past_its_place_and_back() -> None:
    found = near_a_posture(400)
    assert found.converged[-1]
    assert link_steps(found.problem.model, found.q[-100:]).max() <= FRAME


@pytest.mark.slow
def test_both_backends_go_between_two_steps_that_turn_back() -> None:
    native, numpy = (near_a_posture(125, backend) for backend in ("native", "numpy"))
    np.testing.assert_allclose(native.q, numpy.q, rtol=0.0, atol=1e-8)


@pytest.mark.parametrize("criterion", [DynamicTorque(), KineticEnergy(), Manipulability(gain=20.0)])
def test_both_backends_prefer_the_same_in_a_still_scene(criterion: Criterion) -> None:
    model = load_urdf(robot("panda"))
    q = model.limits.middle(model.neutral())
    place = forward_kinematics(model, q)["panda_hand"][:3, 3]
    task, then = PositionTask("panda_hand", place), place + np.array([0.1, -0.2, -0.1])
    targets = [[place]] * 2 + [[then]] * 20
    native, numpy = (
        track(model, [task], targets, q, 0.1, backend=backend, criteria=[criterion]).q
        for backend in ("native", "numpy")
    )
    np.testing.assert_allclose(native, numpy, rtol=0.0, atol=1e-9)


@pytest.mark.parametrize("seed, frames, backend", [(0, 45, "native"), (2, 45, "native"), (0, 16, "numpy")])
def test_criteria_keep_their_speed_where_a_level_is_not_met(seed: int, frames: int, backend: str) -> None:
    """A joint that a criterion moves need not stand in a frame for the levels to be kept."""
    rng, model = np.random.default_rng([seed, 5]), random_robot(400 + seed, 7, "fixed")
    model = with_rates(model, velocity=4.0, acceleration=1.0)
    q = model.limits.clamp(random_configuration(model, rng))
    tip = model.links[-1].name
    here = forward_kinematics(model, q)[tip][:3, 3]
    tasks = [PositionTask(tip, here), PositionTask(tip, here + np.array([0.3, 0.0, 0.0]), priority=2)]
    targets, criteria = [[task.target for task in tasks]] * frames, [JointSprings(gain=20)]
    found = track(model, tasks, targets, q, 0.04, backend=backend, criteria=criteria)
    assert not found.converged.any()
    steps = np.diff(found.q, axis=0)
    assert abs(steps).max() > 0.01, "criteria move no joint faster than it stops in a frame"
    assert (steps[1:] * steps[:-1] < -1e-12).sum(axis=0).max() <= 3


@pytest.mark.parametrize("seed, frames, backend", [(1, 90, "native"), (10, 90, "native"), (10, 12, "numpy")])
def test_what_has_no_limits_drags_no_joint_past_its_goal(seed: int, frames: int, backend: str) -> None:
    """A floating base goes to its goal at once where joints let it; these brake in time, as if they went alone."""
    rng, model = np.random.default_rng(seed), random_robot(7100 + seed, 7, "floating")
    model = with_rates(model, velocity=4.0, acceleration=1.0)
    q, away = (model.limits.clamp(random_configuration(model, rng)) for _ in range(2))
    here, there = (forward_kinematics(model, each) for each in (q, away))
    base, tip = model.links[1].name, model.links[-1].name
    tasks = [PositionTask(tip, held := here[tip][:3, 3]), PoseTask(base, here[base], priority=2)]
    targets = [[held, here[base]]] * 2 + [[held, there[base]]] * frames
    found = track(model, tasks, targets, q, DT, backend=backend)
    if backend == "numpy":
        np.testing.assert_allclose(
            found.q, track(model, tasks, targets, q, DT, backend="native").q, rtol=0.0, atol=1e-7
        )
        return
    steps = np.diff(found.q, axis=0)
    assert (steps[1:] * steps[:-1] < -1e-10).sum(axis=0).max() <= 2, "a joint turns to and fro"
    assert link_steps(model, found.q)[70:].max() <= QUIET


def standing_late(tree: int, seed: int, frames: int, joints: int = 9, backend: str = "auto") -> TrackResult:
    """Goals of four levels that cannot all be met, after a jump: it stands long before its patience ends."""
    rng, model = (
        np.random.default_rng([seed, 4711, 8]),
        with_rates(random_robot(tree, joints, "floating"), velocity=4.0),
    )
    q = [model.neutral(), model.limits.middle(model.neutral()), random_configuration(model, rng)][seed % 3]
    q, away = model.limits.clamp(q), model.limits.clamp(random_configuration(model, rng))
    goals = [random_goal(rng, model, level) for level in range(1, 5)]
    first, then = ([goal.at(each) for goal in goals] for each in (q, away))
    then = [g.beyond(t, rng.normal(size=3) * size(model)) if g.beyond else t for g, t in zip(goals, then, strict=True)]
    tasks, targets = [goal.task for goal in goals], [first] * 3 + [then] * frames
    return track(model, tasks, targets, q, DT, backend=backend, criteria=[JointSprings()])


@pytest.mark.parametrize("tree, seed", [(7003, 18), (7003, 27), (7005, 12), (7005, 27)])
def test_criteria_begin_when_the_robot_stands(tree: int, seed: int) -> None:
    """At most a second later for each level: it does not set out again when its patience has ended."""
    found = standing_late(tree, seed, 400)
    moves = np.flatnonzero(link_steps(found.problem.model, found.q)[4:] > FRAME)
    assert np.diff(moves).max(initial=0) < 75


def test_both_backends_stand_and_begin_at_the_same_frame() -> None:
    native, numpy = (standing_late(7000, 15, 30, 6, backend) for backend in ("native", "numpy"))
    moves = link_steps(native.problem.model, native.q)
    assert moves[5:28].max() < FRAME < moves[30:].max()
    np.testing.assert_allclose(native.q, numpy.q, atol=1e-6)
