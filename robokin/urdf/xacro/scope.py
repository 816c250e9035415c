"""Names of a xacro file and what they mean: properties, blocks and macros, each seen from the scopes below."""

from __future__ import annotations

import keyword

from ...errors import ModelError


class Scope:
    """The names of a file, a macro call or a namespace. `above`: where names are looked for that are not here.

    `lazy`: names whose text is evaluated when they are used first. `level`: how many scopes there are above.
    """

    def __init__(self, above: Scope | None = None, namespace: bool = False) -> None:
        self.above = above
        self.namespace = namespace
        self.level: int = above.level + 1 if above is not None else 0
        self.values: dict[str, object] = {}
        self.lazy: set[str] = set()

    def holder(self, name: str) -> Scope | None:
        """The nearest scope that has this name."""
        scope: Scope | None = self
        while scope is not None and name not in scope.values:
            scope = scope.above
        return scope

    def set(self, name: str, value: object, lazy: bool = False) -> None:
        self.values[name] = value
        (self.lazy.add if lazy else self.lazy.discard)(name)

    def remove(self, name: str) -> None:
        """Here and above."""
        scope: Scope | None = self
        while scope is not None:
            scope.values.pop(name, None)
            scope.lazy.discard(name)
            scope = scope.above

    def parent(self) -> Scope | None:
        """Where `scope="parent"` puts a property: the caller's scope, past the namespaces of its macro."""
        scope = self.above
        if not self.namespace:
            while scope is not None and scope.namespace:
                scope = scope.above
        return scope

    def top(self) -> Scope:
        scope = self
        while scope.above is not None:
            scope = scope.above
        return scope


def checked_name(name: str) -> str:
    """A name that expressions can use. Raises ModelError."""
    if not name.isidentifier() or keyword.iskeyword(name) or name.startswith("__"):
        raise ModelError(f"{name[:60]!r} cannot be the name of a property (letters, digits and _)")
    return name
