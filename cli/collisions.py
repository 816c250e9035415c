"""What robots of descriptions may not touch: arguments, and the collisions that they ask for."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import TYPE_CHECKING

from ..robokin import RobotModel, forward_kinematics, load_urdf
from ..robokin.model.geometry import Mesh
from ..solvers.tasks.clearance import MARGIN
from .arguments import checked_number
from .errors import UsageError

if TYPE_CHECKING:
    from ..robokin.collision import CollisionModel, Hull, Obstacle


def add_obstacles(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--obstacles", metavar="WORLD", help=".urdf or .xacro whose links are obstacles, in the root frame"
    )


def add_margin(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--margin", metavar="M", type=_margin, help=f"[m] nothing comes nearer ({MARGIN:g}; of a .blend: its own)"
    )


def collisions_among(model: RobotModel, world: str | None, margin: float) -> CollisionModel:
    """What may not touch: links, but for those that do at rest or that no motion keeps the margin [m] apart, and the
    links of the description `world` at zero. Raises UsageError where that is nothing, or meshes are not found."""
    from ..robokin.collision import CollisionModel

    around = None if world is None else load_urdf(world)
    hull = _mesh_hull([model] if around is None else [model, around])
    obstacles = [] if around is None else _obstacles(around, hull)
    links = CollisionModel(model, hull=hull)
    found = CollisionModel(model, obstacles, [*links.touching_at_rest(), *links.always_near(margin)], hull)
    if found.left_out:
        names = ", ".join(dict.fromkeys(found.left_out))
        raise UsageError(f"the collision meshes of {names} are not found: name their folder with --package-path")
    if found.is_empty:
        raise UsageError(
            f"nothing can collide: {model.name!r} has no collision shapes, or no two that may collide; "
            "--obstacles WORLD gives some to keep away from"
        )
    return found


def _mesh_hull(models: list[RobotModel]) -> Callable[[Mesh], Hull | None] | None:
    """What reads mesh files, which Blender's part does; None where there are none."""
    if not any(isinstance(g.shape, Mesh) for model in models for link in model.links for g in link.collisions):
        return None
    from .blender import blender

    with blender():
        from ..properties.bridge.visuals.mesh_hulls import mesh_hull

        return mesh_hull


def _obstacles(world: RobotModel, hull: Callable[[Mesh], Hull | None] | None) -> list[Obstacle]:
    """The collision shapes of a description, at zero. Raises UsageError."""
    from ..robokin.collision import Obstacle

    frames, found = forward_kinematics(world, world.neutral()), []
    for link in world.links:
        for geometry in link.collisions:
            mesh = geometry.shape
            shape = mesh if not isinstance(mesh, Mesh) else hull(mesh) if hull else None
            if shape is None:
                raise UsageError(f"the collision mesh of obstacle {link.name!r} is not found")
            found.append(Obstacle(link.name, shape, frames[link.name] @ geometry.placement))
    return found


def _margin(text: str) -> float:
    return checked_number(text, lambda x: 0.0 <= x < 1e3, "a number of metres >= 0")
