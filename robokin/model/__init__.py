"""The robot as one immutable tree, and what it is made of."""
