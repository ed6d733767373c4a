"""Layers and the batch normalisation behind them, as one layer for inference."""

from __future__ import annotations

import copy
from typing import Any, TypeVar

import mindtorch_core as torch
from mindtorch_core import Tensor

from ..modules.module import Module
from ..parameter import Parameter

__all__ = [
    "fuse_conv_bn_eval",
    "fuse_conv_bn_weights",
    "fuse_linear_bn_eval",
    "fuse_linear_bn_weights",
]

M = TypeVar("M", bound=Module)
Pair = tuple[Parameter, Parameter]


def _fused(layer: M, bn: Any, transpose: bool | None) -> M:
    """A copy of the layer that does what both do; ``transpose`` is None for linear ones."""
    if layer.training or bn.training:
        raise AssertionError("Fusion only for eval!")
    if bn.running_mean is None or bn.running_var is None:
        raise AssertionError("bn.running_mean and bn.running_var must not be None")
    made: Any = copy.deepcopy(layer)
    fuse = fuse_linear_bn_weights if transpose is None else fuse_conv_bn_weights
    rest = () if transpose is None else (transpose,)
    made.weight, made.bias = fuse(
        made.weight, made.bias, bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias, *rest
    )
    found: M = made
    return found


def fuse_conv_bn_eval(conv: M, bn: Any, transpose: bool = False) -> M:
    """A convolution that does what ``bn(conv(x))`` does.

    Raises:
        AssertionError: in training mode, or without running statistics.
    """
    return _fused(conv, bn, transpose)


def fuse_linear_bn_eval(linear: M, bn: Any) -> M:
    """A linear layer that does what ``bn(linear(x))`` does.

    Raises:
        AssertionError: in training mode, without running statistics, or for other features.
    """
    features: Any = linear.out_features
    if bn.num_features not in (features, 1):
        raise AssertionError(
            f"To fuse, linear.out_features == bn.num_features or bn.num_features == 1, got "
            f"linear.out_features={features} and bn.num_features={bn.num_features}"
        )
    return _fused(linear, bn, None)


def fuse_conv_bn_weights(
    conv_w: Tensor,
    conv_b: Tensor | None,
    bn_rm: Tensor,
    bn_rv: Tensor,
    bn_eps: float,
    bn_w: Tensor | None,
    bn_b: Tensor | None,
    transpose: bool = False,
) -> Pair:
    """Weight and bias of the fused convolution."""
    shape = [1] * conv_w.dim()
    shape[1 if transpose else 0] = -1
    return _scaled(conv_w, conv_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b, shape)


def fuse_linear_bn_weights(
    linear_w: Tensor,
    linear_b: Tensor | None,
    bn_rm: Tensor,
    bn_rv: Tensor,
    bn_eps: float,
    bn_w: Tensor | None,
    bn_b: Tensor | None,
) -> Pair:
    """Weight and bias of the fused linear layer."""
    return _scaled(linear_w, linear_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b, [-1, 1])


def _scaled(
    w: Tensor,
    b: Tensor | None,
    mean: Tensor,
    var: Tensor,
    eps: float,
    gain: Tensor | None,
    shift: Tensor | None,
    shape: list[int],
) -> Pair:
    dtype = w.dtype if b is None else b.dtype
    bias = torch.zeros_like(mean) if b is None else b
    scale = torch.rsqrt(var + eps)
    scale = scale if gain is None else scale * gain
    fused_w = (w * scale.reshape(shape)).to(w.dtype)
    fused_b = (bias - mean) * scale
    fused_b = fused_b if shift is None else fused_b + shift
    grad_b = w.requires_grad if b is None else b.requires_grad
    return Parameter(fused_w, w.requires_grad), Parameter(fused_b.to(dtype), grad_b)
