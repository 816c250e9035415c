"""Avoidance: motions on which links keep away from one another and from obstacles."""
