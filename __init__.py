"""Robokin: a Blender armature becomes a robot. This file only registers; it imports nothing of Blender itself."""

from __future__ import annotations
