"""`robokin solve --avoid` of a robot description: an obstacle, and the margin."""

from __future__ import annotations

import json

import numpy as np
import pytest
from robokin_addon.robokin import read_urdf_text
from robokin_addon.robokin.collision import CollisionModel, Obstacle, Sphere
from support.command import run
from support.problems.obstructed import at, planar_urdf

BALL = 1.5, 0.9


def test_the_margin_and_the_obstacles_are_those_given(capsys, tmp_path) -> None:
    robot, world, report = tmp_path / "arm.urdf", tmp_path / "world.urdf", tmp_path / "report.json"
    robot.write_text(planar_urdf(3))
    place = f'<origin xyz="{BALL[0]} {BALL[1]} 0"/>'
    shape = f'<collision>{place}<geometry><sphere radius="0.1"/></geometry></collision>'
    world.write_text(f'<robot name="world"><link name="ball">{shape}</link></robot>')
    model = read_urdf_text(planar_urdf(3))
    collisions = CollisionModel(model, [Obstacle("ball", Sphere(0.1), at(*BALL))])
    solve = "solve", robot, "--task", f"kind=position,tip=l2,target={BALL[0]}:{BALL[1]}:0", "--json", report
    assert run(capsys, *solve).code == 0
    for options, margin in (((), 0.005), (("--margin", "0.06"), 0.06)):
        assert run(capsys, *solve, "--avoid", "--obstacles", world, *options).code == 1
        told = json.loads(report.read_text())
        q = np.array([told["q"][f"j{i}"] for i in range(3)])
        assert told["status"] == "COLLISION"
        assert collisions.distances(q[None])[0][..., 0].min() == pytest.approx(margin, abs=1e-3)
    assert run(capsys, *solve, "--margin", "0.06").refused("--avoid")


def test_a_criterion_keeps_far_from_the_obstacles_given(capsys, tmp_path) -> None:
    robot, world, report = tmp_path / "arm.urdf", tmp_path / "world.urdf", tmp_path / "report.json"
    robot.write_text(planar_urdf(4))
    place = '<origin xyz="1.5 0.35 0"/>'
    shape = f'<collision>{place}<geometry><sphere radius="0.2"/></geometry></collision>'
    world.write_text(f'<robot name="world"><link name="ball">{shape}</link></robot>')
    collisions = CollisionModel(read_urdf_text(planar_urdf(4)), [Obstacle("ball", Sphere(0.2), at(1.5, 0.35))])
    start = json.dumps({f"j{i}": value for i, value in enumerate((0.3, 0.6, -1.2, 0.6))})
    solve = "solve", robot, "--task", "kind=position,tip=l3,target=2.53:0.8:0", "--q0", start, "--json", report
    apart = []
    for criterion in ("kind=minimum_velocity", "kind=far_from_obstacles,distance=0.5"):
        options = ("--obstacles", world) if "far" in criterion else ()
        assert run(capsys, *solve, "--criterion", criterion, *options).code == 0
        q = np.array([[json.loads(report.read_text())["q"][f"j{i}"] for i in range(4)]])
        apart.append(collisions.distances(q)[0][..., 0].min())
    assert apart[1] > apart[0] + 0.05
