"""Operators on the lists of tasks and criteria."""
