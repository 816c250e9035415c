"""The parameters of a xacro macro: `params="name length:=0.1 prefix:=^|'left_' *origin **blocks"`."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ...errors import ModelError
from ..xml import Element
from .values import MAX_TEXT

_MAX_PARAMETERS = 500
_DEFAULT = re.compile(
    r"""\s*(?P<name>[^\s:=]+)\s*:?=\s*
    (?P<caller>\^\|?)?
    (?P<default>\$\{[^}]*\}|\$\([^)]*\)|(?:'[^']*'|"[^"]*"|[^\s'"])*)
    (?=\s|$)""",
    re.VERBOSE,
)
_PLAIN = re.compile(r"\s*(?P<name>[^\s:=]+)(?=\s|$)")


@dataclass(frozen=True)
class Parameter:
    """`default`: a text, or None. `from_caller`: a property of the same name of the caller comes first."""

    name: str
    default: str | None = None
    from_caller: bool = False

    @property
    def is_block(self) -> bool:
        return self.name.startswith("*")

    @property
    def optional(self) -> bool:
        return self.default is not None or self.from_caller


@dataclass(frozen=True)
class Macro:
    name: str
    parameters: tuple[Parameter, ...]
    body: Element


def parse_parameters(text: str) -> tuple[Parameter, ...]:
    """Raises ModelError."""
    if len(text) > MAX_TEXT:
        raise ModelError(f"the parameters are a text of more than {MAX_TEXT} characters")
    found: dict[str, Parameter] = {}
    text, at = text.rstrip(), 0
    while at < len(text):
        match = _DEFAULT.match(text, at) or _PLAIN.match(text, at)
        if match is None or len(found) >= _MAX_PARAMETERS:
            raise ModelError(f"the parameters at {text[at : at + 60].strip()!r} cannot be read")
        given = match.groupdict()
        name, caller, default = given["name"], given.get("caller") is not None, given.get("default")
        # `a:=` is a parameter with an empty default only when it says so with quotes.
        found[name] = Parameter(name, default or None, caller)
        at = match.end()
    return tuple(found.values())
