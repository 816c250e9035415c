"""Which of the two programs finds the optimum of some criteria: the kernel, or its NumPy twin."""

from __future__ import annotations

from collections.abc import Sequence

from ...robokin.backend import get_backend
from ..criteria import Criterion, Potential
from .native import KernelOptimum, NativeOptimum
from .pose_problem import PoseProblem
from .sqp import StaticOptimum


def optimum_of(poses: PoseProblem, criteria: Sequence[Criterion]) -> StaticOptimum | NativeOptimum:
    """In the kernel, when that is the backend and can minimise them."""
    if get_backend(poses.levels.backend).name == "native":
        potentials = [each for each in criteria if isinstance(each, Potential)]
        kernel = KernelOptimum.kept(poses.levels, potentials, poses.influence)
        if kernel is not None and not kernel.step.unknown(poses.targets):
            return NativeOptimum(poses, potentials, kernel)
    return StaticOptimum(poses, criteria)
