"""Lists of moves, like the programs of robots."""
