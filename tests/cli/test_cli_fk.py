"""`robokin fk` against Pinocchio."""

from __future__ import annotations

import json

import numpy as np
import pinocchio as pin
import pytest
from robokin_addon.robokin import load_urdf, random_configuration
from support.command import report, run
from support.oracles.pinocchio_oracle import Oracle
from support.robots import robot


@pytest.mark.parametrize("root", ["fixed", "floating", "planar"])
@pytest.mark.parametrize("name", ["panda", "ur5_robot", "tiago_dual"])
def test_frames_equal_pinocchio(name, root, capsys, tmp_path) -> None:
    model = load_urdf(robot(name), root=root)
    q = random_configuration(model, np.random.default_rng(3))
    values = json.dumps(model.joint_values(q))
    said = report(capsys, tmp_path, "fk", robot(name), "--root", root, "--q", values)
    assert set(said) == {"frames"}
    expected = Oracle.from_urdf(model, robot(name)).frames(q)
    assert set(said["frames"]) == set(expected)
    for link, T in expected.items():
        assert np.array(said["frames"][link]) == pytest.approx(T, abs=1e-9), link


def test_without_values_every_joint_is_at_zero(capsys, tmp_path) -> None:
    said = report(capsys, tmp_path, "fk", robot("ur5_robot"))
    model = pin.buildModelFromUrdf(str(robot("ur5_robot")))
    data = model.createData()
    pin.framesForwardKinematics(model, data, pin.neutral(model))
    tool = data.oMf[model.getFrameId("tool0")].homogeneous
    assert np.array(said["frames"]["tool0"]) == pytest.approx(tool, abs=1e-9)


def test_values_from_a_file(capsys, tmp_path) -> None:
    values = {"panda_joint2": 0.4, "panda_joint4": -1.5}
    (tmp_path / "q.json").write_text(json.dumps(values), "utf-8")
    inline = report(capsys, tmp_path, "fk", robot("panda"), "--q", json.dumps(values))
    assert report(capsys, tmp_path, "fk", robot("panda"), "--q", tmp_path / "q.json") == inline
    assert report(capsys, tmp_path, "fk", robot("panda"), "--q", "{}") != inline


@pytest.mark.parametrize("backend", ["native", "numpy"])
def test_backends_agree(backend, capsys, tmp_path) -> None:
    values = '{"panda_joint2": 0.4, "panda_joint4": -1.5}'
    auto = report(capsys, tmp_path, "fk", robot("panda"), "--q", values)["frames"]
    chosen = report(capsys, tmp_path, "fk", robot("panda"), "--q", values, "--backend", backend)["frames"]
    for link, T in auto.items():
        assert np.array(chosen[link]) == pytest.approx(np.array(T), abs=1e-12)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ("{'a': 1}", ["--q", "JSON"]),
        ("[1, 2]", ["--q", "neither JSON"]),
        ('{"panda_joint1": [1]', ["--q", "not JSON"]),
        ('{"panda_joint1": ' + "9" * 5000 + "}", ["--q", "a number of thousands of digits"]),
        ('{"panda_joint1": ' + "[" * 200_000, ["--q", "lists in lists too deep"]),
        ('{"panda_joint99": 1}', ["panda_joint99", "did you mean"]),
        ('{"panda_joint1": "much"}', ["panda_joint1", "much"]),
        ('{"panda_joint1": [1, 2]}', ["panda_joint1", "1 value"]),
        ('{"panda_joint1": NaN}', ["panda_joint1", "not finite"]),
        ('{"panda_joint1": null}', ["panda_joint1", "not"]),
        ('{"panda_joint8": 0}', ["panda_joint8", "fixed"]),
        ("nowhere.json", ["nowhere.json", "neither JSON"]),
    ],
)
def test_bad_values_are_refused(values, words, capsys) -> None:
    assert run(capsys, "fk", robot("panda"), "--q", values).refused(*words)
