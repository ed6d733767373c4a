"""Compositions that are recorded whole where a backend has a kernel of its own for them."""

from __future__ import annotations

from .entry import OpEntry

__all__ = ["by_parts_because"]


def by_parts_because(entry: OpEntry) -> str:
    """Why an op that has no gradient formula is recorded by its parts, whoever has a kernel for it.

    An empty string says that it is not: backward can compute the composition anew, and differentiate
    that.
    """
    d, schema = entry.definition, entry.schema
    if d is None or schema is None or d.decomposition is None:
        return "nothing says what it is made of"
    if d.functional is not None or schema.is_mutable:
        return "it writes into an argument"
    if d.traits.view or schema.is_view:
        return "its result may share memory with its argument"
    if d.traits.random and not d.traits.draws_if:
        return "what it drew cannot be drawn again"
    listed = [r.is_list for r in schema.returns]
    if any(r.type != "Tensor" for r in schema.returns) or (any(listed) and len(listed) > 1):
        return "its results are not tensors alone"
    return ""
