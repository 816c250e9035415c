"""How near a tool is to a configuration in which it cannot move some way, and which singularity that is."""
