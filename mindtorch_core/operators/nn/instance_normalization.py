"""Instance normalisation."""

from __future__ import annotations

from typing import Any

from ...dispatch.functions import fn
from ...dispatch.opdef import Apart, TensorSpec
from ...opdefs.define import op
from ...tensors.tensor import Tensor
from ...values.shapes import wrap_dim
from .batch_normalization import IN_EVALUATION, recorded_whole, writing_none


def _check(running_mean: Any, running_var: Any, use_input_stats: bool) -> None:
    if not use_input_stats and (running_mean is None or running_var is None):
        raise RuntimeError(
            "Expected running_mean and running_var to be defined when use_input_stats is false"
        )
    if (running_mean is None) != (running_var is None):
        raise ValueError("running_mean and running_var must either both be None or neither be None")


def _rule(
    input: Tensor,
    weight: Any,
    bias: Any,
    running_mean: Any,
    running_var: Any,
    use_input_stats: bool,
    *options: Any,
) -> TensorSpec:
    """Shape and dtype of the result."""
    _check(running_mean, running_var, use_input_stats)
    return TensorSpec(input._shape, input._dtype)


def _instance_norm(
    input: Any,
    weight: Any,
    bias: Any,
    running_mean: Any,
    running_var: Any,
    use_input_stats: bool,
    momentum: float,
    eps: float,
    cudnn_enabled: bool,
) -> Any:
    _check(running_mean, running_var, use_input_stats)
    channels = input._shape[wrap_dim(1, len(input._shape))]
    batch = input._shape[0]

    def repeated(t: Any) -> Any:
        return None if t is None else t.repeat(batch)  # a copy: `batch_norm` writes statistics

    mean, var = repeated(running_mean), repeated(running_var)
    out = fn.batch_norm(
        input.contiguous().view(1, batch * channels, *input._shape[2:]),
        repeated(weight),
        repeated(bias),
        mean,
        var,
        use_input_stats,
        momentum,
        eps,
        cudnn_enabled,
    )
    if use_input_stats and batch:
        for running, each in ((running_mean, mean), (running_var, var)):
            if running is not None:
                running.detach().copy_(each.view(batch, channels).mean(0))
    return out.view(input._shape)


op(
    "instance_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, "
    "Tensor? running_var, bool use_input_stats, float momentum, float eps, bool cudnn_enabled) -> Tensor",
    doc="Mean 0 and variance 1 of each channel of each sample (Ulyanov et al., 2016).",
    decomposition=_instance_norm,
    remade=writing_none(_instance_norm),
    apart=Apart(_rule, recorded_whole),
    saved_if=dict.fromkeys(IN_EVALUATION, lambda use_input_stats: not use_input_stats),
    namespaces=("torch",),
)
