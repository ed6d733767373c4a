"""Layer, group and batch normalisation, with their gradients."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mindtorch_core.backend import Tensor, batch_norm_rule, device, dtype, float32, numel

from .operands import cast, contiguous, empty, filled, made, takes
from .steps import Call, Work, rule_of, steps

__all__: list[str] = []

Mask = Sequence[bool]


def _alike(d: dtype, *tensors: Tensor | None) -> bool:
    """Whether all tensors that are there are of one dtype."""
    return all(t is None or t.raw_dtype is d for t in tensors)


def _statistics(specs: Sequence[Any], on: device) -> list[Tensor]:
    """Statistics as operators write them: in float32, whatever is normalised."""
    return [empty(spec.shape, float32, on) for spec in specs]


def _gradients(name: str, *args: Any) -> list[Tensor | None]:
    """Gradients that an op makes, their elements undefined; None for those not asked for."""
    specs, on = rule_of(name)(*args), args[0].raw_device
    return [None if spec is None else made(spec, on) for spec in specs]


# ---- layer norm ----------------------------------------------------------------------------------


@steps("aten::native_layer_norm")
def layer_norm(
    input: Any, normalized_shape: Any, weight: Any, bias: Any, eps: float
) -> Work | None:
    """The normalised input, means, and reciprocal standard deviations."""
    specs = rule_of("native_layer_norm")(input, normalized_shape, weight, bias, eps)
    d, on = input.raw_dtype, input.raw_device
    if not takes("LayerNorm", d) or not _alike(d, weight, bias):
        return None
    if not numel(input.raw_shape):
        return None
    out, calls = made(specs[0], on), list[Call]()
    found = _statistics(specs[1:], on)
    arguments = (input, list(normalized_shape), weight, bias, eps, out, *found)
    calls.append(("LayerNorm", arguments))
    mean, rstd = (cast(t, spec.dtype, calls) for t, spec in zip(found, specs[1:], strict=True))
    return (out, mean, rstd), calls


@steps("aten::native_layer_norm_backward")
def layer_norm_backward(
    grad_out: Any, input: Any, normalized_shape: Any, mean: Any, rstd: Any, weight: Any, bias: Any,
    output_mask: Mask,
) -> Work | None:  # fmt: skip
    """Gradients of `native_layer_norm` for input, weight and bias."""
    d = input.raw_dtype
    if not takes("LayerNormBackward", d) or not _alike(d, grad_out, weight, bias):
        return None
    if not numel(input.raw_shape):
        return None
    calls: list[Call] = []
    found = _gradients(
        "native_layer_norm_backward",
        *(grad_out, input, normalized_shape, mean, rstd, weight, bias, output_mask),
    )
    mask = [t is not None for t in found]
    saved = [cast(t, float32, calls) for t in (mean, rstd)]
    arguments = (grad_out, input, list(normalized_shape), *saved, weight, bias, mask, *found)
    if any(mask):
        calls.append(("LayerNormBackward", arguments))
    return tuple(found), calls


# ---- group norm ----------------------------------------------------------------------------------


def _of_channels(t: Tensor | None, value: int, input: Tensor, calls: list[Call]) -> Tensor:
    """What was given for each channel; a number for all where nothing was."""
    if t is not None and numel(t.raw_shape):
        return t
    return filled((input.raw_shape[1],), value, input.raw_dtype, input.raw_device, calls)


@steps("aten::native_group_norm")
def group_norm(
    input: Any, weight: Any, bias: Any, N: int, C: int, HxW: int, group: int, eps: float
) -> Work | None:
    """The normalised input, means, and reciprocal standard deviations of each group."""
    specs = rule_of("native_group_norm")(input, weight, bias, N, C, HxW, group, eps)
    d, on = input.raw_dtype, input.raw_device
    if not takes("GroupNorm", d) or not _alike(d, weight, bias):
        return None
    if not numel(input.raw_shape):
        return None
    out, calls = made(specs[0], on), list[Call]()
    found = [empty(spec.shape, d, on) for spec in specs[1:]]
    pair = _of_channels(weight, 1, input, calls), _of_channels(bias, 0, input, calls)
    source = contiguous(input, calls)
    calls.append(("GroupNorm", (source, *pair, N, C, HxW, group, eps, out, *found)))
    mean, rstd = (cast(t, spec.dtype, calls) for t, spec in zip(found, specs[1:], strict=True))
    return (out, mean, rstd), calls


@steps("aten::native_group_norm_backward")
def group_norm_backward(
    grad_out: Any, input: Any, mean: Any, rstd: Any, weight: Any, N: int, C: int, HxW: int,
    group: int, output_mask: Mask,
) -> Work | None:  # fmt: skip
    """Gradients of `native_group_norm` for input, weight and bias."""
    d = input.raw_dtype
    if not takes("GroupNormBackward", d) or not _alike(d, grad_out, weight, mean, rstd):
        return None
    if not numel(input.raw_shape):
        return None
    calls: list[Call] = []
    found = _gradients(
        "native_group_norm_backward",
        *(grad_out, input, mean, rstd, weight, N, C, HxW, group, output_mask),
    )
    gamma = _of_channels(weight, 1, input, calls)
    pair = contiguous(grad_out, calls), contiguous(input, calls)
    arguments = (*pair, mean, rstd, gamma, N, C, HxW, group, list(output_mask), *found)
    if any(output_mask):
        calls.append(("GroupNormBackward", arguments))
    return tuple(found), calls


# ---- batch norm ----------------------------------------------------------------------------------


def _served(operator: str, input: Tensor, *parameters: Tensor | None) -> bool:
    d = input.raw_dtype
    return bool(
        takes(operator, d)
        and _alike(d, *parameters)
        and 2 <= len(input.raw_shape) <= 5
        and numel(input.raw_shape)
    )


@steps("aten::native_batch_norm", "aten::_native_batch_norm_legit")
def batch_norm(
    input: Any, weight: Any, bias: Any, running_mean: Any, running_var: Any, training: bool,
    momentum: float, eps: float,
) -> Work | None:  # fmt: skip
    """The normalised input; in training the batch's statistics, and running ones are updated."""
    specs = batch_norm_rule(input, weight, bias, running_mean, running_var, training, momentum, eps)
    d, on = input.raw_dtype, input.raw_device
    if not _served("BatchNorm", input, weight, bias, running_mean, running_var):
        return None
    channels, calls = input.raw_shape[1], list[Call]()
    out = made(specs[0], on)
    given = (weight, 1), (bias, 0), (running_mean, 0), (running_var, 1)
    parameters = [_of_channels(t, value, input, calls) for t, value in given]
    found = [empty((channels,), d, on) for _ in range(2)]
    arguments = (input, *parameters, training, float(momentum), eps, out, *found)
    calls.append(("BatchNorm", arguments))
    if not training:
        return (out, *(made(spec, on) for spec in specs[1:])), calls
    return (out, *(cast(t, specs[1].dtype, calls) for t in found)), calls


@steps("aten::native_batch_norm_backward")
def batch_norm_backward(
    grad_out: Any, input: Any, weight: Any, running_mean: Any, running_var: Any, save_mean: Any,
    save_invstd: Any, train: bool, eps: float, output_mask: Mask,
) -> Work | None:  # fmt: skip
    """Gradients of `native_batch_norm` for input, weight and bias."""
    statistics = running_mean, running_var, save_mean, save_invstd
    if not _served("BatchNormBackward", input, grad_out, weight, *statistics):
        return None
    calls: list[Call] = []
    given = zip((weight, *statistics), (1, 0, 1, 0, 1), strict=True)
    parameters = [_of_channels(t, value, input, calls) for t, value in given]
    found = _gradients(
        "native_batch_norm_backward",
        *(grad_out, input, weight, running_mean, running_var, save_mean, save_invstd, train, eps),
        output_mask,
    )
    arguments = (grad_out, input, *parameters, train, eps, list(output_mask), *found)
    if any(output_mask):
        calls.append(("BatchNormBackward", arguments))
    return tuple(found), calls
