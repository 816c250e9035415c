"""How near the tools of a motion come to singularities, sample by sample."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...robokin.arrays import Array, shown
from ...robokin.errors import ConfigurationError
from ..singularities.measure import NEAR, Singularities
from ..singularities.tool import tools_of
from ..tasks import Task
from .motion import Motion, checked_motion
from .violation import Violation


@dataclass(frozen=True, eq=False)
class MotionSingularities:
    """How near each tool is to a singularity in F samples (docs/singularities.md). names: of their tasks.   values:
    (F, tools) smallest singular value.   manipulability: (F, tools).   near: the samples below the threshold."""

    motion: Motion
    names: tuple[str, ...]
    values: Array
    manipulability: Array
    near: tuple[Violation, ...]

    @classmethod
    def of(cls, motion: Motion, tasks: Sequence[Task], threshold: float = NEAR) -> MotionSingularities:
        """The tools are the tips with a task on their pose, position or orientation. threshold: smaller singular values
        are near a singularity. Raises ConfigurationError for what is no motion, UnknownNameError."""
        model = checked_motion(motion).model
        if not (isinstance(threshold, (int, float, np.number)) and threshold >= 0.0):
            raise ConfigurationError(f"threshold must be a number from 0 on, not {shown(threshold)}")
        tools = [Singularities(tool) for tool in tools_of(model, tasks) if tool.rank]
        values, sizes = np.zeros((2, len(motion), len(tools)))
        near = []
        for i, tool in enumerate(tools):
            values[:, i], sizes[:, i] = tool.over(motion.q)
            for frame in np.flatnonzero(values[:, i] < threshold).tolist():
                sentence, value = tool.at(motion.q[frame]).sentence(), float(values[frame, i])
                near.append(Violation(frame, tool.tool.name, "singularity", value, threshold, why=sentence))
        near.sort(key=lambda each: each.frame)
        return cls(motion, tuple(tool.tool.name for tool in tools), values, sizes, tuple(near))

    def columns(self) -> dict[str, tuple[str, Array]]:
        """Name -> unit and values (F,): "NAME singular value" and "NAME manipulability" of each tool."""
        found: dict[str, tuple[str, Array]] = {}
        for name, values, sizes in zip(self.names, self.values.T, self.manipulability.T, strict=True):
            found |= {f"{name} singular value": ("", values), f"{name} manipulability": ("", sizes)}
        return found

    def row(self, frame: int) -> list[dict]:
        """Plain values of a sample, of each tool."""
        pairs = zip(self.names, self.values[frame].tolist(), self.manipulability[frame].tolist(), strict=True)
        return [{"task": name, "singular_value": value, "manipulability": size} for name, value, size in pairs]
