"""Poses: one problem, its search, its diagnosis."""
