"""New timing for paths: inside limits at all times."""
