"""Planning: a free path between two configurations."""
