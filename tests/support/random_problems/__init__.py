"""Problems that are drawn from a seed."""
