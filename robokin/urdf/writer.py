"""Writing URDF. Numbers are written so that reading gives the same bits; rotations to rounding (they become rpy)."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType

import numpy as np

from ..errors import ModelError
from ..files.text_file import write_text
from ..model.geometry import Box, Capsule, Cylinder, Geometry, Hull, Material, Mesh, RoundedBox, Shape, Sphere
from ..model.robot import Joint, Link, RobotModel
from ..spatial import so3
from ..spatial.se3 import placement
from .chains import chains, with_chains
from .reader import WITH_AXIS, WITH_RANGE
from .relocation import relocated
from .shapes import OWN

_ESCAPES = str.maketrans(
    {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\n": "&#10;", "\r": "&#13;", "\t": "&#9;"}
)


def save_urdf(model: RobotModel, path: str | os.PathLike) -> None:
    """Writes the robot to a file, whole or not at all. Mesh names are written as they were read, relative ones such
    that they name the same files from where `path` is.

    Raises ModelError for what URDF cannot say, FileFormatError when the file cannot be written.
    """
    write_text(path, urdf_text(relocated(model, path)))


def urdf_text(model: RobotModel, meshes: Mapping[Hull, Mesh] = MappingProxyType({})) -> str:
    """The robot as URDF. The root joint is not part of it (URDF robots are loaded on any root).

    Hulls, rounded boxes and capsules are read again as they are; other programs see a cylinder and two balls of a
    capsule, boxes around the others, or of hulls these `meshes`.
    A joint whose type URDF does not have is written as a chain of joints; the same q is then the same pose. Raises
    ModelError, naming the joint, for a type or range that URDF cannot say even so. What is changed or left out is
    listed by `urdf_losses`.
    """
    model = with_chains(model)
    lines = ['<?xml version="1.0" encoding="utf-8"?>', f'<robot name="{escape(model.name)}">']
    for link in model.links:
        lines += _link(link, meshes)
    for joint in model.joints[1:]:
        lines += _joint(joint)
    return "\n".join([*lines, "</robot>", ""])


def urdf_losses(model: RobotModel, meshes: Mapping[Hull, Mesh] = MappingProxyType({})) -> list[str]:
    """What URDF has no place for, one line per joint and field; empty when nothing is lost.

    Raises ModelError, naming the joint, for a type that no chain of URDF's joints stands for.
    """
    losses: list[str] = []
    for chain in chains(model):
        parts = ", ".join(f"{part.name!r} ({part.type})" for part in chain.parts)
        losses.append(f"joint {chain.joint.name!r}: URDF has no {chain.joint.type} joints; written as {parts}")
        if chain.joint.kind.has_cone and np.isfinite(chain.joint.upper).any():
            losses.append(f"joint {chain.joint.name!r}: URDF has no cones; its limits become those of the three angles")
    for link in model.links:
        shapes = [each.shape for each in (*link.visuals, *link.collisions)]
        for kind, what in ((RoundedBox, "rounded boxes"), (Hull, "hulls")):
            if any(isinstance(shape, kind) and shape not in meshes for shape in shapes):
                losses.append(f"link {link.name!r}: URDF has no {what}; other programs see boxes around them")
    for joint in with_chains(model).joints[1:]:
        word = joint.kind.urdf
        lost = {
            "rotor_inertia": joint.rotor_inertia != 0.0,
            "stiffness": joint.stiffness != 1.0,
            "rest_position": joint.rest_position is not None,
            "lower": word not in WITH_RANGE and np.isfinite(joint.lower).any(),
            "upper": word not in WITH_RANGE and np.isfinite(joint.upper).any(),
        }
        for name in ("velocity", "effort", "acceleration"):
            lost[name] = word in ("planar", "floating") and np.isfinite(getattr(joint, name)).any()
        losses += [f"joint {joint.name!r}: URDF has no {name} for it" for name, is_lost in lost.items() if is_lost]
    return losses


def _link(link: Link, meshes: Mapping[Hull, Mesh]) -> Iterator[str]:
    yield f'  <link name="{escape(link.name)}">'
    if link.mass or link.com.any() or link.inertia.any():
        (xx, xy, xz), (_, yy, yz), (_, _, zz) = link.inertia.tolist()
        yield "    <inertial>"
        yield f'      <origin xyz="{_numbers(link.com)}" rpy="0 0 0"/>'
        yield f'      <mass value="{_number(link.mass)}"/>'
        entries = {"ixx": xx, "ixy": xy, "ixz": xz, "iyy": yy, "iyz": yz, "izz": zz}
        yield f"      <inertia {_attributes(entries)}/>"
        yield "    </inertial>"
    for tag, shapes in (("visual", link.visuals), ("collision", link.collisions)):
        for geometry in shapes:
            for part, own in _plain(geometry, meshes):
                yield from _geometry(tag, part, own)
    yield "  </link>"


def _plain(geometry: Geometry, meshes: Mapping[Hull, Mesh]) -> list[tuple[Geometry, str]]:
    """The geometry with what URDF has shapes for: a mesh or box around others, of a capsule its cylinder and its ends;
    and what we read each as."""
    shape, T, centre = geometry.shape, geometry.placement, np.zeros(3)
    if isinstance(shape, Capsule):  # urdfdom drops all shapes of a link that has <capsule>
        own = f'<{OWN} radius="{_number(shape.radius)}" length="{_number(shape.length)}"/>'
        ball = Sphere(shape.radius)
        if not shape.length:
            return [(replace(geometry, shape=ball), own)]
        at = [placement(np.eye(3), np.array([0.0, 0.0, 0.5 * sign * shape.length])) for sign in (-1.0, 1.0)]
        ends = [(replace(geometry, name="", shape=ball, placement=T @ each), f"<{OWN}/>") for each in at]
        return [(replace(geometry, shape=Cylinder(shape.radius, shape.length)), own), *ends]
    if not isinstance(shape, RoundedBox | Hull):
        return [(geometry, "")]
    own, mesh = f'<{OWN} radius="{_number(shape.radius)}"', None
    if isinstance(shape, RoundedBox):
        size, own = np.array(shape.size), f"{own}/>"
    else:
        low, high = shape.points.min(axis=0), shape.points.max(axis=0)
        mesh = meshes.get(shape)
        size, centre = high - low, np.zeros(3) if mesh else 0.5 * (low + high)
        own = f'{own} points="{_numbers((shape.points - centre).ravel())}"/>'
    x, y, z = (size + 2.0 * shape.radius).tolist()
    around: Shape = mesh or Box((x, y, z))
    return [(replace(geometry, shape=around, placement=T @ placement(np.eye(3), centre)), own)]


def _geometry(tag: str, geometry: Geometry, own: str) -> Iterator[str]:
    name = f' name="{escape(geometry.name)}"' if geometry.name else ""
    yield f"    <{tag}{name}>"
    yield f"      {_origin(geometry.placement)}"
    yield f"      <geometry>{_shape(geometry.shape)}</geometry>"
    if tag == "visual" and geometry.material is not None:
        yield f"      {_material(geometry.material)}"
    if own:
        yield f"      {own}"
    yield f"    </{tag}>"


def _shape(shape: Shape) -> str:
    match shape:
        case Box(size):
            return f'<box size="{_numbers(size)}"/>'
        case Cylinder(radius, length):
            return f'<cylinder radius="{_number(radius)}" length="{_number(length)}"/>'
        case Sphere(radius):
            return f'<sphere radius="{_number(radius)}"/>'
        case Mesh(filename, scale):
            scaled = "" if tuple(scale) == (1.0, 1.0, 1.0) else f' scale="{_numbers(scale)}"'
            return f'<mesh filename="{escape(filename)}"{scaled}/>'
    raise ModelError(f"URDF has no {type(shape).__name__}")


def _material(material: Material) -> str:
    color = "" if material.rgba is None else f'<color rgba="{_numbers(material.rgba)}"/>'
    texture = "" if material.texture is None else f'<texture filename="{escape(material.texture)}"/>'
    return f'<material name="{escape(material.name)}">{color}{texture}</material>'


def _joint(joint: Joint) -> Iterator[str]:
    word = str(joint.kind.urdf)
    yield f'  <joint name="{escape(joint.name)}" type="{word}">'
    yield f"    {_origin(joint.placement)}"
    yield f'    <parent link="{escape(str(joint.parent))}"/>'
    yield f'    <child link="{escape(joint.child)}"/>'
    if word in WITH_AXIS:
        yield f'    <axis xyz="{_numbers(joint.axis)}"/>'
    limits = _limits(joint, word)
    if limits:
        yield f"    <limit {_attributes(limits)}/>"
    if joint.damping or joint.friction:
        yield f"    <dynamics {_attributes({'damping': joint.damping, 'friction': joint.friction})}/>"
    if joint.mimic is not None:
        numbers = {"multiplier": joint.mimic.multiplier, "offset": joint.mimic.offset}
        yield f'    <mimic joint="{escape(joint.mimic.joint)}" {_attributes(numbers)}/>'
    yield "  </joint>"


def _limits(joint: Joint, word: str) -> dict[str, float]:
    """The attributes of <limit>. Effort and velocity are always among them: other readers insist; 0: not stated."""
    limits: dict[str, float] = {}
    if word not in (*WITH_RANGE, "continuous"):
        return limits
    if word in WITH_RANGE:
        if not (np.isfinite(joint.lower).all() and np.isfinite(joint.upper).all()):
            hint = "; without limits its type is continuous" if word == "revolute" else ""
            raise ModelError(
                f"joint {joint.name!r}: URDF needs finite lower and upper limits of a {word} joint, "
                f"not {joint.lower[0]} and {joint.upper[0]}{hint}",
                joint,
            )
        limits = {"lower": joint.lower[0], "upper": joint.upper[0]}
    rates = {name: getattr(joint, name)[0] for name in ("effort", "velocity", "acceleration")}
    stated = {name: value if np.isfinite(value) else 0.0 for name, value in rates.items()}
    if not stated["acceleration"]:
        del stated["acceleration"]
    return limits | stated if word in WITH_RANGE or any(stated.values()) else {}


def _origin(T: np.ndarray) -> str:
    return f'<origin xyz="{_numbers(T[:3, 3])}" rpy="{_numbers(so3.to_rpy(T[:3, :3]))}"/>'


def _attributes(values: dict[str, float]) -> str:
    return " ".join(f'{name}="{_number(value)}"' for name, value in values.items())


def _numbers(values: Iterable[float]) -> str:
    return " ".join(map(_number, values))


def _number(value: float) -> str:
    """The shortest text that reads back as the same float64."""
    text = repr(float(value) + 0.0)  # -0.0 becomes 0.0
    return text.removesuffix(".0")


def escape(text: str) -> str:
    """`text` as the value of an XML attribute. Raises ModelError for characters that XML cannot hold."""
    if any((ord(c) < 32 and c not in "\t\n\r") or 0xD800 <= ord(c) < 0xE000 or c in "\ufffe\uffff" for c in text):
        raise ModelError(f"the name {text!r} has characters that XML cannot hold")
    return text.translate(_ESCAPES)
