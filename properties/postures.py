"""Stored postures of a robot: `Object.robokin.postures`.

A posture is joint values by the names of joints, of all joints or of some: what it does not name stays where it is. A
joint that was renamed since is found by the link that moves with it.
"""

from __future__ import annotations

import json
from contextlib import suppress

import bpy
import numpy as np
from bpy.props import StringProperty

from ..robokin import ConfigurationError, RobokinError, RobotModel, UnknownNameError, clamp
from ..robokin.arrays import Array
from ..robokin.model.robot import JointValue
from ..robokin.units import coordinate_units
from .bridge import is_robot, nearest_within_limits, robot_model
from .handlers import going_on
from .overrides import VALUE, field

HOME = "home"  # the name by which a posture is home without being marked so


def _renamed(item: RobokinPosture, context: bpy.types.Context) -> None:
    """Names are unique, and what refers to a posture by its name follows."""
    if item.name == item.known_name:
        return
    robot = item.id_data.robokin
    wanted = item.name.strip() or item.known_name or "Posture"
    free = free_name(wanted, {other.name for other in robot.postures if other != item})
    if free != item.name:
        item.name = free  # comes back here
        return
    before, item.known_name = item.known_name, item.name
    if before and robot.solver.posture == before:
        robot.solver.posture = item.name
    if before and robot.home_posture == before:
        robot.home_posture = item.name
    for user in (*robot.criteria, *robot.tasks, *robot.moves):
        if before and user.posture == before:
            user.posture = item.name


class RobokinPosture(bpy.types.PropertyGroup):
    """A named posture."""

    name: field(StringProperty, "Name", "Name of the posture", update=_renamed)
    known_name: bpy.props.StringProperty(override=VALUE, description="The name before it is edited", options={"HIDDEN"})
    values: field(StringProperty, "Values", "Joint values by joint names as JSON, SI units and radians")
    links: field(
        StringProperty, "Links", "The link that each joint moved when it was stored, as JSON", options={"HIDDEN"}
    )


CLASSES = (RobokinPosture,)


def free_name(wanted: str, taken: set[str]) -> str:
    """`wanted`, with a number where it is taken."""
    name, number = wanted, 1
    while name in taken:
        name, number = f"{wanted}.{number:03d}", number + 1
    return name


def store_posture(obj: bpy.types.Object, model: RobotModel, name: str, values: dict[str, JointValue]) -> RobokinPosture:
    """The posture of that name with these values; a new one at the end of the list when there is none."""
    postures = obj.robokin.postures
    item = postures.get(name)
    if item is None:
        item = postures.add()
        item.name = name
        obj.robokin.active_posture = len(postures) - 1
    item.values = json.dumps(values, ensure_ascii=False)
    item.links = json.dumps({joint: model.joint(joint).child for joint in values}, ensure_ascii=False)
    return item


def find_posture(obj: bpy.types.Object, name: str) -> RobokinPosture:
    """The posture of that name; the active one for "". Raises UnknownNameError, RobokinError."""
    postures = obj.robokin.postures
    if name:
        if name not in postures:
            raise UnknownNameError("stored posture", name, [item.name for item in postures])
        return postures[name]
    if not 0 <= obj.robokin.active_posture < len(postures):
        raise RobokinError(f"{obj.name!r} has no stored posture")
    return postures[obj.robokin.active_posture]


def posture_values(model: RobotModel, item: RobokinPosture) -> tuple[dict[str, JointValue], list[str]]:
    """(joint values for the robot as it is now, joints that it does not have any more or that have become others).

    Raises RobokinError for a damaged text.
    """
    stored, links = _object(item.values), _links(item)
    if stored is None:
        raise RobokinError(f"the posture {item.name!r} of {item.id_data.name!r} is damaged: its values are not JSON")
    joints = {joint.name: joint for joint in model.joints}
    mover = {joint.child: joint for joint in model.joints}
    values, lost = {}, []
    for name, value in stored.items():
        joint = joints.get(name) or mover.get(links.get(name, ""))
        try:
            if joint is None:
                raise ConfigurationError(name)
            joint.coordinates(value)
            values[joint.name] = value
        except ConfigurationError:
            lost.append(name)
    return values, lost


