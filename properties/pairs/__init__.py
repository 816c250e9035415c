"""Pairs: of links that may touch, of bones of which one follows the other."""
