"""Where the links are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from .arrays import Array
from .backend import get_backend
from .errors import ModelError
from .model.robot import RobotModel, checked_model


class FramePlacements(Mapping[str, Array]):
    """Link name -> (4, 4) T_root_link. `array`: (f, 4, 4), all of them in the model's order.

    Raises UnknownNameError for a link that the robot does not have.
    """

    def __init__(self, model: RobotModel, array: Array) -> None:
        self._model = model
        self.array = array

    def __getitem__(self, link: str) -> Array:
        return self.array[self._model.link_index(link)]

    def get(self, link: str, default: Any = None) -> Any:
        return self[link] if link in self else default

    def __contains__(self, link: object) -> bool:
        return link in self._model.link_names

    def __iter__(self) -> Iterator[str]:
        return iter(self._model.link_names)

    def __len__(self) -> int:
        return len(self.array)


def forward_kinematics(model: RobotModel, q: Array, *, backend: str = "auto") -> FramePlacements:
    """Placement of every link in the root frame [m]. Raises ConfigurationError for a bad q (nq,)."""
    q = checked_model(model).check_configuration(q)
    return FramePlacements(model, get_backend(backend).frame_placements(model.tree, q))


def center_of_mass(model: RobotModel, q: Array, *, backend: str = "auto") -> Array:
    """(3,) centre of mass of the whole robot in the root frame [m].

    Raises ConfigurationError for a bad q, ModelError when no link has a mass.
    """
    q = checked_model(model).check_configuration(q)
    require_mass(model)
    return get_backend(backend).center_of_mass(model.tree, q)


def require_mass(model: RobotModel) -> None:
    """Raises ModelError when no link has a mass: there is no centre of mass then."""
    if model.total_mass == 0.0:
        raise ModelError(f"robot {model.name!r} has no center of mass: no link has a mass")


def rest_placements(model: RobotModel) -> list[Array]:
    """(4, 4) T_root_link [m] of each link at the neutral configuration."""
    places: list[Array] = []
    for joint in model.joints:
        parent = np.eye(4) if joint.parent is None else places[model.link_index(joint.parent)]
        places.append(parent @ joint.placement)
    return places
