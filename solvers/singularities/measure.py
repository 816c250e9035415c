"""The smallest singular value and the manipulability of a tool over configurations, and which singularity is near."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...robokin.arrays import Array, shown
from ...robokin.errors import ConfigurationError
from ..families.chain import chain_of
from ..families.family import Family
from ..families.recognition import recognise
from .kinds import factors
from .tool import Tool
from .words import lost_motion, moving_joints

NEAR = 0.02  # smallest singular value from which on a pose is near a singularity, unless another one is asked for
TIED = 3.0  # times the smallest factor of the determinant: another one that is as near is named, too


@dataclass(frozen=True, eq=False)
class Singularity:
    """What a tool comes near to at one configuration. value: smallest singular value.   manipulability: product of
    all.   kind: "wrist", "elbow" ... of an arm of a family, several joined by "and"; "" of others.   lost: (6,) unit,
    the velocity of the tip that takes the joints most, lengths in L.   joints: those that turn against each other.
    frame: of `lost`, "world" (root axes) or "tip"."""

    value: float
    manipulability: float
    kind: str
    lost: Array
    joints: tuple[str, ...]
    frame: str

    def motion(self) -> str:
        """Which singularity it is, and the motion that is lost, in words."""
        lost = lost_motion(self.lost, self.frame)
        return f"{self.kind}: {lost}" if self.kind else lost

    def sentence(self) -> str:
        """Which singularity it is, the motion that is lost, and the joints that are why, in words."""
        joints = ", ".join(self.joints)
        against = f"{joints} cancel each other" if len(self.joints) > 1 else f"{joints} does not move it"
        return f"{self.motion()}; {against}"


class Singularities:
    """How near a tool is to singularities. J has lengths in L; as many singular values as at its best pose count."""

    def __init__(self, tool: Tool) -> None:
        self.tool = tool
        self._family: Family | None = None
        chain = chain_of(tool.model, tool.link, tool.offset, tool.model.limits)
        if chain is not None and tool.rank == min(chain.joints, 6):  # else fewer axes count than the determinant has
            self._family = recognise(chain, bool(tool.counting[3:].any()))

    def over(self, q: Array) -> tuple[Array, Array]:
        """smallest singular value (F,) and manipulability (F,), of q (F, nq). (Yoshikawa, IJRR 4, 1985.) Raises
        ConfigurationError."""
        nq = self.tool.model.nq
        if not isinstance(q, np.ndarray) or q.ndim != 2 or q.shape[1] != nq or not np.isfinite(q).all():
            raise ConfigurationError(f"q must be finite numbers of shape (F, {nq}), not {shown(q)}")
        if not self.tool.rank:
            return np.zeros(len(q)), np.zeros(len(q))
        s = np.linalg.svd(self.tool.jacobian(q), compute_uv=False)[:, : self.tool.rank]
        return s[:, -1], s.prod(axis=1)

    def at(self, q: Array) -> Singularity:
        """q: (nq,). Raises ConfigurationError."""
        q = self.tool.model.check_configuration(q)
        U, s, Vt = np.linalg.svd(self.tool.jacobian(q[None])[0], full_matrices=False)
        last = max(self.tool.rank, 1) - 1
        lost = np.zeros(6)
        lost[self.tool.counting] = U[:, last]
        moving = moving_joints(self.tool.model, Vt[last])
        value, product = float(s[last]), float(s[: last + 1].prod())
        return Singularity(value, product, self._kind(q), lost, moving, self.tool.frame)

    def _kind(self, q: Array) -> str:
        if self._family is None:
            return ""
        found = factors(self._family, q[self._family.chain.q_index])
        least = min(found.values(), default=0.0)
        return " and ".join(dict.fromkeys(name for name, size in found.items() if size <= TIED * least + 1e-12))
