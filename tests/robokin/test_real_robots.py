"""Kinematics and dynamics of every real robot equal Pinocchio's, which reads the URDF with its own reader."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from robokin_addon.robokin import (
    FileFormatError,
    center_of_mass,
    center_of_mass_jacobian,
    forward_kinematics,
    frame_jacobian,
    inverse_dynamics,
    load_urdf,
    mass_matrix,
    random_configuration,
)
from support.oracles.pinocchio_oracle import REFERENCES, Oracle
from support.robots import all_urdfs, robot

EMPTY = robot("ur3")  # a file of comments only: xacro left nothing of it
ROBOTS = [path for path in all_urdfs() if path != EMPTY]


def near(found: np.ndarray, expected: np.ndarray, what: str) -> None:
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9, err_msg=what)


def compare(path: Path, root: str, seed: int, configurations: int, links_per_configuration: int) -> None:
    model = load_urdf(path, root=root)
    oracle, rng = Oracle.from_urdf(model, path), np.random.default_rng(seed)
    for _ in range(configurations):
        q = random_configuration(model, rng)
        v, a = rng.normal(size=(2, model.nv))
        placements, expected = forward_kinematics(model, q, backend="numpy"), oracle.frames(q)
        assert set(placements) == set(expected)
        for link, T in placements.items():
            near(T, expected[link], link)
        for link in rng.choice(model.link_names, min(links_per_configuration, len(model.links)), replace=False):
            for reference in REFERENCES:
                J = frame_jacobian(model, q, link, reference, backend="numpy")
                near(J, oracle.frame_jacobian(q, link, reference), f"{reference} Jacobian of {link}")
        near(mass_matrix(model, q, backend="numpy"), oracle.mass_matrix(q), "mass matrix")
        near(inverse_dynamics(model, q, v, a, backend="numpy"), oracle.inverse_dynamics(q, v, a), "inverse dynamics")
        if root != "fixed" and model.total_mass:
            near(center_of_mass(model, q, backend="numpy"), oracle.center_of_mass(q), "centre of mass")
            J = center_of_mass_jacobian(model, q, backend="numpy")
            near(J, oracle.center_of_mass_jacobian(q), "Jacobian of the centre of mass")


def test_there_are_69_files_and_one_holds_no_robot():
    assert len(ROBOTS) == 68
    assert "<link" not in EMPTY.read_text()
    with pytest.raises(FileFormatError, match="at least one link"):
        load_urdf(EMPTY)


@pytest.mark.parametrize(("number", "path"), list(enumerate(ROBOTS)), ids=[path.stem for path in ROBOTS])
def test_real_robot_equals_pinocchio(number, path):
    root = ("fixed", "floating", "planar")[number % 3]
    compare(path, root, seed=1, configurations=1, links_per_configuration=2)


@pytest.mark.slow
@pytest.mark.parametrize("root", ["fixed", "floating", "planar"])
@pytest.mark.parametrize("path", ROBOTS, ids=[path.stem for path in ROBOTS])
def test_real_robot_equals_pinocchio_everywhere(path, root):
    compare(path, root, seed=2, configurations=3, links_per_configuration=8)
