"""The commands: each adds its arguments and runs. Blender only where it needs it."""
