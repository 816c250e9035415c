"""A motion as angles of hobby servos."""

from __future__ import annotations

import numpy as np
import pytest
from robokin_addon.robokin import ConfigurationError, Joint, Link, RobotModel, library_robot
from robokin_addon.solvers.motion.files import write_motion
from robokin_addon.solvers.motion.motion import Motion


def test_the_middle_of_the_limits_is_ninety_degrees(tmp_path):
    model = library_robot("desk_arm")
    q = np.array([model.limits.lower, model.neutral(), model.limits.upper])
    path = write_motion(Motion.of(model, [0.0, 0.5, 1.0], q), tmp_path / "arm.servo")
    assert path.read_text().splitlines() == [
        "time,S0,S1,S2,S3,S5",
        "0,0.00,0.00,0.00,0.00,0.00",
        "0.5,90.00,90.00,90.00,90.00,90.00",
        "1,180.00,180.00,180.00,180.00,180.00",
    ]


@pytest.mark.parametrize(
    ("joint", "said"),
    [
        (Joint("j", "revolute", "a", "b", lower=-2.0, upper=2.0), "joint 'j' turns 229.183 degrees: a servo has 180"),
        (Joint("j", "revolute", "a", "b", lower=-1.571, upper=1.571), "joint 'j' turns 180.023 degrees"),
        (Joint("j", "continuous", "a", "b"), "joint 'j' turns without limits: a servo has 180"),
        (Joint("j", "prismatic", "a", "b", lower=0.0, upper=1.0), "joint 'j' is prismatic"),
        (Joint("j", "spherical", "a", "b"), "joint 'j' is spherical"),
    ],
)
def test_what_no_servo_drives_is_named_and_nothing_is_written(tmp_path, joint, said):
    model = RobotModel("one", [Link("a"), Link("b")], [joint])
    motion = Motion.of(model, [0.0, 1.0], np.tile(model.neutral(), (2, 1)))
    with pytest.raises(ConfigurationError, match=said):
        write_motion(motion, tmp_path / "one.servo")
    assert not list(tmp_path.iterdir())
