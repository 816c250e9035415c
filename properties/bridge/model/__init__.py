"""Armature to robot model: which bones and channels carry which joint."""
