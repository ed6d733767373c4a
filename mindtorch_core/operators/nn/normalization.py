"""Normalisation over features and over groups of channels: layer and group norm."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from ...dispatch.functions import fn
from ...dispatch.opdef import TensorSpec
from ...opdefs.define import op, public
from ...opdefs.rules import like
from ...tensors.tensor import Tensor
from ...values.dtypes import FLOATING, dtype
from ...values.memory_formats import suggested
from ...values.shapes import numel, show
from ..elementwise.composed import by_name, in_wide

Three = tuple[Any, Any, Any]
Specs = tuple[TensorSpec | None, ...]

# The arguments of a norm that have gradients: one formula gives all.
AFFINE: Final = ("input", "weight", "bias")


def check_features(name: str, input: Tensor, shape: Sequence[int], *parameters: Any) -> None:
    """Refuse normalised shapes that are not the input's last dimensions.

    Raises:
        RuntimeError: saying which shape does not fit.
    """
    wanted = tuple(shape)
    if not wanted:
        raise RuntimeError(
            f"Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one "
            f"element, but got normalized_shape = {show(wanted)}"
        )
    for word, t in zip(("weight", "bias"), parameters, strict=False):
        if t is not None and t._shape != wanted:
            raise RuntimeError(
                f"Expected {word} to be of same shape as normalized_shape, but got {word} of shape "
                f"{show(t._shape)} and normalized_shape = {show(wanted)}"
            )
    if input._shape[len(input._shape) - len(wanted) :] != wanted:
        raise RuntimeError(
            f"Given normalized_shape={show(wanted)}, expected input with shape [*, "
            f"{show(wanted)[1:]}, but got input of size{show(input._shape)}"
        )
    if input._dtype.category < FLOATING:
        raise NotImplementedError(f"\"{name}\" not implemented for '{input._dtype.label}'")


def statistics_dtype(input: Tensor, weight: Tensor | None) -> Any:
    """Half-precision inputs with float32 parameters have their statistics in float32."""
    return input._dtype if weight is None else weight._dtype


def chosen(mask: Sequence[bool], *specs: TensorSpec | None) -> Specs:
    """What a gradient's rule says, None where the mask does not ask for it."""
    return tuple(spec if wanted else None for wanted, spec in zip(mask, specs, strict=True))


def in_format(t: Tensor) -> TensorSpec:
    """Shape and dtype of a tensor, in the memory format that its layout is taken for."""
    if len(t._shape) < 4:
        return TensorSpec(t._shape, t._dtype)
    return like(t, memory_format=suggested(t._shape, t._geometry()[0]))


def laid_out(made: Any, of: Tensor, d: dtype) -> Any:
    """A result in its dtype and in the memory format of the tensor it belongs to."""
    return made.to(d).contiguous(memory_format=suggested(of._shape, of._geometry()[0]))


def standardised(x: Any, dims: Any, eps: float) -> Three:
    """``(x - mean) / sqrt(var + eps)``, the mean, and the factor; dimensions are kept."""
    mean = x.mean(dims, True)
    centred = x - mean
    rstd = ((centred * centred).mean(dims, True) + eps).rsqrt()
    return centred * rstd, mean, rstd


def scale_shift(x: Any, weight: Any, bias: Any, d: Any) -> Any:
    """``x * weight + bias``, where they are given, in the dtype for results of dtype ``d``."""
    if weight is not None:
        x = x * in_wide(weight, d)
    return x if bias is None else x + in_wide(bias, d)


# ---- layer norm ---------------------------------------------------------------------------------


def last_dims(input: Tensor, shape: Sequence[int]) -> list[int]:
    """The dimensions of an input that a normalised shape stands for."""
    return list(range(len(input._shape) - len(shape), len(input._shape)))


def _layer_norm_rule(
    input: Tensor, normalized_shape: Sequence[int], weight: Any, bias: Any, eps: float
) -> tuple[TensorSpec, TensorSpec, TensorSpec]:
    check_features("LayerNormKernelImpl", input, normalized_shape, weight, bias)
    at = len(input._shape) - len(normalized_shape)
    statistics = TensorSpec(
        input._shape[:at] + (1,) * len(normalized_shape), statistics_dtype(input, weight)
    )
    return TensorSpec(input._shape, input._dtype), statistics, statistics


