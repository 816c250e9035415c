"""How links move in a motion: twist and acceleration of their origins."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...robokin.arrays import Array
from ..kinematics.state import State
from .motion import Motion


def link_motion(motion: Motion, links: Sequence[str]) -> tuple[Array, Array]:
    """(F, links, 6) velocities and accelerations, linear [m/s, m/s^2] of the origin, then angular, in the axes of the
    root frame: J v, and J a + J' v with the derivative J' of the Jacobian. Raises UnknownNameError."""
    twists, rates = np.zeros((2, len(motion), len(links), 6))
    for frame, (q, v, a) in enumerate(zip(motion.q, motion.v, motion.a, strict=True)):
        state = State(motion.model, q)
        for i, link in enumerate(links):
            point = state.placement(link)[:3, 3]
            J = state.jacobian(link, point)
            twists[frame, i] = J @ v
            rates[frame, i] = J @ a + state.jacobian_derivative(link, point) @ v @ v
    return twists, rates
