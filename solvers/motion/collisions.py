"""Collisions of a motion, at its samples and half-way between them."""

from __future__ import annotations

from ...robokin.backend import get_backend
from ...robokin.collision import CollisionModel, Contact
from .motion import Motion
from .violation import Violation


def collision_violations(motion: Motion, collisions: CollisionModel) -> list[Violation]:
    """One for each two that are in each other at a sample; half-way to the next one, where they are deeper there than
    at both."""
    found = [_violation(contact, False) for contact in collisions.contacts(motion.q)]
    backend, tree = get_backend(), motion.model.tree
    before, after = motion.q[:-1], motion.q[1:]
    if not len(before):
        return found
    between = backend.integrate(tree, before, 0.5 * backend.difference(tree, before, after))
    depth = {(each.frame, each.links): -each.value for each in found}
    for contact in collisions.halfway().contacts(between):
        beside = [depth.get((contact.sample + k, contact.names), 0.0) for k in (0, 1)]
        if contact.depth > max(beside):
            found.append(_violation(contact, True))
    return found


def _violation(contact: Contact, half: bool) -> Violation:
    names = " and ".join(contact.names)
    return Violation(contact.sample, names, "collision", -contact.depth, 0.0, "m", contact.names, half)