def _layer_norm(input: Tensor, normalized_shape: Any, weight: Any, bias: Any, eps: float) -> Three:
    specs = _layer_norm_rule(input, normalized_shape, weight, bias, eps)
    d = input._dtype
    out, mean, rstd = standardised(in_wide(input, d), last_dims(input, normalized_shape), eps)
    out = scale_shift(out, weight, bias, d)
    return out.to(d).contiguous(), mean.to(specs[1].dtype), rstd.to(specs[1].dtype)


def _layer_norm_backward_rule(
    grad_out: Tensor,
    input: Tensor,
    normalized_shape: Sequence[int],
    mean: Tensor,
    rstd: Tensor,
    weight: Any,
    bias: Any,
    output_mask: Sequence[bool],
) -> Specs:
    parameters = [None if t is None else TensorSpec(t._shape, t._dtype) for t in (weight, bias)]
    return chosen(output_mask, TensorSpec(input._shape, input._dtype), *parameters)


def _layer_norm_backward(
    grad_out: Any,
    input: Any,
    normalized_shape: Any,
    mean: Any,
    rstd: Any,
    weight: Any,
    bias: Any,
    output_mask: Sequence[bool],
) -> Three:
    """Gradients of input, weight and bias.

    The statistics are computed from ``input`` again, so that second gradients flow through them.
    """
    d = input._dtype
    dims = last_dims(input, normalized_shape)
    leading = list(range(len(input._shape) - len(normalized_shape)))
    g, x = in_wide(grad_out, d), in_wide(input, d)
    centred = x - x.mean(dims, True)
    # The factor from the saved one: it holds eps. Its own gradient comes from the variance.
    variance = (centred * centred).mean(dims, True)
    saved = in_wide(rstd, d)
    eps = saved.detach() ** -2 - variance.detach()
    factor = (variance + eps).rsqrt()
    scaled = centred * factor
    found: list[Any] = [None, None, None]
    if output_mask[0]:
        gw = g if weight is None else g * in_wide(weight, d)
        gx = factor * (gw - gw.mean(dims, True) - scaled * (gw * scaled).mean(dims, True))
        found[0] = gx.to(d).contiguous()
    if output_mask[1] and weight is not None:
        found[1] = ((g * scaled).sum(leading) if leading else g * scaled).to(weight._dtype)
    if output_mask[2] and bias is not None:
        found[2] = (g.sum(leading) if leading else g).to(bias._dtype)
    return found[0], found[1], found[2]


def _layer_norm_grads(
    g: Any,
    input: Any,
    normalized_shape: Any,
    weight: Any,
    bias: Any,
    result1: Any,
    result2: Any,
    wanted: Any,
) -> Any:
    return by_name("native_layer_norm_backward")(
        g, input, normalized_shape, result1, result2, weight, bias, wanted
    )


op(
    "native_layer_norm(Tensor input, SymInt[] normalized_shape, Tensor? weight, Tensor? bias, "
    "float eps) -> (Tensor, Tensor, Tensor)",
    doc="`layer_norm`, the means, and the reciprocal standard deviations.",
    rule=_layer_norm_rule,
    grad=dict.fromkeys(AFFINE, _layer_norm_grads),
    output_differentiability=(True, False, False),
    decomposition=_layer_norm,
    namespaces=("torch",),
)
op(
    "native_layer_norm_backward(Tensor grad_out, Tensor input, SymInt[] normalized_shape, Tensor mean, "
    "Tensor rstd, Tensor? weight, Tensor? bias, bool[3] output_mask) -> (Tensor, Tensor, Tensor)",
    doc="Gradients of `native_layer_norm` for input, weight and bias, those that the mask asks for.",
    rule=_layer_norm_backward_rule,
    decomposition=_layer_norm_backward,
    namespaces=(),
)
op(
    "layer_norm(Tensor input, SymInt[] normalized_shape, Tensor? weight=None, Tensor? bias=None, "
    "float eps=1e-05, bool cudnn_enable=True) -> Tensor",
    doc="Mean 0 and variance 1 over the last dimensions, then scale and shift (Ba et al., 2016).",
    decomposition=lambda input, normalized_shape, weight=None, bias=None, eps=1e-5, cudnn_enable=True: (
        fn.native_layer_norm(input, normalized_shape, weight, bias, eps)[0]
    ),
    namespaces=("torch",),
)


