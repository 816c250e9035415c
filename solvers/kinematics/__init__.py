"""What tasks and criteria look at: a robot at a configuration, its unit twists, the part of its tree that counts."""
