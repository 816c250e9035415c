"""Files: found, read with one line of what is wrong, written whole or not at all."""
