"""The pictures of examples 11 to 14, the companion papers' methods: `python examples/paper_pictures.py FOLDER`."""

from __future__ import annotations

import contextlib
import io
import runpy
import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")  # no window

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from robokin_addon.robokin import forward_kinematics
from robokin_addon.solvers.methods.arm import ArmTip
from robokin_addon.solvers.methods.goal_oriented import GoalOriented
from robokin_addon.solvers.methods.newton_raphson import NewtonRaphson

INK, OTHER, SOFT = "#1f4e79", "#c0392b", "#8a94a0"


def example(number: int) -> dict:
    """The names of an example after it ran."""
    (script,) = Path(__file__).parent.glob(f"{number}_*.py")
    with contextlib.redirect_stdout(io.StringIO()):
        return runpy.run_path(str(script))


def goal_oriented(axes: Axes, cost: Axes) -> None:
    """The arm on its way from goal to goal, and the cost over the place of its end at the last pose."""
    names = example(11)
    model, result, goals = names["model"], names["result"], names["GOALS"]
    links = [model.joint(joint).child for joint in ("phi_2", "phi_3", "phi_4", "p_5")]
    placed = [forward_kinematics(model, q) for q in result.path]
    arms = np.array([[T[link][:2, 3] * 10.0 for link in links] for T in placed])
    picks = np.unique(np.linspace(0, len(arms) - 1, 12).astype(int))
    for k, i in enumerate(picks):
        points = np.vstack(([0.0, 0.0], arms[i]))
        axes.plot(*points.T, "o-", color=INK, alpha=0.15 + 0.7 * k / len(picks), markersize=3)
    axes.plot(*arms[:, -1].T, color=OTHER, linewidth=1)
    axes.plot(*goals[:, :2].T * 10.0, "*", color=OTHER, markersize=12)
    for center in names["OBSTACLES"][:, :2] * 10.0:
        axes.add_patch(plt.Circle(center, names["R"] * 10.0, color=SOFT, alpha=0.3))
        axes.plot(*center, "x", color="black")
    axes.set(aspect="equal", xlabel="dm", title="from goal to goal among obstacles")
    cost.set(xlabel="step", title="cost (Eq. 9), toward each goal")
    arm, method = ArmTip(model, "end_effector", np.eye(4), "goal_oriented"), GoalOriented(**names["FIELD"])
    for k, goal in enumerate(goals):
        steps = np.flatnonzero(result.targets == k)
        cost.plot(steps, [method.cost(arm, result.path[i], goal)[0] for i in steps], color=INK)


def newton(axes: Axes, counts: Axes) -> None:
    """The residual after each step, and how many steps there were."""
    results = example(12)["results"]
    for result in results[:100]:
        axes.semilogy(result.errors[:, 0], color=INK, alpha=0.2)
    axes.axhline(NewtonRaphson.eps_v, color=OTHER)
    axes.set(xlabel="step", ylabel="m", title="distance of 100 targets")
    counts.bar(*np.unique([result.iterations for result in results], return_counts=True), color=INK)
    counts.set(xlabel="steps", title="of 1000 targets")


def damped(axes: Axes, met: Axes) -> None:
    """Descents, and how many targets each way meets."""
    names = example(13)
    for result in [result for row in names["results"] for result in row]:
        axes.semilogy(np.maximum(np.linalg.norm(result.errors, axis=1), 1e-12), color=INK, alpha=0.2)
    axes.set(xlabel="accepted step", title="error of 75 descents")
    met.bar(("at once", "again\nfrom home", "stiff wrist\nfirst"), names["met"], color=INK)
    met.set(title="of 25 targets are met")


def lecture(axes: Axes, other: Axes) -> None:
    """Newton's method with pseudo-inverses."""
    for plot, (name, errors) in zip((axes, other), example(14)["descents"].items(), strict=True):
        plot.semilogy(np.maximum(errors, 1e-16), "o-", color=INK)
        plot.set(xlabel="step", title=f"error, {name}")


PICTURES = {"goals": goal_oriented, "newton": newton, "damped": damped, "lecture": lecture}


def main() -> None:
    folder = Path(sys.argv[1])
    for name, draw in PICTURES.items():
        figure, axes = plt.subplots(1, 2, figsize=(8, 3.2), layout="constrained")
        draw(*axes)
        figure.savefig(folder / f"paper-{name}.png", dpi=80)


if __name__ == "__main__":
    main()
