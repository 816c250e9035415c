"""What Robokin does when something changes in Blender."""
