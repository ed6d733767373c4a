"""Batch normalisation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from ...dispatch.functions import fn
from ...dispatch.opdef import Apart, TensorSpec
from ...opdefs.define import op
from ...tensors.tensor import Tensor
from ...values.dtypes import uint8
from ...values.shapes import numel, show
from ..elementwise.composed import by_name, in_wide
from .normalization import (
    AFFINE,
    Specs,
    by_channel,
    chosen,
    in_format,
    laid_out,
    scale_shift,
    standardised,
    statistics_dtype,
)

Three = tuple[Any, Any, Any]


def _check(input: Tensor, training: bool, **parameters: Any) -> int:
    """Number of channels.

    Raises:
        RuntimeError: if a parameter has another size, or statistics are missing.
        ValueError: if one of the statistics is missing in training, and the other one is not.
    """
    if len(input._shape) < 2 and input._shape != (0,):
        raise RuntimeError(
            f"batch_norm: expected at least 2 dimensions, got input of shape {show(input._shape)}"
        )
    channels = input._shape[1] if len(input._shape) > 1 else 0
    for name, t in parameters.items():
        if t is not None and numel(t._shape) != channels:
            raise RuntimeError(f"{name} should contain {channels} elements not {numel(t._shape)}")
        if t is None and not training and name.startswith("running"):
            raise RuntimeError(f"{name} must be defined in evaluation mode")
    if (parameters["running_mean"] is None) != (parameters["running_var"] is None):
        raise ValueError("running_mean and running_var must either both be None or neither be None")
    return channels


def batch_norm_rule(
    input: Tensor,
    weight: Any,
    bias: Any,
    running_mean: Any,
    running_var: Any,
    training: bool,
    momentum: float,
    eps: float,
) -> tuple[TensorSpec, TensorSpec, TensorSpec]:
    """Shapes and dtypes of the result, the means and the factors."""
    channels = _check(
        input,
        training,
        running_mean=running_mean,
        running_var=running_var,
        weight=weight,
        bias=bias,
    )
    saved = TensorSpec((channels,) if training else (0,), statistics_dtype(input, weight))
    return in_format(input), saved, saved


def _dims(x: Tensor) -> list[int]:
    return [i for i in range(len(x._shape)) if i != 1]


def _batch_norm(
    input: Any,
    weight: Any,
    bias: Any,
    running_mean: Any,
    running_var: Any,
    training: bool,
    momentum: float,
    eps: float,
) -> Three:
    specs = batch_norm_rule(input, weight, bias, running_mean, running_var, training, momentum, eps)
    d = input._dtype
    kept = specs[1].dtype
    if input._shape == (0,):
        return input.clone(), input.new_empty((0,), dtype=kept), input.new_empty((0,), dtype=kept)
    x = in_wide(input, d)
    if training:
        out, mean, rstd = standardised(x, _dims(x), eps)
        update_running(
            running_mean, running_var, mean.reshape(-1), rstd.reshape(-1), x, momentum, eps
        )
        saved = mean.reshape(-1).to(kept), rstd.reshape(-1).to(kept)
    else:
        factor = (in_wide(running_var, d) + eps).rsqrt()
        out = (x - by_channel(running_mean, x, d)) * by_channel(factor, x, d)
        saved = input.new_empty((0,), dtype=kept), input.new_empty((0,), dtype=kept)
    out = scale_shift(out, by_channel(weight, x, d), by_channel(bias, x, d), d)
    return laid_out(out, input, d), *saved


def _recorded(
    whole: Any,
    parts: Any,
    input: Any,
    weight: Any,
    bias: Any,
    running_mean: Any,
    running_var: Any,
    training: bool,
    momentum: float,
    eps: float,
) -> Three:
    """In a pipeline: the kernel, which writes nothing, and what it would have written by ops.

    Where its means are rounded to fewer digits than it computes with, the running ones would be too.
    """
    given, options = (input, weight, bias), (training, momentum, eps)
    statistics = (running_mean, running_var)
    if not training or (running_mean is None and running_var is None):
        return cast(Three, whole(*given, *statistics, *options))
    if running_mean is None or running_var is None:
        batch_norm_rule(
            *given, *statistics, training, momentum, eps
        )  # refuses one without the other
    if statistics_dtype(input, weight).itemsize < max(input._dtype.itemsize, 4):
        return cast(Three, parts(*given, *statistics, *options))
    out, mean, rstd = whole(*given, None, None, *options)
    update_running(*statistics, mean, rstd, input, momentum, eps)
    return out, mean, rstd


_APART = Apart(batch_norm_rule, _recorded)


def update_running(
    running_mean: Any, running_var: Any, mean: Any, rstd: Any, x: Any, momentum: float, eps: float
) -> None:
    """Move running statistics towards those of a batch; variances are unbiased."""
    count = numel(x._shape) // max(x._shape[1], 1)
    if not count:
        return  # nothing was seen
    if running_mean is not None:
        running_mean.mul_(1 - momentum).add_(mean.detach().to(running_mean._dtype), alpha=momentum)
    if running_var is not None:
        variance = (rstd.detach() ** -2 - eps) * (count / max(count - 1, 1))
        running_var.mul_(1 - momentum).add_(variance.to(running_var._dtype), alpha=momentum)


def _backward_rule(
    grad_out: Tensor,
    input: Tensor,
    weight: Any,
    running_mean: Any,
    running_var: Any,
    save_mean: Any,
    save_invstd: Any,
    train: bool,
    eps: float,
    output_mask: Sequence[bool],
) -> Specs:
    parameter = TensorSpec(input._shape[1:2] or (0,), statistics_dtype(input, weight))
    return chosen(output_mask, in_format(input), parameter, parameter)


def _backward(
    grad_out: Any,
    input: Any,
    weight: Any,
    running_mean: Any,
    running_var: Any,
    save_mean: Any,
    save_invstd: Any,
    train: bool,
    eps: float,
    output_mask: Sequence[bool],
) -> Three:
    """Gradients of input, weight and bias.

    The statistics are computed from ``input`` again, so that second gradients flow through them.
    """
    d = input._dtype
    if input._shape == (0,):
        return grad_out.clone(), grad_out.clone(), grad_out.clone()
    g, x = in_wide(grad_out, d), in_wide(input, d)
    dims = _dims(x)
    if train:
        scaled, _, factor = standardised(x, dims, eps)
    else:
        factor = by_channel((in_wide(running_var, d) + eps).rsqrt(), x, d)
        scaled = (x - by_channel(running_mean, x, d)) * factor
    found: list[Any] = [None, None, None]
    if output_mask[0]:
        gw = g if weight is None else g * by_channel(weight, g, d)
        if train:
            gw = gw - gw.mean(dims, True) - scaled * (gw * scaled).mean(dims, True)
        found[0] = laid_out(factor * gw, input, d)
    kept = statistics_dtype(input, weight)
    if output_mask[1]:
        found[1] = (g * scaled).sum(dims).to(kept)
    if output_mask[2]:
        found[2] = g.sum(dims).to(kept)
    return found[0], found[1], found[2]


def _grads(
    g: Any,
    input: Any,
    weight: Any,
    running_mean: Any,
    running_var: Any,
    training: Any,
    eps: Any,
    result1: Any,
    result2: Any,
    wanted: Any,
) -> Any:
    return by_name("native_batch_norm_backward")(
        g, input, weight, running_mean, running_var, result1, result2, training, eps, wanted
    )


def _grads_without_statistics(
    g: Any,
    input: Any,
    weight: Any,
    training: Any,
    eps: Any,
    result1: Any,
    result2: Any,
    wanted: Any,
) -> Any:
    return _grads(g, input, weight, None, None, training, eps, result1, result2, wanted)


def _grads_in_training(
    g: Any, input: Any, weight: Any, eps: Any, result1: Any, result2: Any, wanted: Any
) -> Any:
    return _grads(g, input, weight, None, None, True, eps, result1, result2, wanted)


def _in_evaluation(training: bool) -> bool:
    """The gradient of training needs no running statistics, which the next batch changes."""
    return not training


IN_EVALUATION = dict.fromkeys(("running_mean", "running_var"), _in_evaluation)

_HEAD = "Tensor input, Tensor? weight, Tensor? bias"
_STATISTICS = "Tensor? running_mean, Tensor? running_var"
_WRITTEN = "Tensor(a!) running_mean, Tensor(b!) running_var"

op(
    f"native_batch_norm({_HEAD}, {_STATISTICS}, bool training, float momentum, float eps) -> "
    "(Tensor, Tensor, Tensor)",
    doc="`batch_norm`, and the means and reciprocal deviations it used in training.",
    grad=dict.fromkeys(AFFINE, _grads),
    saved_if=IN_EVALUATION,
    output_differentiability=(True, False, False),
    decomposition=_batch_norm,
    apart=_APART,
    out=True,
    namespaces=("torch",),
)
op(
    f"native_batch_norm_backward(Tensor grad_out, Tensor input, Tensor? weight, {_STATISTICS}, "
    "Tensor? save_mean, Tensor? save_invstd, bool train, float eps, bool[3] output_mask) -> "
    "(Tensor, Tensor, Tensor)",
    doc="Gradients of `native_batch_norm` for input, weight and bias, those that the mask asks for.",
    rule=_backward_rule,
    decomposition=_backward,
    namespaces=(),
)
op(
    f"_native_batch_norm_legit({_HEAD}, {_WRITTEN}, bool training, float momentum, float eps) -> "
    "(Tensor, Tensor, Tensor)",
    doc="`native_batch_norm`, with running statistics that are written.",
    grad=dict.fromkeys(AFFINE, _grads),
    saved_if=IN_EVALUATION,
    output_differentiability=(True, False, False),
    decomposition=_batch_norm,
    out=True,
    namespaces=("torch",),
)
op(
    f"_native_batch_norm_legit.no_stats({_HEAD}, bool training, float momentum, float eps) -> "
    "(Tensor, Tensor, Tensor)",
    doc="`native_batch_norm` without running statistics.",
    grad=dict.fromkeys(AFFINE, _grads_without_statistics),
    output_differentiability=(True, False, False),
    decomposition=lambda input, weight, bias, training, momentum, eps: _batch_norm(
        input, weight, bias, None, None, training, momentum, eps
    ),
    namespaces=("torch",),
)
op(
    f"_batch_norm_with_update({_HEAD}, {_WRITTEN}, float momentum, float eps) -> "
    "(Tensor, Tensor, Tensor, Tensor)",
    doc="`native_batch_norm` in training, and memory that other backends reserve for its gradient.",
    grad=dict.fromkeys(AFFINE, _grads_in_training),
    output_differentiability=(True, False, False, False),
    decomposition=lambda input, weight, bias, running_mean, running_var, momentum, eps: (
        *_batch_norm(input, weight, bias, running_mean, running_var, True, momentum, eps),
        input.new_empty((0,), dtype=uint8),
    ),
    out=True,
    namespaces=("torch",),
)


def _normalised(
    input: Any,
    weight: Any,
    bias: Any,
    running_mean: Any,
    running_var: Any,
    training: bool,
    momentum: float,
    eps: float,
    cudnn_enabled: bool,
) -> Any:
    return fn.native_batch_norm(
        input, weight, bias, running_mean, running_var, training, momentum, eps
    )[0]


def writing_none(normalise: Any) -> Any:
    """A normalisation that leaves running statistics alone, which the first call has moved."""

    def anew(
        input: Any, weight: Any, bias: Any, mean: Any, var: Any, batch: bool, *rest: Any
    ) -> Any:
        kept = (None, None) if batch else (mean, var)
        return normalise(input, weight, bias, *kept, batch, *rest)

    return anew


def recorded_whole(whole: Any, parts: Any, *args: Any) -> Any:
    """In a pipeline: a kernel for one of `batch_norm` and `instance_norm`, which writes nothing.

    Running statistics are moved by what the op is made of; what of it nobody wants does not run.
    """
    given, statistics, options = args[:3], args[3:5], args[5:]
    if not options[0] or statistics == (None, None):
        return whole(*args)
    out = whole(*given, None, None, *options)
    parts(*given, *statistics, *options)
    return out


op(
    f"batch_norm({_HEAD}, {_STATISTICS}, bool training, float momentum, float eps, "
    "bool cudnn_enabled) -> Tensor",
    doc="Mean 0 and variance 1 of each channel, then scale and shift (Ioffe and Szegedy, 2015).",
    decomposition=_normalised,
    remade=writing_none(_normalised),
    apart=Apart(lambda *args: batch_norm_rule(*args[:-1])[0], recorded_whole),
    saved_if=IN_EVALUATION,
    namespaces=("torch",),
)
