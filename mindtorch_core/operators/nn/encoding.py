"""Classes as vectors of zeros with a one."""

from __future__ import annotations

from typing import Any

from ...deferred import current_pipeline
from ...dispatch.functions import fn
from ...opdefs.define import op
from ...opdefs.formulas import has_elements
from ...tensors.tensor import Tensor
from ...values.dtypes import int64
from ...values.shapes import numel


def _one_hot(self: Tensor, num_classes: int = -1) -> Any:
    if self._dtype is not int64:
        raise RuntimeError(
            f"one_hot is only applicable to index tensor of type LongTensor, got {self._dtype.label}"
        )
    if num_classes > 0 and current_pipeline() is not None and has_elements(self):
        # Nobody looks: a class that there is not is out of the bounds of what is written to.
        zeros: Any = fn.zeros((*self._shape, num_classes), dtype=int64, device=self._device)
        return zeros.scatter_(-1, self.unsqueeze(-1), 1)
    empty = not numel(self._shape)
    if empty and num_classes <= 0:
        raise RuntimeError("Can not infer total number of classes from empty tensor.")
    if not empty and (num_classes == -1 or has_elements(self)):
        if self.min().item() < 0:
            raise RuntimeError("Class values must be non-negative.")
        largest = int(self.max().item())
        if num_classes == -1:
            num_classes = largest + 1
        elif largest >= num_classes:
            raise RuntimeError(
                f"Class values must be smaller than num_classes, got {largest} and {num_classes}"
            )
    classes = fn.arange(0, num_classes, 1, device=self._device)
    return (self.unsqueeze(-1) == classes).to(int64)


op(
    "one_hot(Tensor self, int num_classes=-1) -> Tensor",
    doc="Rows of zeros with a one at each class; by default as many classes as the largest needs.",
    decomposition=_one_hot,
    tags=frozenset({"dynamic_output_shape"}),
    namespaces=("torch", "nn"),
)
