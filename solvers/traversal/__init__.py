"""How a tool gets past singularities on its path: slower, beside it, or in another posture."""
