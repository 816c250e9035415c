"""A robot whose tip has a target that goes round: what a file of tests has unless it makes its own."""

from __future__ import annotations

import pytest

from tests.support.scene_robots import add_robot, add_target, circle


@pytest.fixture
def robot(scene):
    scene.frame_start, scene.frame_end = 1, 40
    return add_robot()


@pytest.fixture
def target(robot):
    target = add_target(robot)
    circle(target, 40)
    return target
