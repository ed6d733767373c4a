"""Random numbers: uniform and normal ones, integers, and ones among zeros.

A backend supplies `uniform_` and `random_`; everything else is made of them. Compositions draw in
float32 where a tensor is of half precision, and round what they have drawn.
"""

from __future__ import annotations

import math
from typing import Any, Final

from ...dispatch.functions import fn
from ...dispatch.opdef import TensorSpec
from ...opdefs import rules
from ...opdefs.define import op
from ...tensors.tensor import Tensor
from ...values.dtypes import (
    COMPLEX,
    FLOATING,
    bfloat16,
    bool_,
    dtype,
    finfo,
    float32,
    float64,
    iinfo,
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint64,
)
from ..creation.factory import fresh
from .filling import (
    GENERATOR,
    RANDOM_OPTIONS,
    filling,
    floating_only,
    in_single_at_least,
    into,
    method_of,
    random_tensor,
    refuse,
    usual_only,
)

__all__ = ["bounds_name", "empty_range"]

_LOWEST: Final = -1 << 63

_C_NAMES = {
    "bool": "bool", "uint8": "unsigned char", "int8": "signed char", "int16": "short",
    "int32": "int", "int64": "long", "uint16": "unsigned short", "uint32": "unsigned int",
    "uint64": "unsigned long", "float16": "c10::Half", "bfloat16": "c10::BFloat16",
    "float32": "float", "float64": "double",
}  # fmt: skip


def bounds_name(d: dtype) -> str:
    """What errors about ranges call a dtype."""
    return _C_NAMES[d.name]


# ---- what a backend supplies --------------------------------------------------------------------


_floating_bounds: Final = floating_only("check_uniform_bounds", complex_too=True)
_floating_normal: Final = floating_only("normal_kernel_cpu", complex_too=True)


def _check_uniform(self: Tensor, low: float = 0, high: float = 1) -> None:
    _floating_bounds(self)
    if low == 0 and high == 1:
        return
    d = self._dtype.to_real()
    limit = finfo(d).max
    for name, value in (("from", low), ("to", high)):
        if not -limit <= value <= limit:
            raise RuntimeError(f"{name} is out of bounds for {bounds_name(d)}")
    if low > high:
        raise RuntimeError(
            f"uniform_ expects to return a [from, to) range, but found from={low} > to={high}"
        )
    if high - low > limit:
        raise RuntimeError(
            f"uniform_ expects to-from <= std::numeric_limits<{d.label}>::max(), but found to={high} "
            f"and from={low} which result in to-from to exceed the limit"
        )


def empty_range(low: int, high: int) -> RuntimeError:
    """The error of a range of integers that holds none."""
    return RuntimeError(
        f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}"
    )


def _check_whole(self: Tensor) -> None:
    usual_only("random_kernel_cpu", self._dtype)


def _check_random(self: Tensor, low: int = 0, high: int | None = None) -> None:
    d = self._dtype
    if high is not None and low >= high:
        raise empty_range(low, high)
    if low == _LOWEST and high is None:  # all integers of 64 bits
        if d in (int64, bfloat16, float32, float64):
            return
        if d in (uint8, int8, int16, int32):
            raise RuntimeError(
                "random_full_64_bits_range_kernel_cpu handles only int64, double, float and bfloat16"
            )
        refuse("random_full_64_bits_range_kernel_cpu", d)
    if d.category == COMPLEX:
        raise RuntimeError(
            "check_random_bounds handles only integral, floating-point and boolean types"
        )
    if d.category == FLOATING:
        first, last = -int(finfo(d).max), int(finfo(d).max)
    else:
        first, last = (0, 1) if d is bool_ else (int(iinfo(d).min), int(iinfo(d).max))
    if not first <= low <= last:
        raise RuntimeError(f"from is out of bounds for {bounds_name(d)}")
    # As in PyTorch, the largest number of uint64 is none that an open range ends with.
    beyond = d is uint64 if high is None else not first <= high - 1 <= last
    if beyond:
        raise RuntimeError(f"to - 1 is out of bounds for {bounds_name(d)}")


