"""Mass, centre of mass and inertia of rigid bodies: of shapes and meshes, combined, and whether they can be."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .body import Body, combined, link_body, total_body
    from .bounds import body_around
    from .mesh import MeshBody, Solidity, convex_body, mesh_body
    from .plausibility import implausible_inertia, implausible_links, inertia_warnings, principal_moments
    from .shapes import box, capsule, cone, cylinder, ellipsoid, hollow_sphere, shape_body, sphere
else:
    from ..lazy import exports

    __getattr__, __dir__, __all__ = exports(__name__)
