"""Every difference between two robots, in words."""

from __future__ import annotations

import numpy as np
from robokin_addon.robokin import RobotModel

JOINT_NUMBERS = (
    "placement axis lower upper velocity effort acceleration pitch damping friction rotor_inertia stiffness".split()
)


def compare_models(a: RobotModel, b: RobotModel, tolerance: float = 1e-9) -> list[str]:
    """One line per field that differs by more than `tolerance`; empty when the robots are equal.

    Where files were found (paths on disk) is not compared, what they are called is.
    """
    differences: list[str] = []

    def same(what: str, x: object, y: object) -> None:
        if x != y:
            differences.append(f"{what}: {x!r} != {y!r}")

    def near(what: str, x: object, y: object) -> None:
        x, y = np.asarray(x, float), np.asarray(y, float)
        if x.shape != y.shape or not np.allclose(x, y, rtol=0.0, atol=tolerance):
            differences.append(f"{what}: {x.tolist()} != {y.tolist()}")

    def same_geometry(what: str, x: object, y: object) -> None:
        same(f"{what} count", len(x), len(y))
        for i, (g, h) in enumerate(zip(x, y, strict=False)):
            same(f"{what} {i} kind", type(g.shape), type(h.shape))
            same(f"{what} {i} name", g.name, h.name)
            near(f"{what} {i} placement", g.placement, h.placement)
            for field in ("filename", "scale", "size", "radius", "length"):
                same(f"{what} {i} {field}", getattr(g.shape, field, None), getattr(h.shape, field, None))
            for field in ("name", "rgba", "texture"):
                same(f"{what} {i} material {field}", getattr(g.material, field, None), getattr(h.material, field, None))

    same("name", a.name, b.name)
    same("root", a.root, b.root)
    same("links", a.link_names, b.link_names)
    same("joints", [j.name for j in a.joints], [j.name for j in b.joints])
    if differences:
        return differences
    for x, y in zip(a.joints, b.joints, strict=True):
        for field in ("type", "parent", "child", "order", "drive"):
            same(f"joint {x.name} {field}", getattr(x, field), getattr(y, field))
        for field in JOINT_NUMBERS:
            near(f"joint {x.name} {field}", getattr(x, field), getattr(y, field))
        same(f"joint {x.name} has axes", x.axes is None, y.axes is None)
        if x.axes is not None and y.axes is not None:
            near(f"joint {x.name} axes", x.axes, y.axes)
        same(f"joint {x.name} rest_position", x.rest_position, y.rest_position)
        same(f"joint {x.name} mimic", x.mimic and x.mimic.joint, y.mimic and y.mimic.joint)
        if x.mimic and y.mimic:
            near(
                f"joint {x.name} mimic map", [x.mimic.multiplier, x.mimic.offset], [y.mimic.multiplier, y.mimic.offset]
            )
    for x, y in zip(a.links, b.links, strict=True):
        for field in ("mass", "com", "inertia"):
            near(f"link {x.name} {field}", getattr(x, field), getattr(y, field))
        same_geometry(f"link {x.name} visual", x.visuals, y.visuals)
        same_geometry(f"link {x.name} collision", x.collisions, y.collisions)
    return differences