filling(
    "uniform(Tensor self, float from=0, float to=1",
    "Uniform numbers from [from, to).",
    _check_uniform,
)
filling(
    "random.from(Tensor self, int from, int? to",
    "Integers from [from, to), or up to the largest one that the dtype holds exactly.",
    _check_random,
)
filling(
    "random.to(Tensor self, int to",
    "Integers from [0, to).",
    lambda self, to: _check_random(self, 0, to),
    lambda self, to, *, generator: method_of("random_.from")(self, 0, to, generator=generator),
)
filling(
    "random(Tensor self",
    "Integers from 0 up to the largest one that the dtype holds exactly.",
    _check_whole,
    lambda self, *, generator: method_of("random_.from")(self, 0, None, generator=generator),
)

# ---- normal numbers -----------------------------------------------------------------------------


def _check_normal(self: Tensor, mean: float = 0, std: float = 1) -> None:
    if not std >= 0:
        raise RuntimeError(f"normal expects std >= 0.0, but found std {std}")
    _floating_normal(self)


def _normal(self: Tensor, mean: float = 0, std: float = 1, *, generator: Any) -> Tensor:
    """Two uniform numbers make a normal one (Box and Muller, 1958)."""
    if self._dtype.category == COMPLEX:
        parts = [
            _normal(in_single_at_least(self.real), 0, math.sqrt(0.5), generator=generator)
            for _ in range(2)
        ]
        return self.copy_(fn.view_as_complex(fn.stack(parts, -1)) * std + mean)
    radius, angle = (in_single_at_least(self).uniform_(generator=generator) for _ in range(2))
    drawn = (fn.log1p(-radius) * -2).sqrt() * (angle * (2 * math.pi)).cos()
    return self.copy_(drawn * std + mean)


filling(
    "normal(Tensor self, float mean=0, float std=1",
    "Normal numbers.",
    _check_normal,
    _normal,
)


def _check_stds(std: Tensor) -> None:
    if std._dtype.category == COMPLEX:
        raise RuntimeError("normal expects standard deviation to be non-complex")
    if not std.is_meta and std.numel() and not bool(std.min() >= 0):
        raise RuntimeError("normal expects all elements of std >= 0.0")


def _row_major(self: Tensor) -> Tensor:
    """An undefined tensor of a shape and dtype, whose elements are drawn in row-major order."""
    return fn.empty(self._shape, dtype=self._dtype, device=self._device)


def _normal_around(mean: Tensor, std: float = 1, *, generator: Any = None) -> Tensor:
    return fresh(_row_major(mean).normal_(0, std, generator=generator).add_(mean))


def _normal_scaled(mean: float, std: Tensor, *, generator: Any = None) -> Tensor:
    _check_stds(std)
    return fresh(_row_major(std).normal_(generator=generator).mul_(std).add_(mean))


def _normal_each(mean: Tensor, std: Tensor, *, generator: Any = None) -> Tensor:
    _check_stds(std)
    shape = rules.pointwise_spec((mean, std), mean._dtype).shape
    drawn = fn.empty(shape, dtype=mean._dtype, device=mean._device)
    return fresh(drawn.normal_(generator=generator).mul_(std).add_(mean))


