"""Making and editing robots."""