def posture_configuration(model: RobotModel, item: RobokinPosture, others: Array | None = None) -> Array:
    """(nq,) the posture inside the limits; joints that it does not name stand as in `others`, or at rest.

    Raises RobokinError for a damaged text.
    """
    values, _ = posture_values(model, item)
    q = model.check_configuration(nearest_within_limits(model) if others is None else others)
    given = model.configuration(values)
    for name in values:
        own = model.slot(name).q
        q[own] = given[own]
    return clamp(model, q)


def rescale_postures(obj: bpy.types.Object, ratio: float) -> None:
    """Lengths among the stored values times `ratio`, as when the scene's unit scale changes; those of joints that the
    robot does not have now stay as they are. Raises RobokinError."""
    model = robot_model(obj)
    for item in obj.robokin.postures:
        values, lost = posture_values(model, item)
        stored, links = _object(item.values) or {}, _links(item)
        for name, value in values.items():
            factors = [ratio if unit == "m" else 1.0 for unit in coordinate_units(model.joint(name))]
            scaled = (np.atleast_1d(value) * factors).tolist()
            values[name] = scaled if np.ndim(value) else scaled[0]
        movers = {name: links[name] for name in lost if name in links}
        movers |= {joint: model.joint(joint).child for joint in values}
        item.values = json.dumps({name: stored[name] for name in lost} | values, ensure_ascii=False)
        item.links = json.dumps(movers, ensure_ascii=False)


def home_posture(obj: bpy.types.Object) -> RobokinPosture | None:
    """The posture marked as home, or called so; None when there is none."""
    postures = obj.robokin.postures
    marked = postures.get(obj.robokin.home_posture)
    return marked or next((item for item in postures if item.name.lower() == HOME), None)


def start_configuration(obj: bpy.types.Object, model: RobotModel, start: str) -> Array:
    """(nq,) inside the limits, where a bake starts. start: "POSTURE" or "REST".

    Raises RobokinError when the posture is not there or its text is damaged.
    """
    name = obj.robokin.solver.posture
    if start == "REST" or not name:
        return nearest_within_limits(model)
    if name not in obj.robokin.postures and name.lstrip().startswith("{"):
        return clamp(model, parse_configuration(model, name, f"stored posture of {obj.name!r}"))
    return posture_configuration(model, find_posture(obj, name))


def parse_configuration(model: RobotModel, text: str, what: str) -> Array:
    """(nq,) from JSON {joint: value}. Raises RobokinError."""
    return model.configuration(joint_numbers(text, what))


def joint_numbers(text: str, what: str) -> dict:
    """{joint: number or numbers} from JSON; neither is looked at. Raises RobokinError."""
    values = _object(text)
    if values is None:
        raise RobokinError(f'{what} must name joints as JSON, as {{"joint": 0.5}}, not {text[:40]!r}')
    return values


def _object(text: str) -> dict | None:
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return data if isinstance(data, dict) else None


def _links(item: RobokinPosture) -> dict[str, str]:
    """The link that each joint moved; {} where the text is damaged."""
    return {name: link for name, link in (_object(item.links) or {}).items() if isinstance(link, str)}


def adopt_unnamed(*_: object) -> None:
    """Robots had one posture without a name, its values in `solver.posture`: it becomes the first of the list."""
    for obj in bpy.data.objects:
        if is_robot(obj) and obj.is_editable:
            with going_on("reading postures"):
                _adopt_unnamed(obj)


def _adopt_unnamed(obj: bpy.types.Object) -> None:
    settings = obj.robokin.solver
    if settings.posture and not settings.is_property_set("start"):
        settings.start = "POSTURE"  # what it was, unless said otherwise, before there was another default
    text = settings.posture
    if not text.lstrip().startswith("{") or _object(text) is None or text in obj.robokin.postures:
        return
    item = obj.robokin.postures.add()
    item.name, item.values = "Posture", text
    obj.robokin.solver.posture = item.name
    with suppress(RobokinError):  # no robot for now; the names of its joints must do
        joints = {joint.name: joint.child for joint in robot_model(obj).joints}
        item.links = json.dumps({name: joints[name] for name in _object(text) or {} if name in joints})
