"""The fields that a person edits on a bone (`Bone.robokin`), against the record they edit.

Fields are single precision, the record is double: a field counts as edited when it differs from the record's value
rounded to single precision, so an untouched robot keeps its exact numbers.
"""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ....robokin.model.drive import Drive
from ....robokin.model.joint_types import JOINT_TYPES, JointType
from ....robokin.model.robot import Mimic
from .stored import BoneRecord

if TYPE_CHECKING:
    import bpy

BOUNDS = ("lower", "upper", "velocity", "effort", "acceleration")
# Degrees of freedom whose bounds can be edited: all of every joint but a floating one, of which the three lengths.
FREEDOMS = 3
# The axes of a universal or gimbal joint that has its own; the fields of a Drive.
AXES = ("axis_1", "axis_2", "axis_3")
DRIVE = ("wheel_left", "wheel_right", "wheel_radius", "wheel_separation")
NUMBERS = ("pitch", "damping", "friction", "rotor_inertia", "stiffness")
_LARGEST = float(np.finfo(np.float32).max)
_ABSENT = {"lower": -math.inf}
_UPPER_TRIANGLE = np.triu_indices(3)


def bound_field(name: str, freedom: int) -> str:
    """The field of a bound of a degree of freedom: "lower", "lower_2", "lower_3"."""
    return name if freedom == 0 else f"{name}_{freedom + 1}"


def order_field(kind: JointType) -> str:
    """The field of the order in which a joint of a type with `orders` turns."""
    return f"{kind.name}_order"


_BOUND_FIELDS = tuple((name, freedom, bound_field(name, freedom)) for name in BOUNDS for freedom in range(FREEDOMS))
ORDERED = tuple(kind for kind in JOINT_TYPES.values() if kind.orders)


def field_values(record: BoneRecord) -> dict[str, Any]:
    """Every field of `RobokinJoint` with the value the record gives it, in double precision.

    An absent bound shows as `use_... = False` and 0, one that single precision has no number for as the largest one.
    """
    joint, link = record.joint, record.link
    values: dict[str, Any] = {"joint_type": joint.type, "axis": tuple(joint.axis)}
    for name, freedom, field in _BOUND_FIELDS:
        bound = getattr(joint, name)
        present = freedom < len(bound) and math.isfinite(bound[freedom])
        value = float(bound[freedom]) if present else 0.0
        values |= {f"use_{field}": present, field: min(max(value, -_LARGEST), _LARGEST)}
    values |= {order_field(kind): (kind is joint.kind and joint.order) or kind.orders[0] for kind in ORDERED}
    axes = np.eye(3)
    if joint.kind.orders:
        axes[: joint.nv] = [step.axis for step in joint.kind.decompose(joint)]
    values |= {"use_axes": joint.axes is not None}
    values |= {name: tuple(axis) for name, axis in zip(AXES, axes.tolist(), strict=True)}
    values |= dict(zip(DRIVE, dataclasses.astuple(joint.drive) if joint.drive else ("", "", 0.0, 0.0), strict=True))
    values |= {name: getattr(joint, name) for name in NUMBERS}
    values |= {"use_rest_position": joint.rest_position is not None, "rest_position": joint.rest_position or 0.0}
    mimic = joint.mimic or Mimic("")
    values |= {"mimic_joint": mimic.joint, "mimic_multiplier": mimic.multiplier, "mimic_offset": mimic.offset}
    values |= {"link": link.name, "mass": link.mass, "com": tuple(link.com)}
    values |= {"inertia": tuple(link.inertia[_UPPER_TRIANGLE]), "locked": record.locked}
    return values


# Of these a person has always chosen one: only a damaged file has none.
CHOICES = {"joint_type", *(order_field(kind) for kind in ORDERED)}

FIELDS: tuple[str, ...] = (
    "joint_type",
    "axis",
    *(name for _, _, field in _BOUND_FIELDS for name in (f"use_{field}", field)),
    *(order_field(kind) for kind in ORDERED),
    "use_axes",
    *AXES,
    *DRIVE,
    *NUMBERS,
    "use_rest_position",
    "rest_position",
    "mimic_joint",
    "mimic_multiplier",
    "mimic_offset",
    "link",
    "mass",
    "com",
    "inertia",
    "locked",
)


def read_fields(settings: bpy.types.PropertyGroup) -> tuple[Any, ...]:
    """The values of FIELDS as they stand on a bone, hashable; () when the bone's fields were never written."""
    if settings.version == 0:
        return ()
    values = [getattr(settings, name) for name in FIELDS]
    return tuple(v if isinstance(v, (str, bool, float)) else tuple(v) for v in values)


def stored_fields(bone: bpy.types.Bone) -> dict:
    """What Blender stores of the fields, in whatever form: equal means unchanged. Much faster than reading them."""
    # Blender 5 keeps registered properties apart from custom ones.
    store = bone.bl_system_properties_get() if hasattr(bone, "bl_system_properties_get") else bone
    group = store.get("robokin") if store is not None else None
    return {} if group is None else group.to_dict()


