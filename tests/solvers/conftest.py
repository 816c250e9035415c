"""A robot for tests of the solvers."""

from __future__ import annotations

import pytest
from robokin_addon.robokin import RobotModel, load_urdf
from support.robots import robot


@pytest.fixture(scope="session")
def panda() -> RobotModel:
    return load_urdf(robot("panda"))
