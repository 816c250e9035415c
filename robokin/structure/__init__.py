"""What the links of a robot are for: rigid bodies, its base, its tools."""
