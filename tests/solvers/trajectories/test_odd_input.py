"""What a path, a list of moves and limits may be, and what is said of the rest."""

from __future__ import annotations

import json

import numpy as np
import pytest
from robokin_addon.robokin import (
    ConfigurationError,
    Joint,
    Link,
    RobokinError,
    RobotModel,
    library_robot,
    random_configuration,
)
from robokin_addon.solvers import (
    JointTask,
    Motion,
    MotionLimits,
    Move,
    PoseTask,
    check_motion,
    point_to_point,
    read_moves,
    retime,
    run_moves,
    traverse,
)
from robokin_addon.solvers.optimal_control.cost_words import motion_cost
from robokin_addon.solvers.program.bindings import binding_labels
from support.few import rest_slow


@pytest.fixture(scope="module")
def panda():
    model = library_robot("panda")
    return model, model.limits.middle(model.neutral())


@pytest.mark.parametrize("backend", rest_slow(["native", "numpy"]))
def test_a_corner_beside_the_end_of_many_samples(panda, backend):
    model, q = panda
    samples = 2300 if backend == "native" else 300  # the kernel makes the timing alone, not the path
    path = np.tile(q, (samples, 1))
    path[1:, 0] += 0.02
    path[1:, 1] += np.linspace(0.0, 0.3, samples - 1)
    for way in (path, path[::-1]):
        found = retime(model, way, backend=backend)
        assert 0.0 < found.duration < 10.0
        assert np.isfinite(found.sample(np.linspace(0.0, found.duration, 50))[0]).all()


def test_slow_motion_gets_to_its_end(panda):
    model, q = panda
    path = q + np.linspace(0.0, 1e-4, 20001)[:, None] * np.eye(model.nq)[0]
    found = retime(model, path)
    np.testing.assert_allclose(found.sample(found.duration)[0], path[-1], atol=1e-8)


def test_balls_stay_in_their_cones_between_samples():
    model = library_robot("puppet")
    rng, q = np.random.default_rng(0), model.neutral()
    for _ in range(6):
        path = np.array([q, *(random_configuration(model, rng) for _ in range(5))])
        try:
            found = retime(model, path)
        except ConfigurationError as error:
            assert "leaves its cone" in str(error)
            continue
        assert model.limits.contain(found.sample(np.linspace(0.0, found.duration, 2001))[0], 1e-6).all()


def test_the_ball_that_leaves_its_cone_is_named():
    """Not a fixed joint before it, which has no coordinates where the ball's begin."""
    ball = Joint("ball", "spherical", "neck", "head", lower=[-0.6, -2.0, -1.0], upper=[0.6, 2.0, 1.0])
    joints = [Joint("flange", "fixed", "base", "neck"), ball]
    model, rng = RobotModel("bust", [Link("base"), Link("neck"), Link("head")], joints), np.random.default_rng(4)
    with pytest.raises(ConfigurationError, match="joint 'ball' leaves its cone"):
        retime(model, [random_configuration(model, rng) for _ in range(8)])


def test_limits_and_counts_that_cannot_be(panda):
    model, q = panda
    other = MotionLimits.of(library_robot("planar_2r"))
    with pytest.raises(ConfigurationError, match="degrees of freedom"):
        point_to_point(model, q, q, limits=other)
    slow = point_to_point(model, q, q + 0.1 * np.eye(model.nq)[0], limits={"velocity": 1e-7})
    with pytest.raises(ConfigurationError, match="too many samples"):
        slow.motion(1e4)


@pytest.mark.parametrize(
    "move", [{"joints": [1, 2]}, {"joints": "x"}, {"speed": 10**400}, {"position": [0, 0, 10**400]}]
)
def test_moves_that_are_none_are_reported(tmp_path, move):
    path = tmp_path / "moves.json"
    path.write_text(json.dumps({"moves": [move]}))
    with pytest.raises(RobokinError, match="move 1"):
        read_moves(path)


@pytest.mark.parametrize("odd", [np.nan, np.inf, "text"])
def test_the_end_that_is_none_is_named(panda, odd):
    model, q = panda
    other = [odd, *q[1:]]
    with pytest.raises(ConfigurationError, match=r"^q0 "):
        point_to_point(model, other, q)
    with pytest.raises(ConfigurationError, match=r"^q1 "):
        point_to_point(model, q, other)


ARRAY = np.zeros((2, 3))


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (lambda model, q: point_to_point(model, q, q, profile=ARRAY), "no profile named array"),
        (lambda model, q: check_motion(Motion.of(model, [0, 1], [q, q]), limits=ARRAY), "limits must be a mapping of"),
        (lambda model, q: check_motion(Motion.of(model, [0, 1], [q, q]), singularity=ARRAY), "singularity must be a"),
        (lambda model, q: motion_cost(ARRAY, None, q), "a cost is a word"),
        (lambda model, q: JointTask(ARRAY, 0.1), "a task's joint must be the name"),
        (
            lambda model, q: traverse(model, PoseTask("tool", np.eye(4)), np.tile(np.eye(4), (2, 1, 1)), past=ARRAY),
            "past must be one of",
        ),
    ],
)
def test_an_array_in_place_of_a_word_or_number_is_named_on_one_line(panda, asked, said):
    with pytest.raises(RobokinError, match=said) as error:
        asked(*panda)
    assert "\n" not in str(error.value)


def test_nothing_binds_the_moves_of_a_robot_without_joints():
    model = RobotModel("rock", [Link("stone"), Link("top")], [Joint("glue", "fixed", "stone", "top")])
    done = run_moves(model, [Move("there", joints={}, wait=1.0)], [])
    assert binding_labels(done, np.array([0.0, 0.5])) == [None, None]


def test_what_is_no_robot_is_named(panda):
    _, q = panda
    pose = np.eye(4)
    for call in (
        lambda: run_moves("panda.urdf", [Move("there", joints={"joint_1": 0.1})], q),
        lambda: MotionLimits.of(None),
        lambda: traverse("panda.urdf", PoseTask("tool", pose), [pose], q),
    ):
        with pytest.raises(RobokinError, match="a RobotModel is needed"):
            call()
