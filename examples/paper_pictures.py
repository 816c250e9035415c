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

INK, OTHER, SOFT = "#1f4e79", "#c0392b", "#8a94a0"


def example(number: int) -> dict:
    """The names of an example after it ran."""
    (script,) = Path(__file__).parent.glob(f"{number}_*.py")
    with contextlib.redirect_stdout(io.StringIO()):
        return runpy.run_path(str(script))


def goal_oriented(axes: Axes, cost: Axes) -> None:
    """The arm on its way from goal to goal, and the cost over the place of its end at the last pose."""
    names = example(11)
    path, joints = names["path"], ("phi_2", "phi_3", "phi_4", "p_5")
    model = names["model"]
    links = [model.joint(joint).child for joint in joints]
    arms = np.array([[T[link][:2, 3] * 10.0 for link in links] for T in (forward_kinematics(model, q) for q in path)])
    picks = np.unique(np.linspace(0, len(path) - 1, 12).astype(int))
    for k, i in enumerate(picks):
        points = np.vstack(([0.0, 0.0], arms[i]))
        axes.plot(*points.T, "o-", color=INK, alpha=0.15 + 0.7 * k / len(picks), markersize=3)
    axes.plot(*arms[:, -1].T, color=OTHER, linewidth=1)
    axes.plot(*names["GOALS"].T, "*", color=OTHER, markersize=12)
    for center in names["OBSTACLES"]:
        axes.add_patch(plt.Circle(center, names["R"], color=SOFT, alpha=0.3))
        axes.plot(*center, "x", color="black")
    axes.set(aspect="equal", xlabel="dm", title="from goal to goal among obstacles")
    cost.set(xlabel="step", title="cost (Eq. 9), toward each goal")
    first = 0
    for goal in names["GOALS"]:
        near = first + int(np.argmin(np.linalg.norm(arms[first:, -1] - goal, axis=1)))
        cost.plot(
            range(first + 1, near + 1), [names["cost"](q, goal)[0] for q in path[first + 1 : near + 1]], color=INK
        )
        first = near


def newton(axes: Axes, counts: Axes) -> None:
    """What is lacking after each step, and how many steps there were."""
    names = example(12)
    for errors in names["errors"][:100]:
        axes.semilogy(errors, color=INK, alpha=0.2)
    axes.axhline(names["EPS_V"], color=OTHER)
    axes.set(xlabel="step", ylabel="m", title="distance of 100 targets")
    counts.bar(*np.unique(names["counts"], return_counts=True), color=INK)
    counts.set(xlabel="steps", title="of 1000 targets")


def damped(axes: Axes, met: Axes) -> None:
    """Descents, and how many targets each way meets."""
    names = example(13)
    for errors in names["descents"][:100]:
        axes.semilogy(np.maximum(errors, 1e-12), color=INK, alpha=0.2)
    axes.set(xlabel="accepted step", title="error of 100 descents")
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
