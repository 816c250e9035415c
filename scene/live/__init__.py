"""Following targets live: what a robot follows from, and one step of following."""
