"""Tags of ops: what an op is, for tools that treat ops by kind. Names are PyTorch's."""

from __future__ import annotations

from enum import Enum

from ..dispatch.entry import OpEntry

__all__ = ["Tag", "tags_of"]


class Tag(Enum):
    """What an op is, for tools; PyTorch's names.

    Ops of the core have ``pointwise``, ``reduction``, ``inplace``, ``nondeterministic_seeded``,
    ``dynamic_output_shape``, ``data_dependent_output`` and ``pt2_compliant_tag`` where they apply.
    None has ``core``: which ops others are made of differs here, see the primitives on the ops page.
    """

    core = "core"
    cudagraph_unsafe = "cudagraph_unsafe"
    data_dependent_output = "data_dependent_output"
    dynamic_output_shape = "dynamic_output_shape"
    flexible_layout = "flexible_layout"
    generated = "generated"
    inplace = "inplace"
    inplace_view = "inplace_view"
    maybe_aliasing_or_mutating = "maybe_aliasing_or_mutating"
    needs_contiguous_strides = "needs_contiguous_strides"
    needs_exact_strides = "needs_exact_strides"
    needs_fixed_stride_order = "needs_fixed_stride_order"
    nondeterministic_bitwise = "nondeterministic_bitwise"
    nondeterministic_seeded = "nondeterministic_seeded"
    out = "out"
    out_variant = "out_variant"
    pointwise = "pointwise"
    pt2_compliant_tag = "pt2_compliant_tag"
    reduction = "reduction"
    view_copy = "view_copy"


def tags_of(entry: OpEntry) -> list[Tag]:
    """The tags an op was given, and those that follow from its definition."""
    d = entry.definition
    names = set(entry.tags)
    if d is not None:
        names.add("pt2_compliant_tag")
        if d.traits.random:
            names.add("nondeterministic_seeded")
        if d.traits.data_dependent:
            shaped = any(r.type == "Tensor" for r in entry.schema.returns) if entry.schema else True
            names.add("dynamic_output_shape" if shaped else "data_dependent_output")
        if d.base_name.endswith("_") and entry.schema is not None and entry.schema.is_mutable:
            names.add("inplace")
    return [t for t in Tag if t.value in names]
