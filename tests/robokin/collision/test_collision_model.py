"""Which shapes of a robot may not touch, and where they do."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
from robokin_addon.robokin import ModelError, RobotModel, UnknownNameError, read_urdf_text
from robokin_addon.robokin.collision import CollisionModel, Obstacle, Sphere
from robokin_addon.solvers import Motion, check_motion
from support.problems.obstructed import planar_arm


def test_a_folded_arm_meets_itself() -> None:
    model = planar_arm()
    collisions = CollisionModel(model)
    assert [tuple(collisions.names[i] for i in pair) for pair in collisions.pairs] == [
        ("l0", "l2"), ("l0", "l3"), ("l1", "l3"),
    ]  # fmt: skip
    square = np.array([0.0, math.pi / 2, math.pi / 2, math.pi / 2])
    assert collisions.contacts(np.stack((np.zeros(4), square))) == []
    triangle = np.array([0.0, 2.0 * math.pi / 3, 2.0 * math.pi / 3, 2.0 * math.pi / 3])  # the last link is on the first
    (contact,) = collisions.contacts(np.stack((square, triangle)))
    assert (contact.sample, contact.names) == (1, ("l0", "l3")) and contact.depth == pytest.approx(0.1)
    assert CollisionModel(model, disabled=[("l3", "l0"), ("l1", "l3"), ("l2", "l0")]).is_empty
    with pytest.raises(UnknownNameError, match="l9"):
        CollisionModel(model, disabled=[("l9", "l0")])


@pytest.mark.parametrize(
    ("obstacles", "disabled", "said"),
    [
        ([Sphere(0.1)], (), r"Obstacle; Sphere\(radius=0.1\) is none"),
        (Obstacle("ball", Sphere(0.1)), (), "obstacles must be a list of Obstacle"),
        ((), ["l1"], "pairs of names of links or obstacles, not 'l1'"),
        ((), [("l1",)], "pairs of names"),
        ((), [("l1", 2)], "pairs of names"),
        ((), 5, "pairs of names of links or obstacles, not 5"),
    ],
)
def test_what_are_no_obstacles_and_no_pairs_is_named(obstacles: object, disabled: object, said: str) -> None:
    with pytest.raises(ModelError, match=said):
        CollisionModel(planar_arm(), obstacles, disabled)


def test_a_path_of_a_file_is_no_robot() -> None:
    with pytest.raises(ModelError, match=r"a RobotModel is needed, .* not 'arm.urdf'"):
        CollisionModel("arm.urdf")


def test_joints_over_links_without_shapes_connect_neighbours() -> None:
    model = planar_arm()
    links = [dataclasses.replace(link, collisions=()) if link.name == "l1" else link for link in model.links]
    collisions = CollisionModel(RobotModel("arm", links, model.joints[1:]))
    assert [tuple(collisions.names[i] for i in pair) for pair in collisions.pairs] == [("l0", "l3")]


def test_a_motion_that_sweeps_through_an_obstacle_is_reported_also_between_samples() -> None:
    model = planar_arm(2)
    post = Obstacle("post", Sphere(0.1), np.array([[1, 0, 0, 0.0], [0, 1, 0, 1.5], [0, 0, 1, 0], [0, 0, 0, 1.0]]))
    angles = np.linspace(0.1, math.pi - 0.1, 4)  # the post is met at a right angle, half-way between two samples
    motion = Motion.of(model, np.arange(4.0), np.column_stack((angles, np.zeros(4))))
    found = check_motion(motion, collisions=CollisionModel(model, [post]))
    (violation,) = found.violations
    assert (violation.kind, violation.links, violation.frame, violation.half) == ("collision", ("l1", "post"), 1, True)
    assert violation.value == pytest.approx(-0.15) and not found.ok
    record = violation.to_dict()
    assert (
        record["links"] == ["l1", "post"] and record["depth"] == pytest.approx(0.15) and record["kind"] == "collision"
    )
    assert "l1" in violation.sentence() and "post" in violation.sentence()
    assert check_motion(motion).violations == ()


def test_two_that_are_deepest_between_two_samples_are_told_there_too() -> None:
    model = planar_arm(1)
    post = Obstacle("post", Sphere(0.1), np.array([[1, 0, 0, 0.9], [0, 1, 0, 0.0], [0, 0, 1, 0], [0, 0, 0, 1.0]]))
    angles = np.array([[-0.1], [0.1], [0.14]])  # in the post at all; deepest at 0
    found = check_motion(Motion.of(model, np.arange(3.0), angles), collisions=CollisionModel(model, [post]))
    assert [(v.frame, v.half) for v in found.violations] == [(0, False), (0, True), (1, False), (2, False)]
    first, between, *_ = (-v.value for v in found.violations)
    assert first == pytest.approx(0.15 - 0.9 * math.sin(0.1)) and between == pytest.approx(0.15)


def test_an_obstacle_that_moves_is_met_where_it_is() -> None:
    model = planar_arm(1)
    T = np.tile(np.eye(4), (5, 1, 1))
    T[:, 1, 3] = [2.0, 1.0, 0.0, -1.0, -2.0]
    T[:, 0, 3] = 0.5
    motion = Motion.of(model, np.arange(5.0), np.zeros((5, 1)))
    found = check_motion(motion, collisions=CollisionModel(model, [Obstacle("ball", Sphere(0.2), T)]))
    assert [(v.frame, v.half) for v in found.violations] == [(2, False)]


def test_links_that_always_touch_are_found() -> None:
    box = '<collision><geometry><box size="7 7 7"/></geometry></collision>'
    model = planar_arm(3)
    links = [*model.links]
    fat = read_urdf_text(f'<robot name="r"><link name="l0">{box}</link></robot>').links[0]
    links[1] = dataclasses.replace(links[1], collisions=fat.collisions)
    touching = CollisionModel(RobotModel("r", links, model.joints[1:])).always_near(0.0)
    assert touching == [("l0", "l2")]


def test_links_that_no_motion_keeps_a_margin_apart_are_found() -> None:
    """Two wheels on one axle, 3 mm beside each other, and a third one 30 mm away."""
    wheel = (
        '<link name="w{0}"><collision><geometry><cylinder radius="0.1" length="0.02"/></geometry></collision></link>'
        '<joint name="j{0}" type="continuous"><parent link="base"/><child link="w{0}"/><origin xyz="0 0 {1}"/>'
        '<axis xyz="0 0 1"/></joint>'
    )
    wheels = "".join(wheel.format(*each) for each in ((0, 0.0), (1, 0.023), (2, 0.073)))
    found = CollisionModel(read_urdf_text(f'<robot name="r"><link name="base"/>{wheels}</robot>'))
    assert found.always_near(0.0) == [] and found.always_near(0.005) == [("w0", "w1")]


@pytest.mark.parametrize("size", [1.0, 0.01])
def test_links_that_can_touch_are_kept_however_near_they_always_are(size: float) -> None:
    """Two fingers at most 4 mm apart, which can close until one is 8 mm deep in the other; and a hundredth of that."""
    finger = (
        '<link name="f{0}"><collision><geometry><box size="{3} {3} {3}"/></geometry></collision></link>'
        '<joint name="j{0}" type="prismatic"><parent link="base"/><child link="f{0}"/><origin xyz="{1} 0 0"/>'
        '<axis xyz="{2} 0 0"/><limit lower="0" upper="{4}" velocity="1" effort="1"/></joint>'
    )
    sides = (0, -0.012 * size, 1), (1, 0.012 * size, -1)
    fingers = "".join(finger.format(*each, 0.02 * size, 0.006 * size) for each in sides)
    found = CollisionModel(read_urdf_text(f'<robot name="r"><link name="base"/>{fingers}</robot>'))
    assert found.contacts(np.array([[0.006 * size, 0.006 * size]])) and found.always_near(0.005 * size) == []
