"""All postures of a robot: in closed form where there is one, else from many starts."""

from .postures import PostureBatch, PostureProblem, Postures, all_postures

__all__ = ["PostureBatch", "PostureProblem", "Postures", "all_postures"]
