"""Which shapes of a robot and of what stands around it may not touch, and where they do."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..arrays import Array, frozen_array, frozen_placement, shown
from ..backend import get_backend
from ..configuration import random_configuration
from ..errors import ConfigurationError, ModelError, UnknownNameError
from ..model.geometry import Mesh
from ..model.robot import RobotModel, checked_model
from ..model.tree import ROOT
from ..spatial import se3
from .core import core
from .pairs import distances
from .reference.distances import FAILED
from .shapes import CollisionShape

SAMPLES = 256  # configurations that show which links always touch
STEADY = 1e-3  # [m] by which a distance may change that is always the same
MeshPoints = Callable[[Mesh], CollisionShape | None]


@dataclass(frozen=True, eq=False)
class Obstacle:
    """A shape that is not the robot's. placement: (4, 4) T_root_shape [m], or (F, 4, 4), one for each frame."""

    name: str
    shape: CollisionShape
    placement: Array = field(default_factory=lambda: np.eye(4))

    def __post_init__(self) -> None:
        what = f"placement of {self.name!r}"
        try:
            placement = np.asarray(self.placement, float)
        except (TypeError, ValueError):
            placement = np.empty(0)
        if placement.ndim not in (2, 3) or placement.shape[-2:] != (4, 4):
            raise ModelError(f"{what} must have shape (4, 4) or (frames, 4, 4)")
        for each in placement.reshape(-1, 4, 4):
            frozen_placement(each, what)
        object.__setattr__(self, "placement", frozen_array(placement, placement.shape, what))


@dataclass(frozen=True)
class Contact:
    """Two that are in each other, at one sample. names: of link and link, or link and obstacle. depth [m]: by how much
    one has to move to be free."""

    sample: int
    names: tuple[str, str]
    depth: float


@dataclass(frozen=True)
class Near:
    """Two that are near each other, or in each other. names: as of a contact. distance [m]: negative inside."""

    names: tuple[str, str]
    distance: float

    def sentence(self) -> str:
        a, b = self.names
        return f"{a} is {abs(self.distance):.3g} m {'from' if self.distance >= 0.0 else 'deep in'} {b}"


