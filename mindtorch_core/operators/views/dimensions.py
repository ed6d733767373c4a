"""More or fewer dimensions, and matrices transposed and conjugated."""

from __future__ import annotations

from ...opdefs.define import op
from ...tensors.tensor import Tensor

__all__: list[str] = []

op(
    "ravel(Tensor(a) self) -> Tensor(a)",
    doc="All elements in one dimension: a view of a row-major tensor, a copy of others.",
    decomposition=lambda self: self.contiguous().view(-1),
)


def _atleast_2d(self: Tensor) -> Tensor:
    rank = len(self._shape)
    return self if rank > 1 else self.unsqueeze(0) if rank else self.reshape(1, 1)


def _atleast_3d(self: Tensor) -> Tensor:
    rank = len(self._shape)
    if rank > 2:
        return self
    return self.unsqueeze(-1) if rank == 2 else _atleast_2d(self).unsqueeze(-1)


for _rank, _grown in (
    (1, lambda self: self if self._shape else self.reshape(1)),
    (2, _atleast_2d),
    (3, _atleast_3d),
):
    op(
        f"atleast_{_rank}d(Tensor self) -> Tensor",
        doc=f"The tensor with {_rank} dimensions at least.",
        decomposition=_grown,
        namespaces=("torch",),
    )
    for _overload, _spread in (("Sequence", ""), ("spread", "tensors")):
        op(
            f"atleast_{_rank}d.{_overload}(Tensor[] tensors) -> Tensor[]",
            doc=f"Tensors with {_rank} dimensions at least.",
            decomposition=lambda tensors, grown=_grown: tuple(grown(t) for t in tensors),
            varargs=_spread,
            namespaces=("torch",),
        )


def _adjoint(self: Tensor) -> Tensor:
    if not self._shape:
        return self.conj()
    if len(self._shape) == 1:
        raise RuntimeError(
            "tensor.adjoint() is only supported on matrices or batches of matrices. Got 1-D tensor."
        )
    return self.transpose(-2, -1).conj()


op(
    "adjoint(Tensor(a) self) -> Tensor(a)",
    doc="Matrices transposed and conjugated.",
    decomposition=_adjoint,
)
