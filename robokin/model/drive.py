"""The wheels of a wheeled base, as a description gives them."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..arrays import shown, text
from ..errors import ModelError

WHEEL_TYPES = ("revolute", "continuous")
ALIGNED = 1e-3  # sine of an angle, or share of the separation, up to which directions and wheels are aligned


@dataclass(frozen=True)
class Drive:
    """The wheels of a wheeled base. left, right: names of revolute or continuous joints below the base.

    radius, separation: [m], of the wheels and between the points where they touch the ground.
    """

    left: str
    right: str
    radius: float
    separation: float

    def __post_init__(self) -> None:
        for side in ("left", "right"):
            text(getattr(self, side), f"the {side} wheel of a base")
        if self.left == self.right:
            raise ModelError(f"a wheeled base needs two wheels, not {self.left!r} twice")
        for name in ("radius", "separation"):
            value = getattr(self, name)
            if not isinstance(value, (int, float, np.floating, np.integer)) or not 0.0 < value < math.inf:
                raise ModelError(
                    f"{name} of the wheels {self.left!r}, {self.right!r} must be positive, not {shown(value)}"
                )
