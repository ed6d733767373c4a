"""What a tensor answers about itself, by the names that PyTorch's ops have: ``torch.ops.aten.size``."""

from __future__ import annotations

from ...dispatch.opdef import NONDIFF
from ...frontend.python_values import only_element
from ...opdefs.define import op
from ...tensors.tensor import Tensor

__all__ = ["apart"]

_OF_DATA = frozenset({"data_dependent_output"})

for _schema, _doc, _run in (
    ("item(Tensor self) -> Scalar", "The only element.", lambda self: self.item()),
    ("size(Tensor self) -> int[]", "The shape.", lambda self: list(self._shape)),
    ("size.int(Tensor self, int dim) -> int", "One size.", lambda self, dim: self.size(dim)),
    (
        "stride(Tensor self) -> int[]",
        "Steps in memory, in elements.",
        lambda self: list(self.stride()),
    ),
    ("stride.int(Tensor self, int dim) -> int", "One step.", lambda self, dim: self.stride(dim)),
    ("numel(Tensor self) -> int", "The number of elements.", lambda self: self.numel()),
    ("dim(Tensor self) -> int", "The number of dimensions.", lambda self: self.dim()),
    (
        "storage_offset(Tensor self) -> int",
        "Where the elements begin in memory.",
        lambda self: self.storage_offset(),
    ),
    (
        "is_same_size(Tensor self, Tensor other) -> bool",
        "Whether two shapes are equal.",
        lambda self, other: self._shape == other._shape,
    ),
    (
        "_pin_memory(Tensor self, Device? device=None) -> Tensor",
        "A copy in page-locked memory.",
        lambda self, device=None: self.pin_memory(device),
    ),
):
    op(
        _schema,
        doc=f"{_doc} As the method does it.",
        namespaces=(),
        decomposition=_run,
        tags=_OF_DATA if "only element" in _doc else frozenset(),
    )

op(
    "_local_scalar_dense(Tensor self) -> Scalar",
    doc="The only element, as dispatch modes see it read.",
    namespaces=(),
    grad=NONDIFF,
    decomposition=only_element,
    data_dependent=True,
)


def apart(view: Tensor) -> Tensor:
    """A view, which counts as a tensor of its own from now on."""
    view._base = None
    return view


op(
    "_unsafe_view(Tensor self, SymInt[] size) -> Tensor",
    doc="A view of another shape that counts as a tensor of its own.",
    namespaces=(),
    decomposition=lambda self, size: apart(self.view(size)),
)
