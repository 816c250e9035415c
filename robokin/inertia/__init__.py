"""Mass, centre of mass and inertia of rigid bodies: of shapes and meshes, combined, and whether they can be."""

from .body import Body, combined, link_body, total_body
from .bounds import body_around
from .mesh import MeshBody, Solidity, convex_body, mesh_body
from .plausibility import implausible_inertia, implausible_links, inertia_warnings, principal_moments
from .shapes import box, capsule, cone, cylinder, ellipsoid, hollow_sphere, shape_body, sphere
