"""From state to state, against Ruckig: as fast or faster, inside the limits."""

from __future__ import annotations

import numpy as np
import pytest
import ruckig
from robokin_addon.solvers.trajectories import native, reference
from robokin_addon.solvers.trajectories.reference import KNOTS, Planned

SAME = 1e-9  # relative, of durations


def drawn(rng: np.random.Generator, n: int, outside: float = 1.0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Starts and ends (n, 3), and limits (n, 3) that hold for the ends, and for the starts unless `outside` > 1."""
    limits = np.exp(rng.uniform(-1.5, 1.5, (n, 3)))
    V, A, J = limits.T
    states = []
    for share in (outside, 1.0):
        a = share * A * rng.uniform(-1.0, 1.0, n) * (rng.random(n) < 0.7)
        v = share * V * rng.uniform(-1.0, 1.0, n) * (rng.random(n) < 0.8)
        if share == 1.0:
            a = np.sign(a) * np.minimum(abs(a), 0.999 * np.sqrt(2.0 * J * np.minimum(V - v, V + v)))
        states.append(np.stack((np.zeros(n), v, a), axis=1))
    states[1][:, 0] = rng.uniform(-3.0, 3.0, n) * 10.0 ** rng.integers(-2, 1, n)
    return states[0], states[1], limits


def by_ruckig(start: np.ndarray, end: np.ndarray, limits: np.ndarray) -> float | None:
    """Its duration; None where it finds none."""
    n = len(start)
    question, answer = ruckig.InputParameter(n), ruckig.Trajectory(n)
    question.current_position, question.current_velocity, question.current_acceleration = start.T.tolist()
    question.target_position, question.target_velocity, question.target_acceleration = end.T.tolist()
    question.max_velocity, question.max_acceleration, question.max_jerk = limits.T.tolist()
    try:
        found = ruckig.Ruckig(n).calculate(question, answer)
    except ValueError:  # its Python interface does not know all the numbers that it returns
        return None
    return answer.duration if found in (ruckig.Result.Working, ruckig.Result.Finished) else None


def planned(start: np.ndarray, end: np.ndarray, limits: np.ndarray) -> tuple[float, np.ndarray]:
    bounds = np.tile([-np.inf, np.inf], (len(start), 1))
    status, _, duration, knots = native.point_to_point(3, start, end, limits, bounds, 0.0)
    assert status == Planned.FOUND
    return duration, knots


def check_ends(knots: np.ndarray) -> None:
    """Each piece leads to where the next one begins."""
    t = np.diff(knots[..., 0], axis=1)
    p, v, a, j = np.moveaxis(knots[:, :-1, 1:], -1, 0)
    size = 1.0 + abs(knots[..., 1]).max()
    for found, column in (
        (p + t * (v + t * (a / 2.0 + t * j / 6.0)), 1),
        (v + t * (a + t * j / 2.0), 2),
        (a + t * j, 3),
    ):
        assert abs(found - knots[:, 1:, column]).max() < 1e-9 * size


def check_limits(knots: np.ndarray, limits: np.ndarray) -> None:
    """Between knots a is linear and v is a parabola: its extremes are where a is 0."""
    _, _, v, a, j = np.moveaxis(knots, -1, 0)
    with np.errstate(all="ignore"):
        turn = np.where(j != 0.0, -a / j, -1.0)
    t = np.diff(knots[..., 0], axis=1, append=knots[:, -1:, 0])
    inside = (turn > 0.0) & (turn < t)
    extreme = np.where(inside, v + turn * (a + 0.5 * turn * j), v)
    for values, limit in ((v, limits[:, 0]), (extreme, limits[:, 0]), (a, limits[:, 1]), (j, limits[:, 2])):
        assert (abs(values) <= limit[:, None] * (1.0 + 1e-9)).all()


def compare(cases: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    answered = 0
    for case in range(cases):
        outside = 1.5 if case % 4 == 0 else 1.0
        start, end, limits = drawn(rng, 1 if case % 2 else int(rng.integers(2, 7)), outside)
        if outside == 1.0:  # such starts can be kept
            V, _, J = limits.T
            room = np.sqrt(2.0 * J * np.minimum(V - start[:, 1], V + start[:, 1]))
            start[:, 2] = np.clip(start[:, 2], -0.999 * room, 0.999 * room)
        duration, knots = planned(start, end, limits)
        check_ends(knots)
        if outside == 1.0:
            check_limits(knots, limits)
        theirs = by_ruckig(start, end, limits)
        if theirs is not None:
            answered += 1
            assert duration <= theirs * (1.0 + SAME) + 1e-12, (case, duration, theirs)
    assert answered > 0.99 * cases


def test_as_fast_as_ruckig() -> None:
    compare(3000, 1)


@pytest.mark.slow
def test_as_fast_as_ruckig_often() -> None:
    compare(100_000, 2)


@pytest.mark.parametrize("order", [2, 3])
def test_the_kernel_is_its_twin(order: int) -> None:
    rng = np.random.default_rng(3)
    seen = set()
    for case in range(400):
        start, end, limits = drawn(rng, int(rng.integers(1, 5)), 1.4)
        if case % 5 == 0:
            limits[:, 0] = np.inf
        if case % 7 == 0 and order == 3:
            limits[:, 1] = np.inf
        if case % 11 == 0:
            end[:, 1] *= 2.0
        if case % 3 == 0:
            start[:, 1:] *= 0.2
            end[:, 1:] *= 0.2
        bounds = np.tile([-1.5, 1.5] if case % 2 else [-np.inf, np.inf], (len(start), 1))
        ours, twin = (module.point_to_point(order, start, end, limits, bounds, 0.3) for module in (native, reference))
        assert ours[0] == twin[0]
        seen.add(ours[0])
        if ours[0] == Planned.FOUND:
            assert ours[2] == twin[2]
            assert (ours[3] == twin[3]).all()
            if case % 2:
                assert abs(ours[3][..., 1]).max() <= 1.5 + 1e-9
        else:
            assert ours[1] == twin[1]
    assert seen == set(Planned)
    assert twin[3].shape[1] == KNOTS


def test_from_rest_to_rest() -> None:
    """A closed form has the durations; every one of its cases is met."""
    rng = np.random.default_rng(11)
    for _ in range(300):
        n = int(rng.integers(1, 4))
        limits = np.exp(rng.uniform(-2.0, 2.0, (n, 3)))
        start, end = np.zeros((2, n, 3))
        end[:, 0] = rng.uniform(-1.0, 1.0, n) * 10.0 ** rng.integers(-3, 2, n)
        duration, knots = planned(start, end, limits)
        bounds = np.tile([-np.inf, np.inf], (n, 1))
        assert reference.point_to_point(3, start, end, limits, bounds, 0.0)[2] == pytest.approx(duration, rel=1e-13)
        assert duration == pytest.approx(by_ruckig(start, end, limits), rel=SAME)
        check_ends(knots)
        check_limits(knots, limits)
