"""Operators that read and write files."""
