"""Names of a package that are imported when they are first used, so that nobody waits for what is not."""

from __future__ import annotations

import ast
import inspect
import sys
import warnings
from collections.abc import Callable, Mapping
from importlib import import_module


def exports(
    package: str, renamed: Mapping[str, str] | None = None
) -> tuple[Callable[[str], object], Callable[[], list[str]], list[str]]:
    """The package's `__getattr__`, `__dir__` (PEP 562) and `__all__`. The names are those that it imports for type
    checkers, read from its source, so that each stands there once. None may be called as one of its modules, since
    that is what the name then stands for.   renamed: {name of the version before: present name}, with a
    DeprecationWarning."""
    module_of = _imports(package)

    def load(name: str) -> object:
        if renamed and name in renamed:
            warnings.warn(f"{package}.{name} is called {renamed[name]} now", DeprecationWarning, stacklevel=2)
            return getattr(sys.modules[package], renamed[name])
        if name not in module_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(module_of[name], package), name)
        setattr(sys.modules[package], name, value)  # found without this from now on
        return value

    def listed() -> list[str]:
        return sorted({*vars(sys.modules[package]), *module_of})

    return load, listed, sorted(module_of)


def _imports(package: str) -> dict[str, str]:
    """{name: the module, relative to the package, that it is imported from}; of `*` all that a module exports."""
    tree = ast.parse(inspect.getsource(sys.modules[package]))
    (choice,) = (node for node in tree.body if isinstance(node, ast.If))
    found: dict[str, str] = {}
    for node in choice.body:
        assert isinstance(node, ast.ImportFrom)
        module = "." * node.level + (node.module or "")
        for each in node.names:
            names = import_module(module, package).__all__ if each.name == "*" else [each.name]
            found |= dict.fromkeys(names, module)
    return found
