"""Collision shapes of links, made around their meshes."""

from __future__ import annotations

import dataclasses
from collections.abc import Generator, Iterator
from dataclasses import dataclass

import bpy
import numpy as np

from ..properties.bridge import Binding, binding
from ..properties.bridge.editing.link_shapes import put_link_shapes
from ..properties.bridge.visuals.link_surfaces import link_surfaces
from ..properties.bridge.visuals.mesh_hulls import mesh_triangles
from ..robokin import Link, RobokinError
from ..robokin.arrays import Array
from ..robokin.collision.convex_parts import convex_parts
from ..robokin.collision.fitting import SIMPLE, fitted
from ..robokin.collision.swept_hull import SHARE, swept_hull
from ..robokin.model.geometry import Geometry, Mesh
from ..robokin.units import counted, small_length
from ..solvers.progress import scaled

LEAST, PARTS = "least", "parts"  # beside the kinds of `fitted`
VISUALS, COLLISIONS = "visuals", "collisions"


@dataclass(frozen=True)
class FitReport:
    """gap [m]: how far shapes reach beyond the convex hulls of the meshes at most, or beyond the meshes themselves
    where they are parts; bone: where."""

    shapes: int
    links: int
    gap: float
    bone: str
    kind: str

    def __str__(self) -> str:
        beyond = "the meshes" if self.kind == PARTS else "the convex hulls of the meshes"
        found = f"{counted(self.shapes, 'shape')} on {counted(self.links, 'link')}"
        return f"{found}; they reach at most {small_length(self.gap)} beyond {beyond} ({self.bone})"


def fit_shapes(
    context: bpy.types.Context, obj: bpy.types.Object, kind: str = LEAST, around: str = VISUALS
) -> Generator[float, None, FitReport]:
    """Yield the share of the work done (0..1) now and then, then give links shapes around each of their meshes.

    kind: LEAST, PARTS, or one of `fitted`. around: the meshes of the objects on the bones, in place of all shapes that
    their links have; or the links' own collision meshes, in place of these. Raises RobokinError.
    """
    robot = binding(obj)
    found_on, worst, count = dict[str, tuple[Geometry, ...]](), (0.0, ""), 0
    for k, (bone, meshes) in enumerate(_meshes(context, obj, robot, around)):
        link = robot.model.links[k]
        others = [] if around == VISUALS else [g for g in link.collisions if not isinstance(g.shape, Mesh)]
        shapes: list[Geometry] = []
        for triangles, T in meshes:
            steps = _fitted(triangles, kind)
            found, gap = yield from scaled(steps, k / len(robot.bones), (k + 1) / len(robot.bones))
            shapes += [dataclasses.replace(each, placement=T @ each.placement) for each in found]
            worst = max(worst, (gap, bone))
        if shapes:
            found_on[bone] = (*others, *shapes)
            count += len(shapes)
    if not found_on:
        where = "parented to or deformed by a bone" if around == VISUALS else "among the collision shapes"
        raise RobokinError(f"no mesh with faces is {where} of {obj.name!r}")
    put_link_shapes(obj, found_on)
    return FitReport(count, len(found_on), *worst, kind)


def _meshes(
    context: bpy.types.Context, obj: bpy.types.Object, robot: Binding, around: str
) -> Iterator[tuple[str, list[tuple[Array, Array]]]]:
    """Yield each bone with (n, 3, 3) the triangles of each mesh of its link [m], and (4, 4) where it is in the link.
    Raises RobokinError for a collision mesh that is not found."""
    if around == VISUALS:
        for bone, surfaces in link_surfaces(context, obj, robot, robot.bones):
            yield bone, [(surface.triangles, np.eye(4)) for surface in surfaces]
    else:
        for bone, link in zip(robot.bones, robot.model.links, strict=False):
            yield bone, list(_collision_meshes(bone, link))


def _collision_meshes(bone: str, link: Link) -> Iterator[tuple[Array, Array]]:
    for geometry in link.collisions:
        if isinstance(geometry.shape, Mesh):
            found = mesh_triangles(geometry.shape)
            if found is None:
                raise RobokinError(f"the collision mesh {geometry.shape.filename!r} of {bone!r} is not found")
            if len(found):
                yield found, geometry.placement


def _fitted(triangles: Array, kind: str) -> Generator[float, None, tuple[list[Geometry], float]]:
    """Shapes around a mesh, and how far they reach beyond it."""
    points = triangles.reshape(-1, 3)
    if kind != PARTS:
        yield 0.0
        fit = fitted(points, SIMPLE if kind == LEAST else (kind,))
        return [Geometry(fit.shape, fit.placement)], fit.gap
    made = yield from scaled(convex_parts(points, np.arange(len(points)).reshape(-1, 3)), 0.0, 0.7)
    enough = SHARE * float(np.ptp(points, axis=0).max())  # of the whole mesh
    hulls = []
    for i, part in enumerate(made.parts):
        yield 0.7 + 0.3 * i / len(made.parts)
        hulls.append(swept_hull(part, enough=enough))
    return [Geometry(hull) for hull in hulls], made.excess + max(hull.radius for hull in hulls)