@public("nn")
def layer_norm(
    input: Tensor,
    normalized_shape: Sequence[int],
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:
    """Mean 0 and variance 1 over the last dimensions, then scale and shift (Ba et al., 2016).

    Args:
        input: shape (*, *normalized_shape).
        normalized_shape: the last dimensions.
        weight: scale, of shape ``normalized_shape``.
        bias: shift, of the same shape.
        eps: added to the variance.

    Returns:
        A tensor of the shape of ``input``.

    Raises:
        RuntimeError: if a shape does not fit.

    Example:
        >>> torch.nn.functional.layer_norm(torch.tensor([[1.0, 3.0], [10.0, 30.0]]), (2,))
        tensor([[-1.0000,  1.0000],
                [-1.0000,  1.0000]])
    """
    return fn.layer_norm(input, normalized_shape, weight, bias, eps)


# ---- group norm ---------------------------------------------------------------------------------


def _group_norm_rule(
    input: Tensor, weight: Any, bias: Any, N: int, C: int, HxW: int, group: int, eps: float
) -> tuple[TensorSpec, TensorSpec, TensorSpec]:
    if group <= 0:
        raise RuntimeError(f"Expected num groups to be greater than 0, got {group}")
    if C % group:
        raise RuntimeError(
            f"Expected number of channels in input to be divisible by num_groups, but got input of "
            f"shape {show(input._shape)} and num_groups={group}"
        )
    for word, t in (("weight", weight), ("bias", bias)):
        if t is not None and t._shape != (C,):
            raise RuntimeError(
                f"Expected {word} to be a vector of size equal to the number of channels in input, "
                f"but got {word} of shape {show(t._shape)} and input of shape {show(input._shape)}"
            )
    statistics = TensorSpec((N, group), statistics_dtype(input, weight))
    return in_format(input), statistics, statistics


def by_channel(t: Any, x: Any, d: Any) -> Any:
    """A vector of one value a channel in a shape that broadcasts with ``x``."""
    return None if t is None else in_wide(t, d).view(1, -1, *[1] * (len(x._shape) - 2))


def _group_norm(
    input: Any, weight: Any, bias: Any, N: int, C: int, HxW: int, group: int, eps: float
) -> Three:
    specs = _group_norm_rule(input, weight, bias, N, C, HxW, group, eps)
    d = input._dtype
    x = in_wide(input, d).reshape(N, group, C // group * HxW)
    out, mean, rstd = standardised(x, 2, eps)
    out = out.reshape(input._shape)
    out = scale_shift(out, by_channel(weight, out, d), by_channel(bias, out, d), d)
    kept = specs[1].dtype
    mean, rstd = (t.reshape(N, group).to(kept) for t in (mean, rstd))
    return laid_out(out, input, d), mean, rstd


def _group_norm_backward_rule(
    grad_out: Tensor,
    input: Tensor,
    mean: Tensor,
    rstd: Tensor,
    weight: Any,
    N: int,
    C: int,
    HxW: int,
    group: int,
    output_mask: Sequence[bool],
) -> Specs:
    parameter = TensorSpec((C,), rstd._dtype)
    return chosen(output_mask, in_format(input), parameter, parameter)


def _group_norm_backward(
    grad_out: Any,
    input: Any,
    mean: Any,
    rstd: Any,
    weight: Any,
    N: int,
    C: int,
    HxW: int,
    group: int,
    output_mask: Sequence[bool],
) -> Three:
    d = input._dtype
    g, x = in_wide(grad_out, d), in_wide(input, d).reshape(N, group, C // group * HxW)
    centred = x - x.mean(2, True)
    variance = (centred * centred).mean(2, True)
    eps = in_wide(rstd, d).detach().reshape(N, group, 1) ** -2 - variance.detach()
    factor = (variance + eps).rsqrt()
    scaled = centred * factor
    found: list[Any] = [None, None, None]
    if output_mask[0]:
        gw = g if weight is None else g * by_channel(weight, g, d)
        gw = gw.reshape(x._shape)
        gx = factor * (gw - gw.mean(2, True) - scaled * (gw * scaled).mean(2, True))
        found[0] = laid_out(gx.reshape(input._shape), input, d)
    dims = [i for i in range(len(input._shape)) if i != 1]
    if output_mask[1]:
        found[1] = (g * scaled.reshape(input._shape)).sum(dims).to(rstd._dtype)
    if output_mask[2]:
        found[2] = g.sum(dims).to(rstd._dtype)
    return found[0], found[1], found[2]


def _group_norm_grads(
    grads: Any,
    input: Any,
    weight: Any,
    N: Any,
    C: Any,
    HxW: Any,
    group: Any,
    result1: Any,
    result2: Any,
    wanted: Any,
) -> Any:
    found, *rest = None, None, None
    if grads[0] is not None:
        found, *rest = by_name("native_group_norm_backward")(
            grads[0], input, result1, result2, weight, N, C, HxW, group, wanted
        )
    if wanted[0] and (grads[1] is not None or grads[2] is not None):
        more = _of_statistics(grads, input.reshape(N, group, C // group * HxW), result2)
        found = more.reshape(input._shape) + (0 if found is None else found)
    return found, *rest


def _of_statistics(grads: Any, x: Any, rstd: Any) -> Any:
    """What the gradients of means and factors add to that of the input."""
    count = x._shape[2]
    total: Any = x.new_zeros(())
    if grads[1] is not None:
        total = total + grads[1].unsqueeze(2).expand(x._shape) / count
    if grads[2] is not None:
        slope = rstd**3 * grads[2] / -count
        total = total + (x - x.mean(2, True)) * slope.unsqueeze(2)
    return total


op(
    "native_group_norm(Tensor input, Tensor? weight, Tensor? bias, SymInt N, SymInt C, SymInt HxW, "
    "int group, float eps) -> (Tensor, Tensor, Tensor)",
    doc="`group_norm`, the means, and the reciprocal standard deviations of each group.",
    rule=_group_norm_rule,
    grad=dict.fromkeys(AFFINE, _group_norm_grads),
    decomposition=_group_norm,
    namespaces=("torch",),
)
op(
    "native_group_norm_backward(Tensor grad_out, Tensor input, Tensor mean, Tensor rstd, Tensor? weight, "
    "SymInt N, SymInt C, SymInt HxW, int group, bool[3] output_mask) -> (Tensor, Tensor, Tensor)",
    doc="Gradients of `native_group_norm` for input, weight and bias, those that the mask asks for.",
    rule=_group_norm_backward_rule,
    decomposition=_group_norm_backward,
    namespaces=(),
)


def _group_norm_of(
    input: Tensor,
    num_groups: int,
    weight: Any = None,
    bias: Any = None,
    eps: float = 1e-5,
    cudnn_enabled: bool = True,
) -> Tensor:
    shape = input._shape
    if len(shape) < 2:
        raise RuntimeError(
            f"Expected at least 2 dimensions for input tensor but received {len(shape)}"
        )
    rest = numel(shape[2:])
    return fn.native_group_norm(input, weight, bias, shape[0], shape[1], rest, num_groups, eps)[0]


op(
    "group_norm(Tensor input, int num_groups, Tensor? weight=None, Tensor? bias=None, float eps=1e-05, "
    "bool cudnn_enabled=True) -> Tensor",
    doc="Mean 0 and variance 1 over groups of channels, then scale and shift (Wu and He, 2018).",
    decomposition=_group_norm_of,
    namespaces=("torch",),
)


@public("nn")
def group_norm(
    input: Tensor,
    num_groups: int,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:
    """Mean 0 and variance 1 over groups of channels, then scale and shift (Wu and He, 2018).

    Args:
        input: shape (N, C, *).
        num_groups: into how many groups the channels are divided.
        weight: scale, of shape (C).
        bias: shift, of the same shape.
        eps: added to the variance.

    Returns:
        A tensor of the shape of ``input``.

    Raises:
        RuntimeError: if a shape does not fit, or the groups do not divide the channels.
        ValueError: if a group has one value.

    Example:
        >>> x = torch.tensor([[1.0, 3.0, 10.0, 30.0]])
        >>> torch.nn.functional.group_norm(x, num_groups=2)
        tensor([[-1.0000,  1.0000, -1.0000,  1.0000]])
    """
    shape = input._shape
    if len(shape) >= 2 and num_groups > 0:
        verify_size((shape[0] * shape[1] // num_groups, num_groups, *shape[2:]))
    return fn.group_norm(input, num_groups, weight, bias, eps)


def verify_size(shape: Sequence[int]) -> None:
    """Refuse statistics of one value.

    Raises:
        ValueError: if each channel has one value.
    """
    if shape[0] * numel(tuple(shape[2:])) == 1:
        raise ValueError(
            f"Expected more than 1 value per channel when training, got input size "
            f"torch.Size({show(shape)})"
        )
