"""Classes as vectors of zeros with a one."""

from __future__ import annotations

from typing import Any

from ...deferred import current_pipeline
from ...dispatch.functions import fn
from ...dispatch.opdef import TensorSpec
from ...opdefs.define import op
from ...opdefs.formulas import has_elements
from ...tensors.tensor import Tensor
from ...values.dtypes import int64
from ...values.shapes import numel
from ..elementwise.composed import by_name


def _one_hot(self: Tensor, num_classes: int = -1) -> Any:
    if self._dtype is not int64:
        raise RuntimeError(
            f"one_hot is only applicable to index tensor of type LongTensor, got {self._dtype.label}"
        )
    empty = not numel(self._shape)
    if empty and num_classes <= 0:
        raise RuntimeError("Can not infer total number of classes from empty tensor.")
    if not empty and num_classes == -1:
        if self.min().item() < 0:
            raise RuntimeError("Class values must be non-negative.")
        num_classes = int(self.max().item()) + 1
    if num_classes >= 0 and not empty and has_elements(self):
        return by_name("_one_hot_of")(self, num_classes)
    return _ones(self, num_classes)


def _ones(self: Tensor, num_classes: int) -> Any:
    classes = fn.arange(0, num_classes, 1, device=self._device)
    return (self.unsqueeze(-1) == classes).to(int64)


def _one_hot_of(self: Tensor, num_classes: int) -> Any:
    if current_pipeline() is not None:
        # Nobody looks: a class that there is not is out of the bounds of what is written to.
        zeros: Any = fn.zeros((*self._shape, num_classes), dtype=int64, device=self._device)
        return zeros.scatter_(-1, self.unsqueeze(-1), 1)
    if self.min().item() < 0:
        raise RuntimeError("Class values must be non-negative.")
    if (largest := self.max().item()) >= num_classes:
        raise RuntimeError(
            f"Class values must be smaller than num_classes, got {largest} and {num_classes}"
        )
    return _ones(self, num_classes)


op(
    "_one_hot_of(Tensor self, int num_classes) -> Tensor",
    doc="Rows of so many zeros with a one at each class.",
    rule=lambda self, num_classes: TensorSpec((*self._shape, num_classes), int64),
    decomposition=_one_hot_of,
    namespaces=(),
)
op(
    "one_hot(Tensor self, int num_classes=-1) -> Tensor",
    doc="Rows of zeros with a one at each class; by default as many classes as the largest needs.",
    decomposition=_one_hot,
    tags=frozenset({"dynamic_output_shape"}),
    namespaces=("torch", "nn"),
)