class CollisionModel:
    """The links' collision shapes and obstacles around them; all pairs of links count, and each link with each
    obstacle, but for links that a joint connects (also over links without shapes), for links of one rigid body, and for
    `disabled` pairs of names.

    hull: the shape in place of a mesh; without it, or where it gives None, meshes are left out (`left_out` names their
    links). cores: those of the links' shapes, then of the obstacles: what `pairs` are indices of.   placed: (index of
    its link, (4, 4) T_link_shape) of each shape of a link. Raises ModelError for a shape that cannot be,
    UnknownNameError for a disabled pair of unknown names.
    """

    def __init__(
        self,
        model: RobotModel,
        obstacles: Sequence[Obstacle] = (),
        disabled: Iterable[tuple[str, str]] = (),
        hull: MeshPoints | None = None,
    ) -> None:
        self.model, self.obstacles = checked_model(model), _checked_obstacles(obstacles)
        self._avoidable: CollisionModel | None = None
        self.placed: list[tuple[int, Array]] = []
        self.left_out: list[str] = []
        shapes: list[CollisionShape] = []
        for index, link in enumerate(model.links):
            for geometry in link.collisions:
                shape = geometry.shape
                found = (hull(shape) if hull else None) if isinstance(shape, Mesh) else shape
                if found is None:
                    self.left_out.append(link.name)
                    continue
                shapes.append(found)
                self.placed.append((index, geometry.placement))
        self._count = len(shapes)
        self.cores = tuple(core(shape) for shape in (*shapes, *(obstacle.shape for obstacle in self.obstacles)))
        names = [obstacle.name for obstacle in self.obstacles]
        self.names, known = (*(model.link_names[i] for i, _ in self.placed), *names), {*model.link_names, *names}
        off = {frozenset(pair) for pair in _checked_pairs(disabled)}
        for name in {name for pair in off for name in pair} - known:
            raise UnknownNameError("link or obstacle", name, sorted(known))
        self.pairs = self._pairs(off)

    @property
    def is_empty(self) -> bool:
        """There is no pair that could touch."""
        return not len(self.pairs)

    def distances(
        self, q: Array, within: float = np.inf, backend: str = "auto", obstacles: Array | None = None
    ) -> tuple[Array, Array]:
        """All pairs at configurations (F, nq): (F, pairs, 10) value, points and normal in the root frame, as in
        `Distance`; (F, pairs) status. Pairs that are farther apart than `within` are not looked at closely.
        obstacles: (obstacles, 4, 4) where they are, in place of their own placements."""
        return distances(self.cores, self._placements(q, backend, obstacles), self.pairs, within, backend)

    def checked_distances(
        self, q: Array, within: float = np.inf, backend: str = "auto", obstacles: Array | None = None
    ) -> tuple[Array, Array]:
        """`distances`. Raises ModelError where one cannot be found: it is not taken as free."""
        out, status = self.distances(q, within, backend, obstacles)
        if (status == FAILED).any():
            sample, pair = np.argwhere(status == FAILED)[0]
            raise self.not_found(int(pair), f" at sample {sample}")
        return out, status

    def not_found(self, pair: int, where: str = "") -> ModelError:
        """The error: the distance of a pair, by its number, cannot be found."""
        a, b = (self.names[i] for i in self.pairs[pair])
        return ModelError(f"the distance of {a!r} and {b!r} cannot be found{where}")

    def near(self, pair: int, distance: float) -> Near:
        """A pair, by its number, at a distance [m]."""
        a, b = self.pairs[pair]
        return Near((self.names[a], self.names[b]), float(distance))

    def nearest(self, q: Array, within: float, backend: str = "auto", obstacles: Array | None = None) -> Near | None:
        """The nearest two at a configuration (nq,), of those nearer than `within` [m]; None: there are none. obstacles:
        as of `distances`. Raises ModelError."""
        values = self.checked_distances(q[None], within, backend, obstacles)[0][0, :, 0]
        if not len(values) or values.min() >= within:
            return None
        worst = int(values.argmin())
        return self.near(worst, values[worst])

    def links_of(self, pair: int) -> tuple[str | None, str | None]:
        """The names of the two links of a pair, by its number; None for an obstacle."""
        a, b = self.pairs[pair]
        return (self.names[a] if a < self._count else None), (self.names[b] if b < self._count else None)

    def obstacles_of(self, pair: int) -> list[int]:
        """The numbers of the obstacles of a pair."""
        return [int(each) - self._count for each in self.pairs[pair] if each >= self._count]

    def _placements(self, q: Array, backend: str = "auto", obstacles: Array | None = None) -> Array:
        if np.ndim(q) != 2:
            raise ConfigurationError(f"configurations must have shape (frames, {self.model.nq}), not {np.shape(q)}")
        placements = np.empty((len(q), len(self.cores), 4, 4))
        if self._count:
            frames = get_backend(backend).frame_placements(self.model.tree, np.ascontiguousarray(q))
            links, own = zip(*self.placed, strict=True)
            placements[:, : self._count] = frames[:, links] @ np.stack(own)
        placements[:, self._count :] = self.obstacle_placements(len(q), obstacles)
        return placements

    def obstacle_placements(self, count: int, given: Array | None = None) -> Array:
        """(count, obstacles, 4, 4) where the obstacles are in so many frames. given: (obstacles, 4, 4) in place of
        their own placements. Raises ConfigurationError for obstacles of another number of frames."""
        placements = np.empty((count, len(self.obstacles), 4, 4))
        for i, obstacle in enumerate(self.obstacles):
            own = obstacle.placement if given is None else given[i]
            if own.ndim == 3 and len(own) != count:
                raise ConfigurationError(f"{obstacle.name!r} has placements for {len(own)} frames, not for {count}")
            placements[:, i] = own
        return placements

    def balls(self) -> list[tuple[int | None, Array, float]]:
        """Around each shape: the index of its link, centre (3,) in the link's frame [m] and radius [m]. None: an
        obstacle, whose centre is in its own frame."""
        own = [*self.placed, *((None, np.eye(4)) for _ in self.obstacles)]
        return [
            (link, T[:3, :3] @ core.centre + T[:3, 3], core.bound)
            for (link, T), core in zip(own, self.cores, strict=True)
        ]

    def contacts(self, q: Array) -> list[Contact]:
        """Where links are in each other or in obstacles, at configurations (F, nq); of two with several shapes the
        deepest. Raises ModelError where a distance cannot be found: it is not taken as free."""
        if self.is_empty:
            return []
        out, _ = self.checked_distances(q, within=0.0)
        deepest: dict[tuple[int, tuple[str, str]], float] = {}
        for sample, pair in np.argwhere(out[..., 0] < 0.0):
            key = int(sample), (self.names[self.pairs[pair, 0]], self.names[self.pairs[pair, 1]])
            deepest[key] = max(deepest.get(key, 0.0), -float(out[sample, pair, 0]))
        return [Contact(sample, names, depth) for (sample, names), depth in deepest.items()]

    def halfway(self) -> CollisionModel:
        """A copy with each obstacle that moves half-way between its placements, one less of them."""
        return self.among(
            [
                replace(each, placement=_middles(each.placement)) if each.placement.ndim == 3 else each
                for each in self.obstacles
            ]
        )

    def among(self, obstacles: Sequence[Obstacle]) -> CollisionModel:
        """A copy with its obstacles elsewhere: as many, of the same names and shapes."""
        other = copy(self)
        other.obstacles, other._avoidable = tuple(obstacles), None
        return other

    def avoidable(self) -> CollisionModel:
        """A copy without the pairs of which no joint moves one: obstacles and links that are fixed to the root.

        It is the same one at each call, so that tasks and criteria that are made again are known.
        """
        if self._avoidable is not None:
            return self._avoidable
        other, tree = copy(self), self.model.tree
        is_fixed = np.ones(len(self.cores), bool)
        is_fixed[: self._count] = [tree.frame_node[link] == ROOT for link, _ in self.placed]
        other.pairs = self.pairs[~is_fixed[self.pairs].all(axis=1)]
        self._avoidable = other._avoidable = other
        return other

    def touching_at_rest(self) -> list[tuple[str, str]]:
        """Pairs of links that are in each other at the neutral configuration. Raises ModelError, as `contacts`."""
        return [contact.names for contact in self.contacts(self.model.neutral()[None])]

    def always_near(self, within: float, samples: int = SAMPLES, seed: int = 0) -> list[tuple[str, str]]:
        """Pairs of links that are in each other at every one of so many random configurations, or nearer than `within`
        [m] by always the same distance, to 1 mm and a fifth of `within`: no motion keeps them that far apart, and none
        drives one into the other."""
        rng = np.random.default_rng(seed)
        q = np.stack([random_configuration(self.model, rng) for _ in range(samples)])
        own = self.pairs[(self.pairs < self._count).all(axis=1)]
        placements = self._placements(q)[:, : self._count]
        out, _ = distances(self.cores[: self._count], placements, own, within)
        apart = {tuple(self.names[i] for i in pair): np.full(samples, np.inf) for pair in own}
        for pair, values in zip(own, out[..., 0].T, strict=True):
            names = tuple(self.names[i] for i in pair)
            apart[names] = np.minimum(apart[names], values)
        steady = min(STEADY, 0.2 * within)
        return [pair for pair, at in apart.items() if at.max() < 0.0 or (at.max() < within and np.ptp(at) < steady)]

    def _pairs(self, off: set[frozenset[str]]) -> Array:
        body, beside = self._bodies()
        pairs = []
        for a in range(self._count):
            for b in range(a + 1, len(self.cores)):
                if frozenset((self.names[a], self.names[b])) in off:
                    continue
                if b < self._count:
                    one, other = body[self.placed[a][0]], body[self.placed[b][0]]
                    if one == other or (one, other) in beside:
                        continue
                pairs.append((a, b))
        return np.array(pairs, np.int32).reshape(-1, 2)

    def _bodies(self) -> tuple[list[int], set[tuple[int, int]]]:
        """The rigid body of each link, by number; pairs of bodies that a joint connects, also over bodies without
        shapes."""
        index = {name: i for i, name in enumerate(self.model.link_names)}
        body = list(range(len(self.model.links)))
        above: dict[int, int] = {}
        for joint in self.model.joints:  # parents first
            if joint.parent is None:
                continue
            parent, child = body[index[joint.parent]], index[joint.child]
            if joint.nv == 0 and joint.mimic is None:
                body[child] = parent
            else:
                above[child] = parent
        has_shape = {body[i] for i, _ in self.placed}
        beside = set()
        for child in has_shape:
            over = above.get(child)
            while over is not None and over not in has_shape:
                over = above.get(over)
            if over is not None:
                beside |= {(child, over), (over, child)}
        return body, beside


def _middles(T: Array) -> Array:
    """(n - 1, 4, 4) half-way between each of n placements and the next."""
    return T[:-1] @ se3.exp(0.5 * se3.log(se3.inverse(T[:-1]) @ T[1:]))


def _checked_obstacles(obstacles: object) -> tuple[Obstacle, ...]:
    if not isinstance(obstacles, Iterable):
        raise ModelError(f"obstacles must be a list of Obstacle, not {shown(obstacles)}")
    found = tuple(obstacles)
    for each in found:
        if not isinstance(each, Obstacle):
            raise ModelError(f"obstacles must be a list of Obstacle; {shown(each)} is none")
    return found


def _checked_pairs(disabled: object) -> list[tuple[str, str]]:
    is_one = isinstance(disabled, str) or not isinstance(disabled, Iterable)
    pairs: list[Any] = [disabled] if is_one else list(disabled)  # type: ignore[call-overload]
    for pair in pairs:
        is_pair = isinstance(pair, Collection) and not isinstance(pair, str) and len(pair) == 2
        if not is_pair or not all(isinstance(name, str) for name in pair):
            raise ModelError(f"disabled must be pairs of names of links or obstacles, not {shown(pair)}")
    return pairs
