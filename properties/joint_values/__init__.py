"""Joint values as properties of a pose bone: numbers to type and drag in the panels."""
