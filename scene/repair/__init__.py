"""Animations that break a task or a limit: where, while they are edited, and those frames solved again."""
