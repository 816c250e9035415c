"""What the links look like: meshes and materials."""
