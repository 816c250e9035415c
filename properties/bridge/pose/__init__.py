"""Configurations and frames against the channels of bones."""
