"""Numbers rounded to those that integers of few bits stand for: what networks are trained with for them."""

from __future__ import annotations

from typing import Any

from ...dispatch.functions import fn
from ...dispatch.opdef import TensorSpec
from ...opdefs.define import op
from ...opdefs.formulas import has_elements
from ...opdefs.rules import same
from ...tensors.tensor import Tensor
from ...values.dtypes import FLOATING, bfloat16, float16, float32, int32
from ...values.shapes import wrap_dim

_CHANNEL_POINTS = (int32, float32, float16)


def _check(name: str, self: Tensor, quant_min: int, quant_max: int) -> TensorSpec:
    if self._dtype.category != FLOATING:
        raise NotImplementedError(f"\"{name}\" not implemented for '{self._dtype.label}'")
    if quant_min > quant_max:
        raise RuntimeError(
            f"`quant_min` should be less than or         equal to `quant_max`: {quant_min} is not at most "
            f"{quant_max}"
        )
    return same(self)


def _check_points(points: Tensor, low: int, high: int) -> None:
    """Refuse zero points in tensors that no integer of so many bits is."""
    if has_elements(points):
        _check_point(bool(((points >= low) & (points <= high)).all()))


def _check_point(fits: Any) -> None:
    if not fits:
        raise RuntimeError("`zero_point` must be between `quant_min` and `quant_max`.")


def _steps(self: Any, scale: Any, zero_point: Any) -> Any:
    """The integers of elements, before they are bounded, as floats; steps count as float32."""
    wide = self.float() if self._dtype in (float16, bfloat16) else self
    places = wide * scale.reciprocal()
    if isinstance(zero_point, Tensor) and zero_point._dtype.category == FLOATING:
        return (places + zero_point).round()
    return places.round() + zero_point


def _rounded(self: Any, scale: Any, zero_point: Any, low: int, high: int) -> Any:
    steps = fn.nan_to_num(_steps(self, scale, zero_point), float(low)).clamp(low, high)
    moved = steps - zero_point
    moved = moved if scale._shape else moved.float()  # one scale meets float32, as in PyTorch
    return (moved * scale).to(self._dtype)


def _kept(g: Any, self: Any, scale: Any, zero_point: Any, low: int, high: int) -> Any:
    """The gradient of elements that are not cut off."""
    steps = _steps(self, scale, zero_point)
    return g * ((steps >= low) & (steps <= high))


def _refused(g: Any) -> Any:
    raise RuntimeError(
        "fake quantization is not differentiable with respect to its scale and zero point: they cannot "
        "have requires_grad=True; detach() them"
    )


# ---- of a tensor --------------------------------------------------------------------------------


def _tensor_rule(
    self: Tensor, scale: Any, zero_point: Any, quant_min: int, quant_max: int
) -> TensorSpec:
    name = "fake_quantize_tensor_cachemask_kernel_type_handling"
    spec = _check(name, self, quant_min, quant_max)
    for given in (scale, zero_point):
        if isinstance(given, Tensor) and given.numel() != 1:
            raise RuntimeError(
                f"a Tensor with {given.numel()} elements cannot be converted to Scalar"
            )
    if not isinstance(zero_point, Tensor):
        _check_point(quant_min <= zero_point <= quant_max)
    return spec


def _single(self: Tensor, scale: Any, zero_point: Any) -> tuple[Any, Any]:
    """Scale and zero point as numbers of the tensor's device."""
    if not isinstance(scale, Tensor):
        return fn.full((), scale, dtype=float32, device=self._device), zero_point
    return scale.reshape(()).to(float32), zero_point.reshape(()).to(int32)


def _tensor(self: Any, scale: Any, zero_point: Any, quant_min: int, quant_max: int) -> Any:
    _tensor_rule(self, scale, zero_point, quant_min, quant_max)
    if isinstance(zero_point, Tensor):
        _check_points(zero_point, quant_min, quant_max)
    return _rounded(self, *_single(self, scale, zero_point), quant_min, quant_max)


