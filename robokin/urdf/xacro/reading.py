"""The robot of a xacro file."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping

from ...errors import ConfigurationError, ModelError, UnknownNameError
from ...files.resources import PackagePaths, ResourceFinder
from ..xml import Element, shorten

ENDING = ".xacro"


def is_xacro(path: str | os.PathLike) -> bool:
    return os.fspath(path).lower().endswith(ENDING)


def parse_xacro_args(texts: Iterable[str]) -> dict[str, str]:
    """{name: value} of texts `name:=value`. Raises ConfigurationError."""
    found: dict[str, str] = {}
    for text in texts:
        name, mark, value = text.partition(":=")
        if not mark or not name.strip():
            raise ConfigurationError(f"xacro argument {shorten(text)} is not name:=value")
        found[name.strip()] = value
    return found


def expand_xacro(path: str | os.PathLike, package_paths: PackagePaths = (), args: Mapping[str, object] = {}) -> Element:
    """The elements of URDF that a xacro file makes, each with the file and line that it comes from.

    $(find NAME) is found as package://NAME is, without ROS. Parts of the file that URDF does not know (gazebo,
    transmission, ros2_control) are left out. Expressions are evaluated by `expression`, which runs nothing.
    Raises FileFormatError with file and line; UnknownNameError for an argument that no <xacro:arg> asks for.
    """
    # A URDF needs neither of them.
    from .expansion import Expansion
    from .substitution import Substitution

    texts = Substitution(os.fspath(path), ResourceFinder(path, package_paths), {k: str(v) for k, v in args.items()})
    expansion = Expansion(texts)
    try:
        robot = expansion.robot()
    except ModelError as fault:
        raise expansion.at.error(" ".join(str(fault).split())) from None
    for name in args:
        if name not in texts.args_used:
            raise UnknownNameError("xacro argument", name, sorted(texts.args_used))
    return robot
