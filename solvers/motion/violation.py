"""What a check complains of."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Violation:
    """A limit broken at one sample. frame: index of the sample. joint: its name, "joint/x" for one of several
    coordinates; of a collision the names of the two. kind: lower, upper, velocity, acceleration, jerk, effort,
    power, tool speed, tool acceleration (of a link), tipping, slip or collision. value, limit: SI, in `unit`; of a
    velocity, an acceleration or an effort the value has its sign and the limit is the bound on its size. A
    spherical joint has "joint/twist", and "joint/swing" with its swing as a share of the cone. Slip: by how much a
    wheel has not rolled since the sample before what its base has moved; the limit is what rounding explains.
    Collision: `links`, two or a link and an obstacle, are minus `value` deep in each other; `half`: half-way to the
    next sample. Singularity, which is no limit: joint is the task, value the smallest singular value, limit the
    threshold; `why`: which singularity is near."""

    frame: int
    joint: str
    kind: str
    value: float
    limit: float
    unit: str = ""
    links: tuple[str, ...] = ()
    half: bool = False
    why: str = ""

    def sentence(self) -> str:
        """In words."""
        if self.kind == "singularity":
            return f"{self.joint} is near a singularity, smallest singular value {self.value:.3f}: {self.why}"
        if self.kind == "tipping":
            return f"the robot tips: its zero-moment point is {self.value:.4g} m outside of what it stands on"
        if self.links:
            return f"{self.links[0]} is {-self.value:.4g} {self.unit} deep in {self.links[1]}"
        return f"{self.kind} of {self.joint} is {self.value:.4g} {self.unit}, allowed {self.limit:.4g} {self.unit}"

    def to_dict(self) -> dict:
        return {
            "frame": self.frame,
            "joint": self.joint,
            "kind": self.kind,
            "value": self.value,
            "limit": self.limit,
            "unit": self.unit,
            **({"why": self.why} if self.why else {}),
            **({"links": list(self.links), "depth": -self.value, "half_frame": self.half} if self.links else {}),
        }
