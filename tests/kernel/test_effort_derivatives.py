"""Derivatives of inverse dynamics: first ones are Pinocchio's, second ones its central differences."""

from __future__ import annotations

import numpy as np
import pytest
from robokin_addon.robokin import RobotModel, random_configuration
from robokin_addon.robokin.backend import NAMES, get_backend
from support.oracles.pinocchio_oracle import Oracle
from support.random_problems.random_trees import ALL_TYPES, random_robot

STEP = 1e-5
GRAVITY = np.array([1.0, -2.0, 3.0])
# Pinocchio's derivatives take axes as constant in their joint; those of the twin's test are any.
TYPES = [name for name in ALL_TYPES if name not in ("planar", "universal", "gimbal")]
ROBOTS = [random_robot(seed, 12, root, TYPES) for seed, root in enumerate(("fixed", "fixed", "floating", "floating"))]


def state(model: RobotModel, seed: int) -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(seed)
    return random_configuration(model, rng), *rng.normal(size=(3, model.nv))


@pytest.mark.parametrize("backend", [name for name in NAMES if name != "auto"])
@pytest.mark.parametrize("model", ROBOTS, ids=lambda model: model.name)
def test_efforts_change_as_pinocchio_says(model: RobotModel, backend: str) -> None:
    (q, v, a, z), kernel = state(model, 1), get_backend(backend)
    by_q, by_v, *_ = kernel.effort_derivatives(model.tree, q, v, a, z, GRAVITY)
    for ours, theirs in zip((by_q, by_v), Oracle.from_model(model).effort_derivatives(q, v, a, GRAVITY), strict=False):
        assert abs(ours - theirs).max() <= 1e-10 * abs(theirs).max()


@pytest.mark.parametrize("model", ROBOTS, ids=lambda model: model.name)
def test_their_pull_bends_as_pinocchios_changes(model: RobotModel) -> None:
    (q, v, a, z), oracle = state(model, 2), Oracle.from_model(model)
    kernel = get_backend("auto")

    def pull(q: np.ndarray, v: np.ndarray) -> np.ndarray:
        return np.array([z @ each for each in oracle.effort_derivatives(q, v, a, GRAVITY)])

    _, _, *ours = kernel.effort_derivatives(model.tree, q, v, a, z, GRAVITY)
    wanted = np.zeros((4, model.nv, model.nv))
    for j, along in enumerate(STEP * np.eye(model.nv)):
        ahead, behind = (kernel.integrate(model.tree, q, sign * along) for sign in (1.0, -1.0))
        wanted[:3, :, j] = (pull(ahead, v) - pull(behind, v)) / (2.0 * STEP)
        wanted[3, :, j] = (pull(q, v + along) - pull(q, v - along))[1] / (2.0 * STEP)
    for own, theirs in zip(ours, wanted, strict=True):
        assert abs(own - theirs).max() <= 1e-7 * max(abs(theirs).max(), 1.0)
