"""The two implementations of kinematics and dynamics: the C kernel ("native") and its NumPy reference ("numpy")."""

from __future__ import annotations

import enum
import os
from functools import lru_cache
from typing import TYPE_CHECKING, Protocol

from ..arrays import Array, shown
from ..errors import BackendError
from ..model.tree import Tree

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

NAMES = ("auto", "native", "numpy")
ENVIRONMENT_VARIABLE = "ROBOKIN_BACKEND"
STANDARD_GRAVITY = (0.0, 0.0, -9.81)


class Reference(enum.IntEnum):
    """The frame that the columns of a frame Jacobian are expressed in; the values are those of `enum rk_reference`."""

    WORLD = 0  # twist of the body point at the origin of the root frame, axes of the root frame
    LOCAL = 1  # twist of the frame's origin, axes of the frame
    LOCAL_WORLD_ALIGNED = 2  # twist of the frame's origin, axes of the root frame


class Backend(Protocol):
    """Functions of a compiled tree. Arguments are trusted (see `RobotModel.check_configuration`).

    q is (nq,) or (b, nq), v and a alike with nv; results get the same leading axis. Positions are in the root frame,
    SI and radians; twists are linear part first; frames are the links, in the model's order.
    """

    name: str

    def node_placements(self, tree: Tree, q: Array) -> Array:
        """(n, 12) T_root_node of every node: rotation row-major, then translation."""

    def frame_placements(self, tree: Tree, q: Array) -> Array:
        """(f, 4, 4) T_root_link of every link."""

    def frame_jacobian(self, tree: Tree, q: Array, frame: int, reference: int) -> Array:
        """(6, nv) twist of the frame per unit of v, linear rows first; `reference` is a `Reference`."""

    def center_of_mass(self, tree: Tree, q: Array) -> Array:
        """(3,) [m], of all links; NaN when the robot has no mass."""

    def center_of_mass_jacobian(self, tree: Tree, q: Array) -> Array:
        """(3, nv) velocity of the centre of mass per unit of v."""

    def mass_matrix(self, tree: Tree, q: Array) -> Array:
        """(nv, nv) M(q), symmetric."""

    def inverse_dynamics(
        self, tree: Tree, q: Array, v: Array, a: Array, gravity: ArrayLike = STANDARD_GRAVITY
    ) -> Array:
        """(nv,) generalised force M(q) a + C(q, v) v + g(q); `gravity`: (3,) [m/s^2] in the root frame."""

    def effort_derivatives(self, tree: Tree, q: Array, v: Array, a: Array, z: Array, gravity: ArrayLike) -> Array:
        """(6, nv, nv) by columns: of inverse_dynamics along displacements of q and along v; of the gradients of
        z . inverse_dynamics, z (nv,), along q, v and a, along displacements; and of that along v, along v."""

    def integrate(self, tree: Tree, q: Array, v: Array) -> Array:
        """(nq,) configuration reached from q by the constant velocity v in unit time."""

    def difference(self, tree: Tree, q0: Array, q1: Array) -> Array:
        """(nv,) v with integrate(q0, v) = q1 (quaternions up to sign); rotations at most pi."""


def get_backend(name: str = "auto") -> Backend:
    """The backend called `name`: "native", "numpy", or "auto".

    "auto" is what the environment variable ROBOKIN_BACKEND names, else native when the kernel loads, else numpy with
    one logged warning that says why. Raises BackendError for another name, or when "native" cannot be loaded.
    """
    said_by = ""
    if not isinstance(name, str):
        raise BackendError(f"a backend is named by a text (valid: {', '.join(NAMES)}), not by {shown(name)}")
    if name == "auto" and os.environ.get(ENVIRONMENT_VARIABLE):
        name, said_by = os.environ[ENVIRONMENT_VARIABLE], f"{ENVIRONMENT_VARIABLE}: "
    if name not in NAMES:
        raise BackendError(f"{said_by}no backend is called {name!r} (valid: {', '.join(NAMES)})")
    if name == "auto":
        return _best()
    return _numpy() if name == "numpy" else _native()


def _numpy() -> Backend:
    from . import reference

    return reference


def _native() -> Backend:
    from .native import load

    return load()


@lru_cache(maxsize=1)
def why_no_kernel() -> str:
    """Why the native kernel cannot be loaded; "" where it is."""
    try:
        _native()
    except BackendError as reason:
        return str(reason)
    return ""


@lru_cache(maxsize=1)
def _best() -> Backend:
    if not why_no_kernel():
        return _native()
    import logging

    logging.getLogger(__name__).warning(f"the native kernel is not used, NumPy takes over (slower): {why_no_kernel()}")
    return _numpy()


__all__ = ["ENVIRONMENT_VARIABLE", "NAMES", "STANDARD_GRAVITY", "Backend", "Reference", "get_backend", "why_no_kernel"]
