"""What tasks and criteria are made of stays as it is, or its change is seen.

One rule for all: their attributes may be set again until a problem is made of them, and from then on only a task's
target; anything else is refused, as a compiled problem would not see it. What an attribute holds cannot be changed in
place. `solve_ik`, `velocity_step`, `track` and `check_motion` make their problems of copies, so they see every change.

Loops make the same task again and again, for another target. So all attributes but the target, the settings, are
checked once for the same arguments (`cached_settings`), and objects that are alike are found so at a glance
(`settings`).
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache, wraps
from types import MappingProxyType
from typing import Any, ClassVar, TypeVar

import numpy as np

from ..robokin.errors import TaskError
from .alike import Same, content, exactly, frozen, is_own, is_plain

FREE = "target"  # what problems read anew
MOST_KNOWN = 512  # settings that are kept
MOST_TARGETS = 8  # of the same settings
_EMPTY = inspect.Parameter.empty

Checks = Mapping[str, Callable[[object, str], object]]  # of a value, and how messages call it
Part = TypeVar("Part", bound="FixedArrays")
Init = TypeVar("Init", bound=Callable[..., None])


class FixedArrays:
    """checks: by attribute, what it must be when it is set."""

    checks: ClassVar[Checks] = {}
    name: str
    _is_compiled = False
    _settings: object = None

    def __setattr__(self, name: str, value: object) -> None:
        is_setting = name != FREE and not name.startswith("_")
        if is_setting and self._is_compiled:
            raise TaskError(f"{self.name}: {name} cannot be set any more, a problem is made of it: make another")
        check = self.checks.get(name)
        given = value if check is None else check(value, f"{self.name}: {name.replace('_', ' ')}")
        object.__setattr__(self, name, fixed_value(given, is_own(type(self))))
        if is_setting:
            self.__dict__.pop("_settings", None)

    def __copy__(self: Part) -> Part:
        other = object.__new__(type(self))
        other.__dict__.update({name: value for name, value in vars(self).items() if name != "_is_compiled"})
        return other

    def _keep(self, **attributes: object) -> None:
        """Set at once, when the object is made, several times faster; arrays that are read-only already."""
        self.__dict__.update(attributes)


def cached_settings(initialize: Init) -> Init:
    """Decorator of `__init__` of our own classes: the same arguments are checked once, only another target than the
    recent ones is checked anew."""
    parameters = inspect.signature(initialize).parameters
    has_target = FREE in parameters
    place = [*parameters, FREE].index(FREE) - 1
    default = parameters[FREE].default if has_target else None

    @wraps(initialize)
    def cached(self: Any, *arguments: Any, **named: Any) -> None:
        kind: Any = type(self)
        if kind.__init__ is not cached:  # only the outermost one knows all arguments
            initialize(self, *arguments, **named)
            return
        others = arguments
        if has_target and len(arguments) > place:
            target, others = arguments[place], arguments[:place] + arguments[place + 1 :]
        elif has_target and (target := named.pop(FREE, default)) is _EMPTY:
            initialize(self, *arguments, **named)  # raises TypeError
        try:
            known = _settings_of(kind, *others, **named)
        except TypeError:
            known = _settings_of_frozen(kind, others, named)
        if known:
            attributes = known.copy()
            object.__setattr__(self, "__dict__", attributes)
            if has_target:
                attributes[FREE] = _checked_target(self, target, known[FREE])
            return
        if others is arguments and has_target:
            named[FREE] = target
        initialize(self, *arguments, **named)
        settings(self)
        known.update(vars(self) | ({FREE: {}} if has_target else {}))  # at once: other threads read it

    return cached  # type: ignore[return-value]


def _checked_target(task: Any, target: object, recent: dict[object, Any]) -> Any:
    """The very object again for a target that says what a recent one of a task with these settings said."""
    exact = exactly(target)
    checked = recent.get(exact)
    if checked is None:
        checked = fixed_new(task.checked_target(target))
        if exact is not None:
            if len(recent) >= MOST_TARGETS:
                recent.clear()
            recent[exact] = checked
    return checked


@lru_cache(maxsize=MOST_KNOWN, typed=True)
def _settings_of(kind: type, /, *arguments: object, **named: object) -> dict[str, Any]:
    """What an object of a class and of these arguments has, but its target: empty until there was one. Raises TypeError
    for arguments that do not say all about themselves, or not hashably."""
    if not is_own(kind) or not all(map(is_plain, (*arguments, *named.values()))):
        raise TypeError
    return {}


def _settings_of_frozen(kind: type, arguments: tuple[object, ...], named: dict[str, object]) -> dict[str, Any]:
    """Settings of lists, arrays and dictionaries too; of what does not say all about itself, empty each time."""
    try:
        return _settings_of(kind, *map(frozen, arguments), **{name: frozen(each) for name, each in named.items()})
    except TypeError:
        return {}


def compiled(parts: Iterable[Part]) -> None:
    """Tell tasks or criteria that a problem is made of them."""
    for part in parts:
        if is_own(type(part)):
            part.__dict__["_is_compiled"] = True


def fixed(arrays: dict[str, np.ndarray]) -> Mapping[str, np.ndarray]:
    """A read-only mapping of read-only arrays."""
    for array in arrays.values():
        array.setflags(write=False)
    return MappingProxyType(arrays)


def settings(part: object) -> object:
    """Equal for tasks and criteria from which the same problem is compiled: of one class, alike in all but their
    targets. Those of other makers' classes are like themselves only, for as long as they have the same attributes."""
    known = getattr(part, "_settings", None)
    if known is not None:
        return known
    if not isinstance(part, FixedArrays):
        return Same(part)
    kind, attributes = type(part), vars(part)
    if not is_own(kind):
        return Same(part), {name: Same(value) for name, value in attributes.items()}
    own = {name: content(value) for name, value in attributes.items() if name != FREE and name[0] != "_"}
    attributes["_settings"] = kind, own
    return attributes["_settings"]


def fixed_new(value: Any) -> Any:
    """`fixed_value` of what our own checks made: new arrays need no copy."""
    kind = type(value)
    if kind is np.ndarray:
        value.setflags(write=False)
    elif isinstance(value, tuple):
        for each in value:
            fixed_new(each)
    elif kind is list or kind is dict:
        return fixed_value(value, True)
    return value


def fixed_value(value: object, is_whole: bool) -> object:
    """A value that nobody can change: a copy of what others may write into. is_whole: lists and mappings too."""
    if isinstance(value, np.ndarray):
        if value.flags.writeable:
            value = value.copy()
            value.setflags(write=False)
    elif is_whole and type(value) is list:
        return tuple(fixed_value(each, True) for each in value)
    elif is_whole and type(value) is dict:
        return MappingProxyType({key: fixed_value(each, True) for key, each in value.items()})
    return value
