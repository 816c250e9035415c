"""What is said of a robot that was made."""

from __future__ import annotations

import pytest
from robokin_addon.operators.common import report_robot
from robokin_addon.properties.bridge import binding


@pytest.mark.parametrize("warnings", [["mesh left out"], ["a", "b"], [f"mesh {n} left out" for n in range(20)]])
def test_a_warning_is_said_last_where_the_status_bar_shows_it(robot, warnings):
    said = []

    class Operator:
        report = staticmethod(lambda kind, text: said.append((kind, text)))

    report_robot(Operator, robot, binding(robot).model, warnings, "panda.urdf")
    assert said[0][0] == {"INFO"} and said[0][1].startswith("panda.urdf: robot")
    assert {"WARNING"} == said[-1][0] and said[1:]
