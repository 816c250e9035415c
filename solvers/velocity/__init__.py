"""One step: the velocity that meets tasks of strict priorities inside all limits."""