def _tensor_gradient(
    g: Any, self: Any, scale: Any, zero_point: Any, quant_min: int, quant_max: int
) -> Any:
    return _kept(g, self, *_single(self, scale, zero_point), quant_min, quant_max)


op(
    "fake_quantize_per_tensor_affine(Tensor self, float scale, int zero_point, int quant_min, "
    "int quant_max) -> Tensor",
    doc="Elements rounded to multiples of ``scale``, bounded as integers around ``zero_point`` would be.",
    rule=_tensor_rule,
    decomposition=_tensor,
    grad={"self": _tensor_gradient},
    node_names=("FakeQuantizePerTensorAffineCachemaskBackward0",),
    namespaces=("torch",),
)
op(
    "fake_quantize_per_tensor_affine.tensor_qparams(Tensor self, Tensor scale, Tensor zero_point, "
    "int quant_min, int quant_max) -> Tensor",
    doc="The same with scale and zero point in tensors of one element.",
    rule=_tensor_rule,
    decomposition=_tensor,
    grad={"self": _tensor_gradient, "scale": _refused, "zero_point": _refused},
    node_names=("FakeQuantizePerTensorAffineCachemaskTensorQparamsBackward0",),
    namespaces=("torch",),
)


# ---- of channels --------------------------------------------------------------------------------


def _channel_rule(
    self: Tensor, scale: Tensor, zero_point: Tensor, axis: int, quant_min: int, quant_max: int
) -> TensorSpec:
    if scale._dtype not in (float32, bfloat16):
        raise RuntimeError(f"Scale must be Float or BFloat16, found {scale._dtype.label}")
    if zero_point._dtype not in _CHANNEL_POINTS:
        raise RuntimeError(
            f"Zero-point must be Int32, Float or Half, found {zero_point._dtype.label}"
        )
    for what, given in (("scale", scale), ("zero point", zero_point)):
        if len(given._shape) != 1:
            raise RuntimeError(f"{what} should be a 1-D tensor, got shape {tuple(given._shape)}")
    if scale._shape != zero_point._shape:
        raise RuntimeError("scale and zero-point need to have the same dimensions")
    wrap_dim(axis, len(self._shape))
    if axis < 0:
        raise RuntimeError(
            f"`axis` must be between 0 and number of dimensions of input, {len(self._shape)}, but is {axis}"
        )
    if scale._shape[0] != self._shape[axis]:
        raise RuntimeError(
            "dimensions of scale and zero-point are not consistent with input tensor: "
            f"{scale._shape[0]} for {self._shape[axis]} channels"
        )
    return _check("fake_quantize_channel_cachemask_cpu_type_handling", self, quant_min, quant_max)


def _each(self: Any, axis: int, *given: Any) -> list[Any]:
    """Numbers of channels as they meet a tensor."""
    shape = [1] * len(self._shape)
    shape[axis] = -1
    return [x.view(shape) for x in given]


def _channels(
    self: Any, scale: Any, zero_point: Any, axis: int, quant_min: int, quant_max: int
) -> Any:
    _channel_rule(self, scale, zero_point, axis, quant_min, quant_max)
    if zero_point._dtype is int32:
        _check_points(zero_point, quant_min, quant_max)
    steps, points = _each(self, axis, scale.float(), zero_point)
    return _rounded(self, steps, points, quant_min, quant_max)


def _channels_gradient(
    g: Any, self: Any, scale: Any, zero_point: Any, axis: int, quant_min: int, quant_max: int
) -> Any:
    steps, points = _each(self, axis, scale.float(), zero_point)
    return _kept(g, self, steps, points, quant_min, quant_max)


op(
    "fake_quantize_per_channel_affine(Tensor self, Tensor scale, Tensor zero_point, int axis, "
    "int quant_min, int quant_max) -> Tensor",
    doc="`fake_quantize_per_tensor_affine` with a scale and a zero point for each place along ``axis``.",
    rule=_channel_rule,
    decomposition=_channels,
    grad={"self": _channels_gradient, "scale": _refused, "zero_point": _refused},
    node_names=("FakeQuantizePerChannelAffineCachemaskBackward0",),
    namespaces=("torch",),
)
