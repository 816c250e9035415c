"""Joint angles, speeds and the tool's error over time, from an exported motion."""

from __future__ import annotations

import math
from pathlib import Path

import matplotlib

matplotlib.use("Agg")  # no window

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from robokin_addon.robokin import Joint, RobotModel

INK, LIMIT, SOFT = "#1f4e79", "#c0392b", "#8a94a0"
STYLE = {
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": SOFT,
    "axes.titlesize": 9,
    "axes.titlelocation": "left",
    "xtick.color": SOFT,
    "ytick.color": SOFT,
    "xtick.labelcolor": "black",
    "ytick.labelcolor": "black",
}


def positions(path: Path, model: RobotModel, motion: dict, error: list[float]) -> None:
    """One diagram per turning joint, the forbidden angles shaded, and the distance of the tool from its target."""
    joints = turning(model)
    with plt.rc_context(STYLE):
        figure, grid = plt.subplots(4, 2, figsize=(8, 8), sharex=True, layout="constrained")
        axes = grid.ravel()
        for axis, joint in zip(axes, joints, strict=False):
            degrees = np.degrees(motion["positions"][joint.name])
            low, high = math.degrees(joint.lower[0]), math.degrees(joint.upper[0])
            axis.plot(motion["times"], degrees, color=INK, linewidth=1.6)
            axis.axhspan(low - 360, low, color=LIMIT, alpha=0.12, linewidth=0)
            axis.axhspan(high, high + 360, color=LIMIT, alpha=0.12, linewidth=0)
            axis.set(title=f"{joint.name} [°]", ylim=(low - 15, high + 15), yticks=[low, degrees[0], high])
            axis.yaxis.set_major_formatter("{x:.0f}")
            _time(axis, motion)
        axes[len(joints)].semilogy(motion["times"], np.maximum(error, 1e-12) * 1e6, color=INK, linewidth=1.2)
        axes[len(joints)].set(title="tool off its path [µm]")
        for axis in grid[-1]:
            axis.set_xlabel("time [s]")
        figure.suptitle("Joint angles; red: outside the limits", x=0.01, ha="left", fontsize=11)
        figure.savefig(path, dpi=110)
        plt.close(figure)


def velocities(path: Path, model: RobotModel, motion: dict) -> None:
    """Speeds of the turning joints as a share of what each allows."""
    with plt.rc_context(STYLE):
        figure, axis = plt.subplots(figsize=(8, 4), layout="constrained")
        colours = plt.get_cmap("viridis")(np.linspace(0.0, 0.9, len(turning(model))))
        for joint, colour in zip(turning(model), colours, strict=True):
            share = 100.0 * np.array(motion["velocities"][joint.name]) / joint.velocity[0]
            axis.plot(motion["times"], share, color=colour, linewidth=1.5, label=joint.name)
        axis.axhline(0.0, color=SOFT, linewidth=0.6)
        for bound in (-100, 100):
            axis.axhline(bound, color=LIMIT, linewidth=1.2)
        axis.set(xlabel="time [s]", title="Joint speeds [% of the joint's limit]", ylim=(-115, 115))
        _time(axis, motion)
        axis.legend(frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))
        figure.savefig(path, dpi=110)
        plt.close(figure)


def turning(model: RobotModel) -> list[Joint]:
    return [joint for joint in model.moving_joints if joint.type == "revolute"]


def _time(axis: Axes, motion: dict) -> None:
    axis.set_xlim(motion["times"][0], motion["times"][-1])
