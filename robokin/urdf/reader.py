"""Reading URDF (http://wiki.ros.org/urdf/XML). Elements not of URDF itself (gazebo, transmission ...) are skipped."""

from __future__ import annotations

import logging
import math
import os
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ..arrays import shown
from ..errors import FileFormatError, ModelError
from ..files.resources import PackagePaths, ResourceFinder
from ..files.text_file import checked_path, read_bytes
from ..limit_warnings import limit_warnings
from ..model.drive import Drive
from ..model.joint_types import JOINT_TYPES
from ..model.robot import Joint, Link, Mimic, RobotModel, check_count
from .placement import read_placement
from .shapes import ShapeReader
from .xacro import ENDING, expand_xacro, is_xacro
from .xml import Element, parse_xml, shorten

logger = logging.getLogger(__name__)

TYPES = {t.urdf: t for t in JOINT_TYPES.values() if t.urdf}
WITH_RANGE = ("revolute", "prismatic")  # the joint types whose <limit> URDF requires, and whose range it states
WITH_AXIS = ("revolute", "continuous", "prismatic", "planar")
WORLD = "world"  # the link that files need not declare, as in Drake
OTHER_FORMATS = {"sdf": "SDF", "mujoco": "MuJoCo MJCF", "COLLADA": "COLLADA", "robot_model": "an old dialect"}


def load_urdf(
    path: str | os.PathLike,
    package_paths: PackagePaths = (),
    root: str = "fixed",
    xacro_args: Mapping[str, object] | None = None,
    drive: Drive | None = None,
) -> RobotModel:
    """The robot of a URDF file, or of a xacro file (.xacro; see `xacro`).

    package_paths: folders that hold (or are) the packages of package:// meshes; see `resources.ResourceFinder`.
    root: "fixed", "floating", "planar" or "wheeled", how the root link moves in the world.
    drive: the wheels of the root "wheeled"; None: they are looked for, and two are added where there are none.
    xacro_args: {name: value} of the arguments of a xacro file.
    A mesh that is not found is no error (kinematics needs none): its `path` is None; see `missing_meshes`.
    Raises FileFormatError naming file and line for everything that is not one well-formed robot; UnknownNameError for
    an argument that a xacro file does not know.
    """
    if is_xacro(checked_path(path, "a URDF file")):
        return _read_robot(expand_xacro(path, package_paths, xacro_args or {}), path, package_paths, root, drive)
    if xacro_args:
        raise FileFormatError(path, None, f"arguments are for xacro files ({ENDING})")
    return read_urdf_text(read_bytes(path, "a URDF file"), path, package_paths, root, drive)


def read_urdf_text(
    text: str | bytes,
    path: str | os.PathLike = "robot.urdf",
    package_paths: PackagePaths = (),
    root: str = "fixed",
    drive: Drive | None = None,
) -> RobotModel:
    """The robot of a URDF text. `path`: the file it came from or will be in, for relative meshes and messages."""
    if not isinstance(text, (str, bytes)):
        raise FileFormatError(checked_path(path, "a URDF"), None, f"must be text, not {shown(text)}")
    return _read_robot(parse_xml(text, checked_path(path, "a URDF")), path, package_paths, root, drive)


def _read_robot(
    document: Element, path: str | os.PathLike, package_paths: PackagePaths, root: str, drive: Drive | None
) -> RobotModel:
    _check_is_urdf(document)
    shapes = ShapeReader(document, ResourceFinder(path, package_paths))
    elements: dict[int, Element] = {}
    links: list[Link] = []
    joints: list[Joint] = []
    with document.blamed():
        check_count(len(document.all("link")))  # before they are read, which takes longer
    for element in document.all("link"):
        links.append(_read_link(element, shapes))
        elements[id(links[-1])] = element
    followable = {j.attributes.get("name") for j in document.all("joint") if j.attributes.get("type") != "fixed"}
    for element in document.all("joint"):
        joints.append(_without_lost_mimic(_read_joint(element), followable, element))
        elements[id(joints[-1])] = element
    if any(joint.parent == WORLD for joint in joints) and all(link.name != WORLD for link in links):
        links.append(Link(WORLD))
    name = document.attributes.get("name", "").strip() or Path(path).stem
    try:
        model = RobotModel(name, links, joints, root, drive)
    except ModelError as error:
        raise elements.get(id(error.about), document).error(str(error)) from None
    for warning in limit_warnings(model):
        logger.warning("%s: %s", os.fspath(path), warning)
    return model


def _check_is_urdf(document: Element) -> None:
    if document.tag != "robot":
        known = OTHER_FORMATS.get(document.tag)
        what = f"this is {known}, not URDF" if known else "not URDF"
        raise document.error(f"{what}: the outermost element is <{shorten(document.tag, quoted=False)}>, not <robot>")
    for element in document.walk():
        if element.tag.startswith("xacro:"):
            raise element.error(
                f"<{shorten(element.tag, quoted=False)}>: this is xacro source, not URDF: name the file "
                f"*{ENDING}, or expand it first (ros2 run xacro xacro in.xacro > out.urdf)"
            )


