"""A member of a family: what its solver, in the kernel or its twin, knows of a chain."""

from __future__ import annotations

import enum
from dataclasses import dataclass

import numpy as np

from ...robokin.arrays import Array
from .chain import Chain

JOINTS = 7  # at most, of a family: RK_CHAIN of the kernel
POSTURES = 8  # at most, of one pose: RK_POSTURES


class FamilyKind(enum.IntEnum):
    """The values are those of `enum rk_family_kind` in the kernel."""

    SPHERICAL_WRIST = 0
    THREE_PARALLEL = 1
    SPHERICAL_BOTH = 2
    PLANAR = 3
    GANTRY = 4


class Arm(enum.IntEnum):
    """How the first three joints of a SPHERICAL_WRIST place it; the values are those of `enum rk_arm`."""

    PARALLEL = 0
    INTERSECTING = 1
    GENERAL = 2


class Branch(enum.IntFlag):
    """Bits of a posture's branch; ROOT times 0 to 3 is which of four solutions."""

    SHOULDER = 1
    ELBOW = 2
    WRIST = 4
    ROOT = 8
    CONTINUUM = 64


class SearchFlag(enum.IntFlag):
    """Flags that describe a set of postures."""

    HIDDEN = 1
    DOUBTFUL = 2


# Field by field `struct rk_family` of kernel/include/robokin_families.h.
FAMILY_RECORD = np.dtype(
    [
        *((name, np.int32) for name in ("kind", "arm", "joints", "reversed", "mirrored", "outer_last", "meets")),
        *((name, np.int32) for name in ("oriented", "slides", "chain_slides")),
        *((name, np.float64, (JOINTS, 3)) for name in ("axis", "point", "h", "o", "side")),
        ("home", np.float64, 12),
        ("centre", np.float64, 3),
        ("size", np.float64),
        ("off", np.float64),
        ("lower", np.float64, JOINTS),
        ("upper", np.float64, JOINTS),
        ("tolerance", np.float64, 2),
    ],
    align=True,
)


@dataclass(frozen=True, eq=False)
class Family:
    """A chain, and the ideal geometry that it is solved with. Solving order: that of the chain, or, `reversed`, from
    the tip to the root with axes negated.

    h, o: (n, 3) axes and points of the ideal geometry in solving order; what is parallel or meets does so exactly.
    arm, mirrored: of a SPHERICAL_WRIST; mirrored: its arm is solved from the wrist to the root.
    outer_last: of THREE_PARALLEL: axes 1, 2, 3 are parallel, not 2, 3, 4.   meets: the two axes behind them meet.
    off: [rad], [sizes of the chain] of the chain's geometry from the ideal one; 0 for no more than rounding.
    """

    kind: FamilyKind
    chain: Chain
    h: Array
    o: Array
    arm: Arm = Arm.PARALLEL
    reversed: bool = False
    mirrored: bool = False
    outer_last: bool = False
    meets: bool = False
    off: float = 0.0

    @property
    def slides(self) -> Array:
        """(n,) bool, in solving order."""
        return self.chain.slides[::-1] if self.reversed else self.chain.slides

    def record(self, oriented: bool, tolerance: tuple[float, float]) -> Array:
        """() FAMILY_RECORD. oriented: the target's rotation counts.   tolerance: [m], [rad]."""
        chain, n = self.chain, self.chain.joints
        record = np.zeros((), FAMILY_RECORD)
        for name in ("kind", "arm", "reversed", "mirrored", "outer_last", "meets"):
            record[name] = getattr(self, name)
        record["joints"], record["oriented"] = n, oriented
        record["size"], record["off"] = chain.size, self.off
        record["slides"] = sum(1 << i for i in np.flatnonzero(self.slides).tolist())
        record["chain_slides"] = sum(1 << i for i in np.flatnonzero(chain.slides).tolist())
        record["axis"][:n], record["point"][:n] = chain.axis, chain.point
        record["h"][:n], record["o"][:n] = self.h, self.o
        record["side"][:n] = [side_of(axis) for axis in self.h]
        record["home"] = np.concatenate((chain.home[:3, :3].ravel(), chain.home[:3, 3]))
        record["centre"], record["tolerance"] = chain.centre, tolerance
        record["lower"][:n], record["upper"][:n] = chain.lower, chain.upper
        return record


def side_of(axis: Array) -> Array:
    """(3,) a unit vector at right angles to an axis."""
    x = np.eye(3)[np.argmin(abs(axis))]
    side = x - (axis @ x) * axis
    return side / np.linalg.norm(side)
