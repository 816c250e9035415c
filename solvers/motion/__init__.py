"""Motions over time: the frames, their files, their check."""