random_tensor(
    f"normal.Tensor_float(Tensor mean, float std=1, {GENERATOR}) -> Tensor",
    "Normal numbers around the elements of ``mean``.",
    grad={"mean": lambda g, mean_shape: g.new_zeros(mean_shape)},
    decomposition=_normal_around,
    out=True,
    out_needs=("cast",),
)
random_tensor(
    f"normal.float_Tensor(float mean, Tensor std, {GENERATOR}) -> Tensor",
    "Normal numbers with the standard deviations ``std``.",
    grad={"std": lambda g, std_shape: g.new_zeros(std_shape)},
    decomposition=_normal_scaled,
    out=True,
    out_needs=("cast",),
)
random_tensor(
    f"normal.Tensor_Tensor(Tensor mean, Tensor std, {GENERATOR}) -> Tensor",
    "Normal numbers, each with a mean and a standard deviation of its own.",
    grad={
        "mean": lambda g, mean_shape: g.new_zeros(mean_shape),
        "std": lambda g, std_shape: g.new_zeros(std_shape),
    },
    decomposition=_normal_each,
    out=True,
    out_needs=("cast",),
)
random_tensor(
    f"normal.float_float(float mean, float std, int[] size, {RANDOM_OPTIONS}) -> Tensor",
    "Normal numbers in a tensor of the given size.",
    decomposition=lambda mean, std, size, *, generator=None, dtype=None, device=None: fresh(
        fn.empty(size, dtype=dtype, device=device).normal_(mean, std, generator=generator)
    ),
    out=True,
    out_needs=("cast",),
    out_draw=into("normal_", lambda mean, std, size: (size, (mean, std))),
)

# ---- ones and zeros -----------------------------------------------------------------------------


def _check_probability(self: Tensor, p: float = 0.5) -> None:
    usual_only("bernoulli_scalar_cpu_", self._dtype)
    if not 0 <= p <= 1:
        raise RuntimeError(f"bernoulli_ expects p to be in [0, 1], but got p={p}")


def _below(self: Tensor, p: Any, generator: Any) -> Tensor:
    ones: Tensor = in_single_at_least(self).uniform_(generator=generator) < p
    return ones


filling(
    "bernoulli_p(Tensor self, float p=0.5",
    "Ones with probability ``p``, zeros otherwise.",
    _check_probability,
    lambda self, p=0.5, *, generator: self.copy_(_below(self, p, generator)),
)
op(
    f"bernoulli_.float(Tensor(a!) self, float p=0.5, {GENERATOR}) -> Tensor(a!)",
    doc="Ones with probability ``p``, zeros otherwise, in place.",
    decomposition=lambda self, p=0.5, *, generator=None: self.bernoulli_p_(p, generator=generator),
    random=True,
    namespaces=("Tensor",),
)


def _bernoulli_inplace(self: Tensor, p: Tensor, *, generator: Any = None) -> Tensor:
    """Elements are drawn as they lie in memory."""
    usual_only("bernoulli_tensor_cpu_self_", self._dtype)
    strides = self.stride()
    order = sorted(range(len(strides)), key=lambda i: -strides[i])
    probabilities = p.detach().expand(self._shape).permute(order)
    self.permute(order).copy_(fn.bernoulli(probabilities, generator=generator))
    return self


op(
    f"bernoulli_.Tensor(Tensor(a!) self, Tensor p, {GENERATOR}) -> Tensor(a!)",
    doc="Ones with the probabilities that ``p`` gives, zeros otherwise, in place.",
    decomposition=_bernoulli_inplace,
    random=True,
    namespaces=("Tensor",),
)


def _bernoulli_rule(self: Tensor, *, generator: Any = None) -> TensorSpec:
    floating_only("bernoulli_tensor_cpu_p_")(self)
    return TensorSpec(self._shape, self._dtype)


def _bernoulli(self: Tensor, *, generator: Any = None) -> Tensor:
    _bernoulli_rule(self)
    return _below(self, self, generator).to(self._dtype).contiguous()


op(
    f"bernoulli(Tensor self, {GENERATOR}) -> Tensor",
    doc="Ones with the probabilities that ``input`` gives, zeros otherwise.",
    rule=_bernoulli_rule,
    grad={"self": lambda g: fn.zeros_like(g)},
    decomposition=_bernoulli,
    random=True,
    out=True,
    out_needs=("cast",),
    out_draw=into("bernoulli_", lambda self: (self._shape, (self,))),
)
op(
    f"bernoulli.p(Tensor self, float p, {GENERATOR}) -> Tensor",
    doc="Ones with probability ``p``, zeros otherwise, in the shape of ``input``.",
    decomposition=lambda self, p, *, generator=None: fresh(
        _row_major(self).bernoulli_p_(p, generator=generator)
    ),
    random=True,
)
