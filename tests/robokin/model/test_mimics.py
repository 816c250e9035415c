"""Joints that mimic others, and those whose own limits that does not keep."""

from __future__ import annotations

import json
import logging
from pathlib import Path

import pytest
from robokin_addon.robokin import Joint, Link, Mimic, ModelError, RobotModel, in_limits, load_urdf
from robokin_addon.robokin.limit_warnings import mimic_warnings
from support.command import run

URDF = """<robot name="gripper"><link name="palm"/><link name="left"/><link name="right"/>
<joint name="lead" type="revolute"><parent link="palm"/><child link="left"/><limit lower="0" upper="1"/></joint>
<joint name="follow" type="revolute"><parent link="palm"/><child link="right"/><limit lower="2" upper="3"/>
<mimic joint="lead" multiplier="-0.5" offset="0.25"/></joint></robot>"""


def _model(lower: float, upper: float, multiplier: float, offset: float) -> RobotModel:
    joints = [
        Joint("lead", "revolute", "palm", "left", lower=0.0, upper=1.0),
        Joint("follow", "revolute", "palm", "right", lower=lower, upper=upper, mimic=Mimic("lead", multiplier, offset)),
    ]
    return RobotModel("gripper", [Link("palm"), Link("left"), Link("right")], joints)


@pytest.mark.parametrize(
    ("law", "is_held"), [((-0.5, 0.25), False), ((-0.5, 2.7), True), ((0.0, 0.5), False), ((0.0, 2.5), True)]
)
def test_limits_that_cannot_be_kept_are_reported(law: tuple[float, float], is_held: bool) -> None:
    model = _model(2.0, 3.0, *law)
    assert model.unheld_mimics == (() if is_held else ("follow",))
    for lead in (0.0, 0.1, 1.0):
        own = model.joint_values([lead])["follow"]
        assert in_limits(model, [lead]) is (not is_held or 2.0 <= own <= 3.0)
    assert len(mimic_warnings(model)) == (not is_held)


def test_the_warning_names_the_joints_and_both_ranges() -> None:
    goes = "since with 'lead', which it follows, it goes from -0.25 to 0.25"
    assert mimic_warnings(_model(2.0, 3.0, -0.5, 0.25)) == [f"joint 'follow': its limits 2 .. 3 are not kept, {goes}"]


def test_readers_and_info_say_it(tmp_path: Path, caplog: pytest.LogCaptureFixture, capsys) -> None:
    path = tmp_path / "gripper.urdf"
    path.write_text(URDF, "utf-8")
    with caplog.at_level(logging.WARNING):
        load_urdf(path)
    assert "gripper.urdf: joint 'follow': its limits 2 .. 3 are not kept" in caplog.text
    told = run(capsys, "info", path)
    assert "joint 'follow': its limits 2 .. 3 are not kept" in told.out
    assert told.err.startswith(f"robokin: {path}: joint 'follow': its limits") and told.err.count("\n") == 1
    assert json.loads(run(capsys, "info", path, "--json", "-").out)["unheld_mimics"] == ["follow"]


@pytest.mark.parametrize("law", [("lead", "x"), ("lead", 1.0, float("nan")), (7,), ("lead", None), ("lead", [1, 2])])
def test_laws_that_are_none_are_refused(law: tuple) -> None:
    with pytest.raises(ModelError, match=r"'lead'|not 7"):
        Mimic(*law)
