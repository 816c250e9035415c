"""Every error that bad input can raise. Not reaching a target is not an error: see `solvers.results`."""

from __future__ import annotations

from collections.abc import Iterable


class RobokinError(Exception):
    """Root of all errors raised by Robokin. `str(error)` is one line that a user can act on."""


class ModelError(RobokinError):
    """A description that cannot be a robot (cycle, two roots, zero axis, negative mass ...).

    `about`: the Joint or Link concerned, where there is one; readers find its line in their file by it.
    """

    def __init__(self, problem: str, about: object = None) -> None:
        self.about = about
        super().__init__(problem)


class ConfigurationError(RobokinError):
    """A configuration or joint value of the wrong shape, not finite, or inconsistent."""


class TaskError(RobokinError):
    """A task that cannot be posed (unknown kind, weight of the wrong shape, NaN target ...)."""


class BackendError(RobokinError):
    """A backend was asked for by name and cannot be used on this machine."""


class FileFormatError(RobokinError):
    """A file that cannot be read as what it claims to be. Carries `path` and `line` (None: whole file)."""

    def __init__(self, path: object, line: int | None, problem: str) -> None:
        self.path = str(path)
        self.line = line
        self.problem = problem
        where = self.path if line is None else f"{self.path}:{line}"
        super().__init__(f"{where}: {problem}")

    def __reduce__(self) -> tuple:
        return type(self), (self.path, self.line, self.problem)


_LONGEST = 80  # characters of a wrong value that a message repeats


def shown(value: object) -> str:
    """`value` on one line of bounded length, for a message."""
    try:
        text = " ".join(repr(value).split())
    except ValueError:  # Python writes no whole number of more than 4,300 digits
        text = f"{type(value).__name__} of thousands of digits"
    return text if len(text) <= _LONGEST else text[:_LONGEST] + "..."


class UnknownNameError(RobokinError):
    """A name that is not there. Carries `kind`, `name` and the valid `choices`."""

    SHOWN = 12

    def __init__(self, kind: str, name: object, choices: Iterable[str]) -> None:
        self.kind = kind
        self.name = name
        self.choices = tuple(choices)
        import difflib  # only where a name is wrong

        close = difflib.get_close_matches(name, self.choices, n=3) if isinstance(name, str) else []
        listed = close or list(self.choices[: self.SHOWN])
        lead = "did you mean" if close else "valid"
        more = "" if close or len(self.choices) <= self.SHOWN else f" and {len(self.choices) - self.SHOWN} more"
        super().__init__(f"no {kind} named {shown(name)} ({lead}: {', '.join(listed) or 'none'}{more})")

    def __reduce__(self) -> tuple:
        return type(self), (self.kind, self.name, self.choices)
