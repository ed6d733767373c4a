"""Softmax and its logarithm."""

from __future__ import annotations

from typing import Any

from ...dispatch.functions import fn
from ...dispatch.opdef import TensorSpec
from ...opdefs.define import op, public
from ...tensors.tensor import Tensor
from ...values.dtypes import FLOATING
from ...values.shapes import wrap_dim
from ...values.user_warnings import warn_user
from ..elementwise.composed import widened

_SOFTMAX = "Tensor self, int dim, ScalarType? dtype=None"


def _spec(name: str, self: Tensor, dim: int, dtype: Any = None) -> TensorSpec:
    wrap_dim(dim, len(self._shape))
    d = dtype or self._dtype
    if d.category != FLOATING:
        raise NotImplementedError(f"\"{name}_lastdim_kernel_impl\" not implemented for '{d.label}'")
    return TensorSpec(self._shape, d)


def _softmax_rule(self: Tensor, dim: int, dtype: Any = None) -> TensorSpec:
    return _spec("softmax", self, dim, dtype)


def _log_softmax_rule(self: Tensor, dim: int, dtype: Any = None) -> TensorSpec:
    return _spec("log_softmax", self, dim, dtype)


def _shifted(self: Tensor, dim: int, d: Any) -> Any:
    """What the exponentials are taken of: the largest becomes 0, so that none overflows."""
    x = widened(_cast(self, d)).contiguous()
    if 0 in x._shape:
        return x
    return x - x.amax(dim, True)


def _softmax(self: Tensor, dim: int, dtype: Any = None) -> Any:
    d = _softmax_rule(self, dim, dtype).dtype
    e = _shifted(self, dim, d).exp()
    return _cast(e / e.sum(dim, True), d)


def _log_softmax(self: Tensor, dim: int, dtype: Any = None) -> Any:
    d = _log_softmax_rule(self, dim, dtype).dtype
    x = _shifted(self, dim, d)
    return _cast(x - x.exp().sum(dim, True).log(), d)


op(
    f"softmax({_SOFTMAX}) -> Tensor",
    overloads=("int",),
    doc="Exponentials along a dimension, scaled to sum 1.",
    rule=_softmax_rule,
    grad={
        "self": lambda g, result, dim, self_dtype: fn._softmax_backward_data(
            g, result, dim, self_dtype
        )
    },
    decomposition=_softmax,
    out=True,
)
op(
    f"log_softmax({_SOFTMAX}) -> Tensor",
    overloads=("int",),
    doc="Logarithm of `softmax`, computed without overflow.",
    rule=_log_softmax_rule,
    grad={
        "self": lambda g, result, dim, self_dtype: fn._log_softmax_backward_data(
            g, result, dim, self_dtype
        )
    },
    decomposition=_log_softmax,
    out=True,
)


def _without_dtype(name: str) -> Any:
    """The function by the name that PyTorch gives its kernels, for handlers of ops to call."""

    def call(self: Tensor, dim: int, half_to_float: bool) -> Any:
        if half_to_float:
            raise RuntimeError(
                f"softmax with half to float conversion is not supported on "
                f"{self._device.type.upper()}"
            )
        return getattr(fn, name)(self, dim)

    return call


for _name in ("softmax", "log_softmax"):
    op(
        f"_{_name}(Tensor self, int dim, bool half_to_float) -> Tensor",
        doc=f"`{_name}` in the dtype of its input; ``half_to_float`` is refused.",
        decomposition=_without_dtype(_name),
        namespaces=("torch",),
    )


def _softmax_grad(grad_output: Any, output: Any, dim: int) -> Any:
    weighted = grad_output * output
    return weighted - output * weighted.sum(dim, True)


def _log_softmax_grad(grad_output: Any, output: Any, dim: int) -> Any:
    return grad_output - output.exp() * grad_output.sum(dim, True)


def _in_dtype(formula: Any) -> Any:
    return lambda grad_output, output, dim, input_dtype: _cast(
        formula(widened(grad_output).contiguous(), widened(output).contiguous(), dim), input_dtype
    )


for _name, _formula in (("softmax", _softmax_grad), ("log_softmax", _log_softmax_grad)):
    op(
        f"_{_name}_backward_data(Tensor grad_output, Tensor output, int dim, ScalarType input_dtype) "
        "-> Tensor",
        doc=f"Gradient of `{_name}` from its output.",
        rule=lambda grad_output, output, dim, input_dtype: TensorSpec(output._shape, input_dtype),
        decomposition=_in_dtype(_formula),
        out=True,
        namespaces=("torch",),
    )


def _cast(g: Any, d: Any) -> Any:
    return g if g._dtype is d else g.to(d)


def implicit_dim(name: str, input: Tensor, dim: int | None) -> int:
    """PyTorch's choice where no dimension is given, with a warning: 0 for 0, 1 and 3 dimensions, else 1."""
    if dim is not None:
        return dim
    warn_user(
        f"Implicit dimension choice for {name} has been deprecated. Change the call to include dim=X as an "
        f"argument."
    )
    return 0 if len(input._shape) in (0, 1, 3) else 1


@public("nn")
def softmax(
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None
) -> Tensor:
    """Exponentials along a dimension, scaled to sum 1.

    Args:
        input: a tensor, of floats.
        dim: the dimension along which the results add up to 1. Without it one is chosen, with a warning.
        dtype: what elements are converted to before; whole numbers want one.

    Raises:
        IndexError: if there is no such dimension.

    Example:
        >>> torch.nn.functional.softmax(torch.zeros(1, 2), dim=1)
        tensor([[0.5000, 0.5000]])
    """
    return fn.softmax(input, implicit_dim("softmax", input, dim), dtype)


@public("nn")
def log_softmax(
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None
) -> Tensor:
    """Logarithm of `softmax`, computed without overflow.

    Args:
        input: a tensor, of floats.
        dim: the dimension along which the results' exponentials add up to 1.
        dtype: what elements are converted to before; whole numbers want one.

    Returns:
        A tensor of the shape of ``input``.

    Raises:
        IndexError: if there is no such dimension.

    Example:
        >>> torch.nn.functional.log_softmax(torch.tensor([0.0, 1000.0]), dim=0)
        tensor([-1000.,     0.])
    """
    return fn.log_softmax(input, implicit_dim("log_softmax", input, dim), dtype)
