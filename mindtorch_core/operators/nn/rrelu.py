"""Leaky rectifiers of random slope."""

from __future__ import annotations

from typing import Any

from ...dispatch.functions import fn
from ...dispatch.opdef import TensorSpec
from ...opdefs.define import op
from ...tensors.tensor import Tensor
from ...values.dtypes import FLOATING
from ..elementwise.composed import by_name

_SLOPES = "Scalar lower=0.125, Scalar upper=0.3333333333333333"


def _slopes(self: Tensor, lower: float, upper: float, generator: Any = None) -> Tensor:
    drawn = self.new_empty(self._shape).uniform_(lower, upper, generator=generator)
    return fn.where(self <= 0, drawn, 1).contiguous()


op(
    "_rrelu_slopes(Tensor self, Scalar lower, Scalar upper, Generator? generator=None) -> Tensor",
    doc="Random slopes for elements that are not positive, 1 for the others, in row-major order.",
    rule=lambda self, lower, upper, generator=None: TensorSpec(self._shape, self._dtype),
    grad="nondiff",
    decomposition=_slopes,
    random=True,
    namespaces=("torch",),
)


def _checked(self: Tensor, lower: float, upper: float, training: bool) -> None:
    if lower > upper:
        raise RuntimeError("Lower bound should be less than or equal to the upper bound")
    if self._dtype.category != FLOATING:
        name = "rrelu_with_noise_out_cpu" if training else "leaky_relu_cpu"
        raise NotImplementedError(f"\"{name}\" not implemented for '{self._dtype.label}'")


def _noisy(
    self: Tensor,
    noise: Tensor,
    lower: float = 0.125,
    upper: float = 1 / 3,
    training: bool = False,
    generator: Any = None,
) -> Tensor:
    """Each negative element times a slope drawn for it; ``noise`` is what each is multiplied by."""
    _checked(self, lower, upper, training)
    if not training:
        leaky: Tensor = by_name("leaky_relu")(self, (lower + upper) / 2)
        return leaky.contiguous()
    slopes = fn._rrelu_slopes(self.detach(), lower, upper, generator)
    noise.copy_(slopes)
    return (self * slopes).contiguous()


def _rrelu(
    self: Tensor,
    lower: float = 0.125,
    upper: float = 1 / 3,
    training: bool = False,
    generator: Any = None,
) -> Tensor:
    noise = self.new_empty(self._shape)
    return _noisy(self, noise, lower, upper, training, generator)


def _written(self: Tensor, result: Tensor) -> Tensor:
    return self.copy_(result)


op(
    f"rrelu(Tensor self, {_SLOPES}, bool training=False, Generator? generator=None) -> Tensor",
    doc="Negative elements times random slopes, or their mean when not training (Xu et al., 2015).",
    decomposition=_rrelu,
    random=True,
    trains_through=("rrelu_with_noise", "rrelu_with_noise_backward"),
    namespaces=("torch",),
    tags=frozenset({"pointwise"}),
)
op(
    f"rrelu_(Tensor(a!) self, {_SLOPES}, bool training=False, Generator? generator=None)"
    f" -> Tensor(a!)",
    doc="In-place version of `rrelu`.",
    decomposition=lambda self, *args: _written(self, _rrelu(self.clone(), *args)),
    random=True,
    namespaces=("torch", "nn"),
)
op(
    f"rrelu_with_noise(Tensor self, Tensor(b!) noise, {_SLOPES}, bool training=False, "
    f"Generator? generator=None) -> Tensor",
    doc="`rrelu`, which writes the slopes of all elements into ``noise``.",
    decomposition=_noisy,
    random=True,
    namespaces=(),
)
op(
    f"rrelu_with_noise_(Tensor(a!) self, Tensor(b!) noise, {_SLOPES}, bool training=False, "
    f"Generator? generator=None) -> Tensor(a!)",
    doc="In-place version of `rrelu_with_noise`.",
    decomposition=lambda self, noise, *args: _written(self, _noisy(self.clone(), noise, *args)),
    random=True,
    namespaces=(),
)


def _rrelu_backward(
    grad_output: Tensor,
    self: Tensor,
    noise: Tensor,
    lower: float,
    upper: float,
    training: bool,
    self_is_result: bool,
) -> Any:
    if training:
        return grad_output * noise
    return by_name("leaky_relu_backward")(grad_output, self, (lower + upper) / 2, False)


op(
    "rrelu_with_noise_backward(Tensor grad_output, Tensor self, Tensor noise, Scalar lower, "
    "Scalar upper, bool training, bool self_is_result) -> Tensor",
    doc="Gradient of `rrelu_with_noise` for its input.",
    decomposition=_rrelu_backward,
    namespaces=(),
)
