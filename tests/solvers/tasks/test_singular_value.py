"""A tip that stays away from singularities, by Pinocchio's Jacobians."""

from __future__ import annotations

import numpy as np
import pytest
from robokin_addon.robokin import forward_kinematics, integrate, library_robot, random_configuration
from robokin_addon.robokin.errors import TaskError
from robokin_addon.robokin.structure.tool_links import tool_links
from robokin_addon.solvers import PositionTask, SingularValueTask, Status, Task, solve_ik, track, velocity_step
from robokin_addon.solvers.kinematics.state import State
from robokin_addon.solvers.velocity.chain_length import chain_length
from support.oracles.pinocchio_oracle import Oracle

FRAMES, LEAST = 60, 0.08
PANDA = library_robot("panda")
LENGTH = chain_length(PANDA, [("tool", np.zeros(3))])


def smallest(oracle: Oracle, q: np.ndarray) -> float:
    J = oracle.frame_jacobian(q, "tool", "local_world_aligned")
    J[:3] /= LENGTH
    return float(np.linalg.svd(J, compute_uv=False)[5])


@pytest.mark.parametrize(("name", "tip"), [("panda", "tool"), ("scara", None)])
@pytest.mark.parametrize("orientation", [True, False])
def test_its_rows_are_central_differences_of_the_singular_values(name: str, tip: str | None, orientation: bool) -> None:
    model, rng = library_robot(name), np.random.default_rng(3)
    tip, oracle = tip or tool_links(model)[0], Oracle.from_model(model)
    rank = {"panda": 6 if orientation else 3, "scara": 4 if orientation else 3}[name]
    scale = np.where(model.is_length, LENGTH, 1.0)

    def values(q: np.ndarray) -> np.ndarray:
        J = oracle.frame_jacobian(q, tip, "local_world_aligned")
        J[:3] /= LENGTH
        return np.linalg.svd((J * scale)[: 6 if orientation else 3], compute_uv=False)[rank - 2 : rank]

    q, h = random_configuration(model, rng), 1e-6
    task = SingularValueTask(tip, 0.3, weight=3.0, orientation=orientation, influence=0.5)
    rows = task.rows(State(model, q, length=LENGTH), 0.3)
    ends = [[values(integrate(model, q, sign * h * e)) for e in np.eye(model.nv)] for sign in (1.0, -1.0)]
    np.testing.assert_allclose(rows.J, (np.array(ends[0]) - ends[1]).T / (2.0 * h), atol=1e-7)
    np.testing.assert_allclose(rows.lower, 0.3 - values(q), atol=1e-9)
    assert np.isinf(rows.upper).all() and (rows.weight == 1.5).all()


def followed(seed: int, tasks: list[Task], targets: list) -> tuple[float, int]:
    """The smallest singular value of a motion, once it had the time to bend, and how many frames miss the line."""
    rng, oracle = np.random.default_rng(seed), Oracle.from_model(PANDA)
    ends = [PANDA.limits.clamp(0.7 * random_configuration(PANDA, rng)) for _ in range(2)]
    places = [forward_kinematics(PANDA, q)["tool"][:3, 3] for q in ends]
    shares = 0.5 - 0.5 * np.cos(np.linspace(0.0, np.pi, FRAMES))
    line = PositionTask("tool", places[0], priority=tasks[0].priority % 2 + 1 if tasks else 1)
    along = [[places[0] + share * (places[1] - places[0]), *targets] for share in shares]
    found = track(PANDA, [line, *tasks], along, ends[0])
    missed = int((found.residuals[:, 0, 0] > 1e-5).sum())
    return min(smallest(oracle, q) for q in found.q[6:]), missed


@pytest.mark.parametrize("seed", [1, 8, 10])
def test_a_redundant_arm_stays_away_below_its_task(seed: int) -> None:
    free, missed = followed(seed, [], [])
    held, still_missed = followed(seed, [SingularValueTask("tool", LEAST, priority=2)], [LEAST])
    assert free < 0.02 and held >= LEAST - 2e-3
    assert still_missed == 0 <= missed


def test_a_level_above_the_tool_stays_behind() -> None:
    """A planar arm is asked to reach out to its last millimetre."""
    arm = library_robot("planar_2r")
    tip, q = arm.links[-1].name, np.array([0.2, 1.5])
    where = forward_kinematics(arm, q)[tip][:3, 3]
    out = 0.899 * where / np.linalg.norm(where)
    reach = PositionTask(tip, out, (1, 1, 0), priority=2)
    stretched = solve_ik(arm, [reach], q)
    held = solve_ik(arm, [SingularValueTask(tip, 0.15, orientation=False), reach], q)
    assert stretched.converged and abs(stretched.q[1]) < 0.11
    assert held.residual_array[0, 0] <= 1e-3 and held.residual_array[1, 0] > 0.01 and abs(held.q[1]) > 0.2


def test_what_is_far_away_asks_for_nothing() -> None:
    q = np.array([0.3, -0.5, 0.2, -2.0, 0.1, 1.6, 0.5])
    place = PositionTask("tool", forward_kinematics(PANDA, q)["tool"][:3, 3] + [0.01, 0.0, 0.0])
    alone = velocity_step(PANDA, q, [place])
    beside = velocity_step(PANDA, q, [place, SingularValueTask("tool", 0.02, priority=2)])
    np.testing.assert_allclose(beside.v, alone.v, atol=1e-12)
    assert solve_ik(PANDA, [SingularValueTask("tool", 0.02)], q).status is Status.CONVERGED


def test_bad_input() -> None:
    with pytest.raises(TaskError, match="target singular value"):
        SingularValueTask("tool", -0.1)
    with pytest.raises(TaskError, match="target singular value"):
        SingularValueTask("tool").target = "far"


def test_what_is_missed_is_a_number_without_a_unit() -> None:
    missed = solve_ik(PANDA, [SingularValueTask("tool", 9.0)], attempts=1)
    assert "rad" not in missed.reason and "SingularValueTask of tool is off by" in missed.reason