def _read_link(element: Element, shapes: ShapeReader) -> Link:
    name = element.text("name")
    mass, com, inertia = _read_inertial(element.child("inertial"))
    visuals = shapes.read_all(element, "visual")
    collisions = shapes.read_all(element, "collision")
    with element.blamed():
        return Link(name, mass, com, inertia, visuals, collisions)


def _read_inertial(element: Element | None) -> tuple[float, np.ndarray, np.ndarray]:
    """Mass, centre of mass and inertia in the axes of the link; a link without <inertial> has no mass."""
    if element is None:
        return 0.0, np.zeros(3), np.zeros((3, 3))
    mass = element.child("mass")
    if mass is None:
        logger.warning("%s", element.error(f"{element} has no <mass>: ignored"))
        return 0.0, np.zeros(3), np.zeros((3, 3))
    kilograms = mass.number("value")
    if kilograms < 0:
        raise mass.error(f"the mass must not be negative: {kilograms}")
    T_link_inertial = read_placement(element.child("origin"))
    entries = element.child("inertia")
    if entries is None:  # files for kinematics alone often have none; what shows a robot's inertia says so
        return kilograms, T_link_inertial[:3, 3], np.zeros((3, 3))
    xx, yy, zz = (entries.number(name) for name in ("ixx", "iyy", "izz"))
    xy, xz, yz = (entries.number(name, 0.0) for name in ("ixy", "ixz", "iyz"))
    own = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    R = T_link_inertial[:3, :3]
    inertia = R @ own @ R.T
    return kilograms, T_link_inertial[:3, 3], (inertia + inertia.T) / 2


def _read_joint(element: Element) -> Joint:
    name = element.text("name")
    word = element.text("type")
    if word not in TYPES:
        raise element.error(f"joint {shorten(name)}: unknown type {shorten(word)} (valid: {', '.join(TYPES)})")
    axis = element.child("axis") if word in WITH_AXIS else None
    fields: dict[str, Any] = {"axis": (1.0, 0.0, 0.0)} if word in WITH_AXIS else {}
    if axis is not None:
        fields["axis"] = axis.numbers("xyz", 3, (1.0, 0.0, 0.0))
        if not any(fields["axis"]):
            raise axis.error(f"joint {shorten(name)}: the axis is zero")
    dynamics = element.child("dynamics")
    if dynamics is not None:
        fields["damping"] = dynamics.number("damping", 0.0)
        fields["friction"] = dynamics.number("friction", 0.0)
    with element.blamed():
        return Joint(
            name=name,
            type=TYPES[word].name,
            parent=element.needed_child("parent").text("link"),
            child=element.needed_child("child").text("link"),
            placement=read_placement(element.child("origin")),
            # Reduced robots hold their grippers by renaming the type to "fixed"; what does not move cannot follow.
            mimic=None if word == "fixed" else _read_mimic(element.child("mimic")),
            **fields,
            **_read_limit(element, word),
        )


def _read_limit(joint: Element, word: str) -> dict[str, Any]:
    """Limits by their field names. URDF's planar and floating joints have none, as in Pinocchio."""
    element = joint.child("limit")
    if word not in (*WITH_RANGE, "continuous"):
        return {}
    if element is None:
        if word in WITH_RANGE:
            raise joint.error(f"{joint}: a {word} joint needs a <limit> (without limits its type is 'continuous')")
        return {}
    limits = {}
    for name in ("velocity", "effort", "acceleration"):
        value = element.number(name, 0.0, largest=math.inf)
        if value < 0:
            raise element.error(f"{joint}: the {name} limit must not be negative: {value}")
        limits[name] = value or np.inf
    if word in WITH_RANGE:
        # The specification's default for both is 0, also where only one of them is left out.
        # An infinite one, which converters write, becomes the largest number: it can be written again.
        ends = [element.number(end, 0.0, largest=math.inf) for end in ("lower", "upper")]
        limits["lower"], limits["upper"] = np.clip(ends, -sys.float_info.max, sys.float_info.max).tolist()
        if limits["lower"] > limits["upper"]:
            problem = f"the lower limit {limits['lower']} is above the upper limit {limits['upper']}"
            raise element.error(f"{joint}: {problem}")
    return limits


def _read_mimic(element: Element | None) -> Mimic | None:
    if element is None:
        return None
    return Mimic(element.text("joint"), element.number("multiplier", 1.0), element.number("offset", 0.0))


def _without_lost_mimic(joint: Joint, followable: set[str | None], element: Element) -> Joint:
    """The joint, moving on its own when what it mimics does not exist or is fixed: real robots have that fault."""
    if joint.mimic is None or joint.mimic.joint in followable:
        return joint
    logger.warning(
        "%s", element.error(f"joint {joint.name!r} mimics {joint.mimic.joint!r}, which is no moving joint; ignored")
    )
    return replace(joint, mimic=None)
