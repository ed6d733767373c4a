"""Conjugate and negative views, and what asks for them or computes what they show."""

from __future__ import annotations

from ...dispatch.functions import fn
from ...dispatch.keys import CONJUGATE, NEGATIVE
from ...opdefs import rules
from ...opdefs.define import EVERYWHERE, op
from ...tensors.tensor import Tensor
from ...tensors.unresolved import flipped_view
from ...values.dtypes import COMPLEX

__all__: list[str] = []


def _conj(self: Tensor) -> Tensor:
    if self._dtype.category != COMPLEX:
        raise RuntimeError(f"_conj is only supported for complex tensors, not for {self._dtype}")
    return flipped_view(self, CONJUGATE)


op(
    "conj(Tensor(a) self) -> Tensor(a)",
    doc="Complex conjugate as a view, computed when it is read; the tensor itself where it is real.",
    decomposition=lambda self: self if self._dtype.category != COMPLEX else fn._conj(self),
)
op(
    "_conj(Tensor(a) self) -> Tensor(a)",
    doc="Complex conjugate of a complex tensor as a view, computed when it is read.",
    grad={"self": lambda g: g.conj()},
    decomposition=_conj,
    view=True,
)
op(
    "_neg_view(Tensor(a) self) -> Tensor(a)",
    doc="The negative as a view, computed when it is read.",
    grad={"self": lambda g: g.neg()},
    decomposition=lambda self: flipped_view(self, NEGATIVE),
    view=True,
)
op(
    "conj_physical(Tensor self) -> Tensor",
    doc="Complex conjugate, written out into new memory; real tensors are returned as they are.",
    decomposition=lambda self: fn._conj_physical(self) if self._dtype.category == COMPLEX else self,
    inplace=True,
    out=True,
    tags=frozenset({"pointwise"}),
    inplace_namespaces=EVERYWHERE,
    out_needs=("dtype",),
)
op(
    "_conj_physical(Tensor self) -> Tensor",
    doc="Complex conjugate, written out into new memory, also of real tensors.",
    rule=rules.same,
    grad={"self": lambda g: g.conj_physical()},
    decomposition=lambda self: (
        fn.complex(self.real, -self.imag) if self._dtype.category == COMPLEX else self.clone()
    ),
    tags=frozenset({"pointwise"}),
)

for _name, _bit, _done in (
    ("conj", CONJUGATE, "conjugation"),
    ("neg", NEGATIVE, "negation"),
):
    op(
        f"resolve_{_name}(Tensor(a) self) -> Tensor(a)",
        doc=f"A copy in which {_done} is computed; the tensor itself unless it is such a view.",
        decomposition=lambda self, bit=_bit: self.clone() if self._keys & bit else self,
    )
    op(
        f"is_{_name}(Tensor self) -> bool",
        doc=f"Whether it is a view whose {_done} is computed when it is read.",
        decomposition=lambda self, bit=_bit: bool(self._keys & bit),
    )
