"""Robots in xacro (https://github.com/ros/xacro/wiki): a processor of our own, which runs nothing of what it reads."""

from .reading import ENDING, expand_xacro, is_xacro, parse_xacro_args

__all__ = ["ENDING", "expand_xacro", "is_xacro", "parse_xacro_args"]
