"""The mass properties of what a triangle mesh encloses.

Where the mesh is closed they are exact: the integrals over the tetrahedra between each triangle and a point, summed
with their signs (Mirtich 1996; Eberly, Polyhedral Mass Properties Revisited; the second moments of a tetrahedron as
in Tonon 2004). Orientation does not have to be right: it is made so. What is open has no inside; then the convex hull
stands for it, and that is said.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass

import numpy as np

from ..arrays import Array, frozen_array
from ..collision.convex_hull import distinct, hull_triangles
from ..errors import ModelError
from .body import Body
from .plausibility import implausible_inertia
from .shells import NoInside, outward

# A mesh thinner than this part of its size is flat: vertices are single precision.
_THINNEST = 1e-7
_FLAT = "the mesh encloses no volume: it is flat"


class Solidity(enum.StrEnum):
    """Where mass properties come from."""

    CLOSED = "CLOSED"
    HULL = "HULL"


@dataclass(frozen=True)
class MeshBody:
    """body: of density 1 (its mass is the volume [m^3]). solidity: of the mesh itself, or of its hull.
    notes: what was put right or must be known, in words."""

    body: Body
    solidity: Solidity
    notes: tuple[str, ...] = ()


def mesh_body(triangles: Array) -> MeshBody:
    """The body enclosed by `triangles` (n, 3, 3) [m]; of a mesh that is not closed its convex hull.

    Raises ModelError for what has no volume.
    """
    triangles = np.asarray(triangles, float)
    if triangles.ndim != 3 or triangles.shape[1:] != (3, 3):
        raise ModelError(f"triangles must have shape (n, 3, 3), not {triangles.shape}")
    if not len(triangles):
        raise ModelError("the mesh has no faces")
    if not np.isfinite(triangles).all():
        raise ModelError("the mesh has coordinates that are not finite numbers")
    try:
        oriented, notes = outward(triangles)
        body = _enclosed(oriented)
        problems = implausible_inertia(body.mass, body.inertia)
        if problems:
            raise NoInside("it runs through itself")
        return MeshBody(body, Solidity.CLOSED, tuple(notes))
    except NoInside as fault:
        why = str(fault)
    found = convex_body(triangles.reshape(-1, 3))
    return MeshBody(found, Solidity.HULL, (f"not closed ({why}): its convex hull was taken",))


def convex_body(points: Array) -> Body:
    """The body of density 1 of the convex hull of points (k, 3) [m]. Raises ModelError for what is flat."""
    points = np.asarray(points, float)
    corners = distinct(points) if len(points) else points
    if len(corners) < 4:
        raise ModelError(_FLAT)
    return _enclosed(corners[hull_triangles(corners)])


def _enclosed(triangles: Array) -> Body:
    """Inertia of triangles that are closed and face outward. Raises ModelError where there is no volume."""
    # Far from the origin large terms would cancel: the first pass is about the middle, the second about the centre of
    # mass that it finds.
    low, high = triangles.min(axis=(0, 1)), triangles.max(axis=(0, 1))
    extent = float(np.linalg.norm(high - low))
    middle = (low + high) / 2.0
    local = triangles - middle
    normals = np.cross(local[:, 1] - local[:, 0], local[:, 2] - local[:, 0])
    area = float(np.linalg.norm(normals, axis=1).sum() / 2.0)
    volumes = np.einsum("ni,ni->n", local[:, 0], normals) / 6.0
    volume = float(volumes.sum())
    if not volume > _THINNEST * extent * area:
        raise ModelError(_FLAT)
    com = np.einsum("n,nki->i", volumes, local) / (4.0 * volume)
    local -= com
    volumes = np.einsum("ni,ni->n", local[:, 0], normals) / 6.0
    sums = local.sum(axis=1)
    second = np.einsum("n,nki,nkj->ij", volumes, local, local) + np.einsum("n,ni,nj->ij", volumes, sums, sums)
    second /= 20.0
    inertia = np.trace(second) * np.eye(3) - second
    return Body(volume, frozen_array(middle + com, (3,), "center of mass"), (inertia + inertia.T) / 2.0)
