"""Names of branches: they say where the elbow is, whichever way axes point, and stay while a robot moves."""

from __future__ import annotations

import numpy as np
import pytest
from robokin_addon.robokin import RobotModel, forward_kinematics
from robokin_addon.solvers import PoseTask, PostureProblem
from support.few import rest_slow
from support.problems.family_robots import RANDOM_FAMILIES, family_robot, random_family, screw_robot, screws_of

ARMS = ("kr6", "irb140", "puma560", "ur5")


def with_signs(model: RobotModel, signs: np.ndarray) -> RobotModel:
    """The same arm, some of its axes the other way."""
    axis, point, slides, home = screws_of(model, model.link_names[-1])
    ends = np.sort(np.array([signs * model.lower, signs * model.upper]), axis=0)
    return screw_robot(signs[:, None] * axis, point, slides, home, *ends)


def points(model: RobotModel, q: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Where axes 2, 3 and 5 are: shoulder, elbow, wrist."""
    _, point, _, _ = screws_of(model, model.link_names[-1])
    # A link's frame moves with its joint; `links[i]` carries axis i + 1.
    links = [joint.child for joint in model.joints if joint.nq]
    rest, there = forward_kinematics(model, np.zeros(6)), forward_kinematics(model, q)
    moved = [there[link] @ np.linalg.inv(rest[link]) for link in links]
    return tuple(moved[i][:3, :3] @ point[i + 1] + moved[i][:3, 3] for i in (0, 1, 3))  # type: ignore[return-value]


@pytest.mark.parametrize("name", ARMS)
@pytest.mark.parametrize("seed", rest_slow(range(3), 2))
def test_names_say_where_the_elbow_is(name: str, seed: int) -> None:
    """Of postures that reach out level, so that up and down mean something, with axes of any sign."""
    rng = np.random.default_rng(seed)
    model = with_signs(family_robot(name), rng.choice((-1.0, 1.0), 6))
    problem = PostureProblem(model, [PoseTask("tool", np.eye(4))])
    looked = 0
    for _ in range(100):
        q = rng.uniform(np.maximum(model.lower, -3), np.minimum(model.upper, 3))
        result = problem.solve([forward_kinematics(model, q)["tool"]])
        for own, words in zip(result.q, result.names, strict=True):
            shoulder, elbow, wrist = points(model, own)
            span = wrist - shoulder
            level = np.linalg.norm(span[:2])
            if level < 3.0 * abs(span[2]) or level < 0.3:
                continue
            above = (elbow - shoulder)[2] - (elbow - shoulder)[:2] @ span[:2] / level**2 * span[2]
            if abs(above) > 0.05:
                looked += 1
                assert ("elbow up" in words) == (above > 0.0), words
    assert looked > 25


@pytest.mark.parametrize("name", ARMS)
def test_names_do_not_depend_on_the_signs_of_arm_axes(name: str) -> None:
    model = family_robot(name)
    rng = np.random.default_rng(1)
    signs = np.array([-1.0, -1.0, 1.0, -1.0, 1.0, -1.0])
    other = with_signs(model, signs)
    one, two = (PostureProblem(each, [PoseTask(each.link_names[-1], np.eye(4))]) for each in (model, other))
    for _ in range(50):
        q = rng.uniform(np.maximum(model.lower, -3), np.minimum(model.upper, 3))
        target = forward_kinematics(model, q)[model.link_names[-1]]
        ours, theirs = one.solve([target]), two.solve([target])
        assert len(ours) == len(theirs)
        for own, words in zip(ours.q, ours.names, strict=True):
            i = int(abs(signs * theirs.q - own).max(axis=1).argmin())
            assert theirs.names[i].split(", ")[:2] == words.split(", ")[:2]


@pytest.mark.parametrize("name", [*ARMS, "iiwa", "scara", "planar_3r"])
def test_a_name_stays_while_the_robot_moves(name: str) -> None:
    """Along a motion that is nowhere singular, the posture that goes along keeps its name."""
    model = family_robot(name)
    link = model.link_names[-1]
    problem = PostureProblem(model, [PoseTask(link, np.eye(4))])
    rng = np.random.default_rng(4)
    moves = 0
    for _ in range(10):
        start, end = (rng.uniform(np.maximum(model.lower, -3), np.minimum(model.upper, 3)) for _ in range(2))
        last = None
        for t in np.linspace(0.0, 0.3, 40):
            q = start + t * (end - start)
            result = problem.solve([forward_kinematics(model, q)[link]], q)
            name_now = result.names[int(abs(result.q - q).max(axis=1).argmin())]
            assert abs(result.q - q).max(axis=1).min() < 1e-6
            moves += last is not None and last != name_now
            last = name_now
    assert moves <= 10  # where a singular pose was crossed


@pytest.mark.parametrize("name", RANDOM_FAMILIES)
def test_names_are_distinct(name: str) -> None:
    rng = np.random.default_rng(2)
    model = random_family(name, rng)
    problem = PostureProblem(model, [PoseTask("tool", np.eye(4))])
    most = 0
    for _ in range(40):
        q = np.where(model.is_length, 0.1, 1.0) * rng.uniform(-3, 3, model.nq)
        result = problem.solve([forward_kinematics(model, q)["tool"]])
        assert len(set(result.names)) == len(result.names)
        assert all(words and "arm 0" not in words for words in result.names)
        most = max(most, len(result))
    assert most >= 1


def test_words() -> None:
    words = {}
    for name, q in (("scara", (0.3, 0.5, 0.1, 0.2)), ("gantry", None), ("planar_3r", (0.3, 0.5, 0.2))):
        model = family_robot(name)
        pose = model.limits.middle(model.neutral()) if q is None else np.array(q)
        result = PostureProblem(model, [PoseTask("tool", forward_kinematics(model, pose)["tool"])]).solve()
        words[name] = sorted(result.names)
    assert words == {
        "scara": ["elbow left", "elbow right"],
        "planar_3r": ["elbow left", "elbow right"],
        "gantry": ["the only one"],
    }


def test_the_elbow_of_a_scara() -> None:
    """Positive joint 2 turns the outer arm to the left: the elbow is to the right of the line to the tool."""
    model = family_robot("scara")
    for bend, word in ((0.8, "elbow right"), (-0.8, "elbow left")):
        q = np.array([0.2, bend, 0.1, 0.3])
        result = PostureProblem(model, [PoseTask("tool", forward_kinematics(model, q)["tool"])]).solve(q0=q)
        assert result.names[0] == word
