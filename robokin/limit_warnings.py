"""What a robot says about position limits of its description that it does not keep, a line for each joint."""

from __future__ import annotations

from .model.far_limits import far_values
from .model.mimics import followed_joint
from .model.robot import RobotModel


def far_limit_warning(model: RobotModel, name: str) -> str:
    """The line of one of `RobotModel.far_limits`."""
    values = [f"{value:g}" for value in far_values(model.joint(name), model.joint_limits(name))]
    what = "is too far away for a position limit" if len(values) == 1 else "are too far away for position limits"
    return f"joint {name!r}: {', '.join(values)} {what}: taken as none"


def limit_warnings(model: RobotModel) -> list[str]:
    """A line for each joint of which the model leaves position limits: far ones, and those of mimic joints that exclude
    all that they can follow."""
    return [*(far_limit_warning(model, name) for name in model.far_limits), *mimic_warnings(model)]


def mimic_warnings(model: RobotModel) -> list[str]:
    """A line for each joint whose position limits are not kept, because they exclude all that it can follow."""
    return [mimic_warning(model, name) for name in model.unheld_mimics]


def mimic_warning(model: RobotModel, name: str) -> str:
    """The line of one of them."""
    joint, (scale, offset) = model.joint(name), model.mimic_map(name)
    at = model.slot(name).q.start
    low, high = sorted(scale * float(end) + offset if scale else offset for end in (model.lower[at], model.upper[at]))
    own = f"{float(joint.lower[0]):.5g} .. {float(joint.upper[0]):.5g}"
    leader = followed_joint(joint, {each.name: each for each in model.joints}).name
    return (
        f"joint {name!r}: its limits {own} are not kept, since with {leader!r}, which it follows, "
        f"it goes from {low:.5g} to {high:.5g}"
    )
