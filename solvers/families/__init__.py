"""All postures of a robot: closed forms of the armature families, many starts for other robots."""

from .postures import PostureBatch, PostureProblem, Postures, all_postures

__all__ = ["PostureBatch", "PostureProblem", "Postures", "all_postures"]
