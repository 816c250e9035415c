"""Errors of the command line itself."""

from __future__ import annotations

from ..robokin.errors import RobokinError


class UsageError(RobokinError):
    """A command line that asks for something impossible: unknown option, malformed value, file that is not there."""
