"""Operators that make a robot and edit its joints."""
