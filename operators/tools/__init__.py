"""Tools of Pose Mode: thin gestures of the mouse and keys; what they do is in `scene.posing` and `solvers.posing`."""
