"""What a robot consists of: its joints with their limits, its links with their masses."""

from __future__ import annotations

import argparse
from dataclasses import asdict

import numpy as np

from ...robokin import Joint, Link, RobotModel
from ...robokin.inertia import implausible_inertia, principal_moments, total_body
from ...robokin.limit_warnings import limit_warnings
from ...robokin.units import FORCES, counted, freedom_units
from ..arguments import add_json, add_robot_file
from ..report import write_report
from ..robot_file import load_model


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_robot_file(parser)
    add_json(parser)


def run(arguments: argparse.Namespace) -> bool:
    model = load_model(arguments)
    report = describe(model)
    write_report(report, arguments.json, _summary(report, model))
    return True


def describe(model: RobotModel) -> dict:
    """Plain values. The root joint is listed only where it moves; absent limits are None.

    center_of_mass: of the whole robot at zero, in the root frame; None without mass.   unheld_mimics,
    far_limits: see `RobotModel`.
    """
    whole = total_body(model, model.neutral())
    return {
        "robot": model.name,
        "nq": model.nq,
        "nv": model.nv,
        "total_mass": model.total_mass,
        "center_of_mass": whole.com.tolist() if whole.mass else None,
        "joints": [_joint(joint) for joint in model.joints if joint.parent is not None or joint.nq],
        "links": [_link(link) for link in model.links],
        "unheld_mimics": list(model.unheld_mimics),
        "far_limits": list(model.far_limits),
    }


def _link(link: Link) -> dict:
    """implausible: why no real body can have these numbers, in words."""
    return {
        "name": link.name,
        "mass": float(link.mass),
        "com": link.com.tolist(),
        "inertia": link.inertia.tolist(),
        "principal_moments": principal_moments(link.inertia).tolist(),
        "implausible": implausible_inertia(link.mass, link.inertia),
    }


def _joint(joint: Joint) -> dict:
    mimic = joint.mimic
    return {
        "name": joint.name,
        "type": joint.kind.urdf or joint.type,
        "parent": joint.parent,
        "child": joint.child,
        "axis": [float(x) for x in joint.axis],
        **{name: _limit(getattr(joint, name)) for name in ("lower", "upper", "velocity", "effort")},
        "mimic": mimic and {"joint": mimic.joint, "multiplier": float(mimic.multiplier), "offset": float(mimic.offset)},
        **({"pitch": float(joint.pitch)} if joint.kind.has_pitch else {}),
        **({"order": joint.order} if joint.kind.orders else {}),
        **({"axes": joint.axes.tolist()} if joint.axes is not None else {}),
        **({"drive": asdict(joint.drive)} if joint.drive is not None else {}),
    }


def _limit(values: np.ndarray) -> float | list[float | None] | None:
    """A number for one degree of freedom, a list for several, None where nothing is bounded."""
    finite = [float(x) if np.isfinite(x) else None for x in values]
    if all(x is None for x in finite):
        return None
    return finite[0] if len(finite) == 1 else finite


def _summary(report: dict, model: RobotModel) -> str:
    rows = [("joint", "type", "lower", "upper", "velocity", "effort", "parent > child")]
    for joint in report["joints"]:
        units = freedom_units(model.joint(joint["name"]))
        column_units = [units, units, [f"{unit}/s" for unit in units], [FORCES[unit] for unit in units]]
        names = ("lower", "upper", "velocity", "effort")
        limits = [_cell(joint[name], unit_names) for name, unit_names in zip(names, column_units, strict=True)]
        rows.append((joint["name"], joint["type"], *limits, f"{joint['parent']} > {joint['child']}"))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    table = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    head = f"{report['robot']}: {counted(report['nv'], 'degree of freedom', 'degrees of freedom')}"
    head += f", {counted(len(report['links']), 'link')}"
    head += f", {report['total_mass']:.4g} kg"
    if report["center_of_mass"]:
        head += f" centred at {', '.join(f'{x + 0.0:.4g}' for x in report['center_of_mass'])} m (joints at zero)"
    doubts = [f"link {link['name']!r}: {reason}" for link in report["links"] for reason in link["implausible"]]
    doubts += limit_warnings(model)
    return "\n".join([head, *table, *doubts])


def _cell(limit: object, units: list[str]) -> str:
    if isinstance(limit, list):
        return ", ".join(_cell(x, [unit]) for x, unit in zip(limit, units, strict=True))
    return "-" if limit is None else f"{limit:.5g} {units[0]}"
