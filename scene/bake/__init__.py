"""What a bake follows, and what came of it."""
