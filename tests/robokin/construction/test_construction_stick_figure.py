"""Stick figures: rods span the links, drums lie about the axes, and nothing but the picture changes."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from robokin_addon.robokin import (
    DHRow,
    RobotModel,
    forward_kinematics,
    load_robot_table,
    load_urdf,
    mass_matrix,
    random_configuration,
    robot_from_dh,
    with_stick_figure,
)
from robokin_addon.robokin.construction import read_robot_table
from robokin_addon.robokin.model.geometry import Cylinder
from support.command import report, run
from support.random_problems.random_trees import random_robot
from support.robots import robot

HALF = math.pi / 2.0


def rods(model: RobotModel, q: np.ndarray) -> list[tuple[str, np.ndarray, np.ndarray]]:
    """(link, start, end) of each cylinder in the root frame."""
    placements = forward_kinematics(model, q)
    ends = []
    for link in model.links:
        for geometry in link.visuals:
            if isinstance(geometry.shape, Cylinder):
                T = placements[link.name] @ geometry.placement
                half = 0.5 * geometry.shape.length * T[:3, 2]
                ends.append((link.name, T[:3, 3] - half, T[:3, 3] + half))
    return ends


def test_rods_are_the_a_and_d_of_the_table() -> None:
    arm = robot_from_dh(
        [DHRow(d=0.4, a=0.3, alpha=HALF, mass=1.0), DHRow(a=0.5), DHRow(type="P", d=0.2, lower=0.0, upper=0.1)]
    )
    model = with_stick_figure(arm)
    drawn = [(link, *sorted((tuple(a), tuple(b)))) for link, a, b in rods(model, model.neutral())]

    def has(link: str, start: tuple, end: tuple) -> bool:
        return any(name == link and np.allclose((a, b), sorted((start, end)), atol=1e-12) for name, a, b in drawn)

    assert has("link_1", (0, 0, 0), (0, 0, 0.4))  # d of row 1
    assert has("link_1", (0, 0, 0.4), (0.3, 0, 0.4))  # a of row 1
    assert has("link_2", (0.3, 0, 0.4), (0.8, 0, 0.4))  # a of row 2
    assert has("link_3", (0.8, 0.1, 0.4), (0.8, -0.2, 0.4))  # d of row 3, which slides, and its stroke


@pytest.mark.parametrize("seed", range(6))
def test_the_picture_holds_together_and_nothing_else_changes(seed: int) -> None:
    """Rods and drums touch those of the next link, however the robot is posed; motion and masses stay."""
    model = random_robot(seed)
    figure = with_stick_figure(model)
    q = random_configuration(model, np.random.default_rng(seed))
    assert forward_kinematics(figure, q).array == pytest.approx(forward_kinematics(model, q).array, abs=0.0)
    assert mass_matrix(figure, q) == pytest.approx(mass_matrix(model, q), abs=0.0)
    assert figure.root == model.root
    placements = forward_kinematics(figure, q)
    drawn = rods(figure, q)
    for link in {joint.parent for joint in figure.joints[1:] if joint.type in ("revolute", "continuous", "fixed")}:
        origin = placements[str(link)][:3, 3]
        assert any(abs(end - origin).max() < 1e-9 for name, *ends in drawn if name == link for end in ends), link


def test_robots_with_pictures_keep_theirs() -> None:
    panda = load_urdf(robot("panda"))
    assert with_stick_figure(panda) is panda
    point = robot_from_dh([{}])
    assert with_stick_figure(point) is point  # nothing has a length


TABLE = "angles,degrees\na,alpha,d,theta,lower,upper\n0,90,0.4,0,-90,90\n0.5,0,0,0,-90,90\n"


def test_files_have_them_too() -> None:
    assert any(link.visuals for link in read_robot_table(TABLE).links)


def test_the_command_line_reads_tables(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "arm.CSV"
    path.write_text(TABLE)
    said = report(capsys, tmp_path, "info", path, "--root", "planar")
    assert (said["robot"], said["nq"]) == ("arm", 5)
    frames = report(capsys, tmp_path, "fk", path, "--q", '{"joint_2": 0.5}')["frames"]
    model = load_robot_table(path)
    assert np.array(frames["tool"]) == pytest.approx(forward_kinematics(model, [0.0, 0.5])["tool"])
    path.write_text(TABLE.replace("0.4", "high"))
    assert run(capsys, "info", path).refused("arm.CSV:3: d must be a number, not 'high'")
