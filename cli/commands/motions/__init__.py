"""Commands on motions that are there."""
