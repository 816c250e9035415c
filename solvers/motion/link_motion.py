"""How links move in a motion: twist and acceleration of their origins."""

from __future__ import annotations

from collections.abc import Generator, Sequence

import numpy as np

from ...robokin.arrays import Array
from ...robokin.backend import Reference, get_backend
from ..kinematics.state import State
from ..progress import at_once
from .motion import Motion

_CHUNK = 64  # samples between two reports of progress


def link_twists(motion: Motion, links: Sequence[str]) -> Array:
    """(F, links, 6) velocities, linear [m/s] of the origin, then angular, in the axes of the root frame: J v. Raises
    UnknownNameError."""
    model, twists = motion.model, np.zeros((len(motion), len(links), 6))
    for i, link in enumerate(links):
        J = get_backend().frame_jacobian(model.tree, motion.q, model.link_index(link), Reference.LOCAL_WORLD_ALIGNED)
        twists[:, i] = np.einsum("fij,fj->fi", J, motion.v)
    return twists


def link_accelerations_steps(motion: Motion, links: Sequence[str]) -> Generator[float, None, Array]:
    """Yield the share of the samples done now and then; return (F, links, 6) accelerations, linear [m/s^2] of the
    origin, then angular, in the axes of the root frame: J a + J' v with the derivative J' of the Jacobian. Raises
    UnknownNameError."""
    rates = np.zeros((len(motion), len(links), 6))
    for frame, (q, v, a) in enumerate(zip(motion.q, motion.v, motion.a, strict=True)):
        state = State(motion.model, q)
        for i, link in enumerate(links):
            point = state.placement(link)[:3, 3]
            rates[frame, i] = state.jacobian(link, point) @ a + state.jacobian_derivative(link, point) @ v @ v
        if frame % _CHUNK == 0:
            yield frame / len(motion)
    return rates


link_accelerations = at_once(link_accelerations_steps, Array)