def write_fields(settings: bpy.types.PropertyGroup, record: BoneRecord, version: int) -> None:
    """Rebuild the fields from the record."""
    settings.version = 0
    for name, value in field_values(record).items():
        setattr(settings, name, value)
    settings.version = version


def edited_record(record: BoneRecord, shown: tuple[Any, ...]) -> BoneRecord:
    """The record with the edited fields in it. Raises ModelError when they cannot be a joint or link."""
    if not shown:
        return record
    recorded = field_values(record)
    edits = {
        name: _shortest(value)
        for name, value in zip(FIELDS, shown, strict=True)
        if _single(value) != _single(recorded[name]) and not (value == "" and name in CHOICES)
    }
    if not edits:
        return record
    values = recorded | edits
    joint, link = _joint(record, values, edits), _link(record, values, edits)
    return dataclasses.replace(record, joint=joint, link=link, locked=values["locked"])


def becomes_ball(record: BoneRecord, joint_type: str) -> bool:
    """Whether that type turns a joint of another type into a ball, for which the axis that it has says nothing."""
    return JOINT_TYPES[joint_type].has_cone and not record.joint.kind.has_cone


def twist_along_bone(settings: bpy.types.PropertyGroup, record: BoneRecord) -> None:
    """Let the fields of a joint that has just become a ball say the axis of a ball made anew, unless one was given."""
    given = _single(tuple(settings.axis)) != _single(tuple(record.joint.axis))
    if becomes_ball(record, settings.joint_type) and not given:
        settings.axis = tuple(record.along)


def _joint(record: BoneRecord, values: dict, edits: dict) -> Any:
    joint = record.joint
    kind = JOINT_TYPES[values["joint_type"]]
    changes: dict[str, Any] = {name: edits[name] for name in NUMBERS if name in edits}
    changes |= {"type": kind.name, "order": values[order_field(kind)] if kind.orders else ""}
    if "axis" in edits:
        changes["axis"] = np.array(values["axis"])
    changes["axes"] = None
    if kind.orders and values["use_axes"]:
        changes["axes"] = np.array([values[name] for name in AXES[: kind.nv]])
    changes["drive"] = _drive(values) if kind.name == "wheeled" else None
    for name in BOUNDS:
        bound = np.full(kind.nv, _ABSENT.get(name, math.inf))
        if kind.nv == joint.nv:
            bound[:] = getattr(joint, name)
        for freedom in range(min(kind.nv, FREEDOMS)):
            field = bound_field(name, freedom)
            if kind.nv != joint.nv or edits.keys() & {field, f"use_{field}"}:
                bound[freedom] = values[field] if values[f"use_{field}"] else _ABSENT.get(name, math.inf)
        changes[name] = bound
    if kind.has_cone:
        # A cone has two half-angles; they are its upper limits.
        changes["upper"][:2] = abs(changes["upper"][:2])
        changes["lower"][:2] = -changes["upper"][:2]
    if edits.keys() & {"use_rest_position", "rest_position"}:
        changes["rest_position"] = values["rest_position"] if values["use_rest_position"] else None
    if edits.keys() & {"mimic_joint", "mimic_multiplier", "mimic_offset"}:
        mimic = Mimic(values["mimic_joint"], values["mimic_multiplier"], values["mimic_offset"])
        changes["mimic"] = mimic if mimic.joint else None
    return dataclasses.replace(joint, **changes)


def _drive(values: dict) -> Drive | None:
    """None when no wheels are named: the model looks for them."""
    named = [values[name] for name in DRIVE]
    return Drive(*named) if named[0] or named[1] else None


def _link(record: BoneRecord, values: dict, edits: dict) -> Any:
    changes: dict[str, Any] = {}
    if "link" in edits:
        changes["name"] = values["link"]
    if "mass" in edits:
        changes["mass"] = values["mass"]
    if "com" in edits:
        changes["com"] = np.array(values["com"])
    if "inertia" in edits:
        inertia = np.zeros((3, 3))
        inertia[_UPPER_TRIANGLE] = values["inertia"]
        changes["inertia"] = inertia + np.triu(inertia, 1).T
    return dataclasses.replace(record.link, **changes)


def _single(value: Any) -> Any:
    """The value as Blender holds it: numbers beyond single precision end at its largest."""
    if isinstance(value, tuple):
        return tuple(_single(x) for x in value)
    return float(np.float32(min(max(value, -_LARGEST), _LARGEST))) if isinstance(value, float) else value


def _shortest(value: Any) -> Any:
    """The number a person typed: the shortest decimal that rounds to this single precision value."""
    if isinstance(value, tuple):
        return tuple(_shortest(x) for x in value)
    return float(str(np.float32(value))) if isinstance(value, float) else value
