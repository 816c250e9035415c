"""What the tests of the engine share: robots, stacks of tasks, and frames of motions."""
