"""Whether a mass and an inertia can be those of any real body."""

from __future__ import annotations

import numpy as np

from ..arrays import Array
from ..model.robot import RobotModel
from ..units import counted

# Files give some six digits: an entry is off by 5e-7 of the largest, a sum of principal moments by about ten times as
# much.
_ROUNDING = 1e-5
_SHOWN = 4  # links that are named in warnings
_SINGULAR = 1e-12  # of the largest moment: what double precision leaves of a zero


def principal_moments(inertia: Array) -> Array:
    """(3,) principal moments [kg m^2] of a symmetric inertia (3, 3), the smallest first."""
    return np.linalg.eigvalsh(inertia)


def implausible_inertia(mass: float, inertia: Array) -> list[str]:
    """Why no rigid body has this mass [kg] and this inertia (3, 3) [kg m^2] about its centre of mass; [] if one can.

    A body has mass, and principal moments that are positive, none larger than the sum of the other two: they are
    sums of the second moments of its mass, two by two (Traversaro et al. 2016, section III). No mass and no inertia
    at all are a massless frame, which is plausible.
    """
    inertia = np.asarray(inertia, float)
    if mass == 0.0 and not inertia.any():
        return []
    if not (np.isfinite(mass) and np.isfinite(inertia).all()):
        return ["mass or inertia is not finite"]
    reasons = []
    if mass <= 0.0:
        reasons.append("it has inertia but no mass" if mass == 0.0 else f"its mass is negative ({mass:g} kg)")
    size = float(abs(inertia).max())
    if size == 0.0:
        return [*reasons, "it has mass but no inertia, as if all of it were in one point"]
    if abs(inertia - inertia.T).max() > _ROUNDING * size:
        reasons.append("its inertia matrix is not symmetric")
    low, middle, high = (float(x) for x in principal_moments((inertia + inertia.T) / 2.0))
    shown = f"{low:.4g}, {middle:.4g}, {high:.4g} kg m\u00b2"
    if low <= _SINGULAR * high:
        reasons.append(f"its principal moments must be positive, not {shown}")
    if high > (low + middle) + _ROUNDING * high:
        reasons.append(f"its largest principal moment is more than the sum of the other two ({shown})")
    return reasons


def implausible_links(model: RobotModel) -> dict[str, list[str]]:
    """{link name: reasons} of the links that no real body can be."""
    found = {link.name: implausible_inertia(link.mass, link.inertia) for link in model.links}
    return {name: reasons for name, reasons in found.items() if reasons}


def inertia_warnings(model: RobotModel) -> list[str]:
    """A line for each link that no real body can be; of many the first and a line that counts the others."""
    doubts = [f"link {name!r}: {'; '.join(reasons)}" for name, reasons in implausible_links(model).items()]
    more = len(doubts) - _SHOWN
    return doubts[:_SHOWN] + (
        [f"{counted(more, 'more link has', 'more links have')} an inertia that no body can have"] if more > 0 else []
    )
