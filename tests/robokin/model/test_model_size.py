"""A robot beyond a documented size is refused at once, with one line; one just below it is read in seconds."""

from __future__ import annotations

import time

import numpy as np
import pytest
from robokin_addon import robokin, solvers
from robokin_addon.robokin import FileFormatError, Joint, Link, ModelError, RobotModel
from robokin_addon.robokin.model.robot import MAX_FREEDOMS, MAX_LINKS, MAX_SOLVED
from robokin_addon.robokin.urdf import reader


def chain(joints: int, type: str = "revolute") -> RobotModel:
    links = [Link(f"l{i}") for i in range(joints + 1)]
    return RobotModel("chain", links, [Joint(f"j{i}", type, f"l{i}", f"l{i + 1}") for i in range(joints)])


def urdf(joints: int) -> str:
    lines = [f"<link name='l{i}'/>" for i in range(joints + 1)]
    lines += [
        f"<joint name='j{i}' type='fixed'><parent link='l{i}'/><child link='l{i + 1}'/></joint>" for i in range(joints)
    ]
    return f"<robot name='r'>{''.join(lines)}</robot>"


def test_a_file_of_too_many_links_is_refused_before_they_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[object] = []
    monkeypatch.setattr(reader, "_read_link", lambda element, shapes: read.append(element))
    with pytest.raises(FileFormatError, match=rf"r\.urdf:1: the robot has 49001 links; at most {MAX_LINKS} are possib"):
        robokin.read_urdf_text(urdf(49_000), "r.urdf")
    assert not read


def test_a_robot_of_too_many_links_or_degrees_of_freedom() -> None:
    with pytest.raises(ModelError, match=f"the robot has {MAX_LINKS + 1} links; at most {MAX_LINKS}"):
        RobotModel("many", [Link("l")] * (MAX_LINKS + 1), [])
    with pytest.raises(ModelError, match=f"has {MAX_FREEDOMS + 3} degrees of freedom; at most {MAX_FREEDOMS}"):
        chain(MAX_FREEDOMS // 3 + 1, "spherical")


def test_solvers_say_how_large_a_robot_they_take() -> None:
    model = chain(MAX_SOLVED + 1)
    q, task = model.neutral(), solvers.PositionTask("l7", (1.0, 0.0, 0.0))
    for call in (
        lambda: solvers.solve_ik(model, [task]),
        lambda: solvers.velocity_step(model, q, [task]),
        lambda: solvers.track(model, [task], [[np.zeros(3)]], 0.04, q),
    ):
        with pytest.raises(ModelError, match=f"has {MAX_SOLVED + 1} degrees of freedom; solvers take at most"):
            call()


@pytest.mark.slow
def test_the_largest_robots_are_read_and_solved_in_seconds() -> None:
    start = time.process_time()
    assert len(robokin.read_urdf_text(urdf(MAX_LINKS - 1)).links) == MAX_LINKS
    assert time.process_time() - start < 20.0
    model = chain(MAX_FREEDOMS)
    start = time.process_time()
    frames = [robokin.forward_kinematics(model, model.neutral(), backend=name) for name in ("native", "numpy")]
    assert np.allclose(frames[0]["l3000"], frames[1]["l3000"])
    assert time.process_time() - start < 20.0
