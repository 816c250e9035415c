"""Tasks written on the command line: `kind=pose,tip=LINK,target=x:y:z:qw:qx:qy:qz[,weights=...][,tolerance=...]`."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, get_type_hints

from ...robokin.errors import RobokinError, TaskError, UnknownNameError
from ...robokin.model.robot import RobotModel
from ...solvers import tasks
from ...solvers.tasks import Task
from .fields import Fields, parse_fields
from .task_fields import BY_NAME, BY_TYPE, FORMS, Reader, sixes, tolerances, with_target

OF_A_SCENE = ("object", "bone", "surface_object")  # fields that name what only a .blend has


@dataclass(frozen=True)
class TaskText:
    """How a kind of task is written. Fields: {name: (argument of `build`, reader)}; the first `required` must be there.
    A reader returns the argument's value, or a dict of several arguments where no argument is named."""

    build: Callable[..., Task]
    required: int
    fields: Mapping[str, tuple[str, Reader]]


def parse_task(text: str) -> Task:
    """The task that `text` describes, without a scene. Raises TaskError or UnknownNameError, naming the field."""
    fields = parse_fields(text, "task")
    for name in OF_A_SCENE:
        if name in fields:
            raise TaskError(f"task {text!r}: {name} names an object of a scene, which only a .blend has")
    return build_task(text, fields)


def check_task(text: str, task: Task, model: RobotModel) -> None:
    """Raises TaskError that names the task whose links or joints the robot does not have."""
    try:
        task.check(model)
    except RobokinError as error:
        raise TaskError(f"task {text!r}: {error}") from None


def build_task(text: str, given: Fields) -> Task:
    """Build the task of `text`, like `parse_task`; given: the fields of `text`."""
    name = given.get("kind")
    if name is None:
        raise TaskError(f"task {text!r}: kind is missing (valid: {', '.join(KINDS)})")
    if name not in KINDS:
        raise UnknownNameError("task kind", name, KINDS)
    kind = KINDS[name]
    for key in list(kind.fields)[: kind.required]:
        if not given.get(key):
            raise TaskError(f"task {text!r}: {key} is missing")
    arguments: dict[str, Any] = {}
    try:
        for key in (key for key in given if key != "kind"):
            if key not in kind.fields:
                raise UnknownNameError(f"field of a {name} task", key, ("kind", *kind.fields))
            argument, read = kind.fields[key]
            value = read(given, key)
            arguments |= {argument: value} if argument else value
        return kind.build(**arguments)
    except RobokinError as error:
        raise TaskError(f"task {text!r}: {error}") from None


# What the arguments are called in a text, where not as in Python.
_NAMES = {"link": "tip", "A": "coefficients"}
# Two arguments that are one field, by how they end.
_PAIRS = {"_weights": ("weights", sixes), "_tolerance": ("tolerance", tolerances), "_band": ("band", sixes)}
# Fields that the reader of another one takes too.
_BESIDE = {"twist": ("about", "pitch")}


def kind_of(task: type[Task]) -> TaskText:
    """The fields are the arguments of a task. Their forms are what the task says (`Task.forms`), or what the name or
    the type of the argument says."""
    parameters = list(inspect.signature(task).parameters.values())
    types = get_type_hints(task.__init__)
    fields: dict[str, tuple[str, Reader]] = {}
    for end, (name, read_both) in _PAIRS.items():
        both = [each.name for each in parameters if each.name.endswith(end)]
        if both:
            first, second = (both[0], both[1]) if len(both) == 2 else (name, both[0])
            fields[name] = "", read_both(first, second)
    for each in parameters:
        if each.name.endswith(tuple(_PAIRS)) or (each.name == "tolerance" and "tolerance" in fields):
            continue
        form = task.forms.get(each.name)
        read = FORMS[form] if form else BY_NAME.get(each.name) or BY_TYPE[types[each.name]]
        name = _NAMES.get(each.name, each.name)
        name = "weight" if (name, form) == ("weights", "number") else name
        fields[name] = "" if form == "twist" else each.name, read
    fields |= dict.fromkeys(_BESIDE.get(task.kind, ()), ("", with_target))
    needed = [_NAMES.get(each.name, each.name) for each in parameters if each.default is each.empty]
    return TaskText(task, len(needed), {name: fields[name] for name in [*needed, *fields]})


KINDS: dict[str, TaskText] = {
    each.kind.replace(" ", "_"): kind_of(each)
    for each in (getattr(tasks, name) for name in dir(tasks))
    if isinstance(each, type) and issubclass(each, Task) and "kind" in vars(each)
}
