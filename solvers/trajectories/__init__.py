"""Trajectories: motions as exact functions of time, from state to state."""
