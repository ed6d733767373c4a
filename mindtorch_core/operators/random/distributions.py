"""Random numbers: filling tensors in place, and the factories made of that.

A backend supplies `uniform_` and `random_`; everything else is made of them. Compositions draw in
float32 where a tensor is of half precision, and round what they have drawn.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ...dtypes import COMPLEX, FLOATING, bool_, dtype, exact_integers, finfo, float32, iinfo, int64
from ...tensor import Tensor
from .. import rules
from ..creation.factory import OPTIONS, checked_size, fresh
from ..define import TensorSpec, fn, op

__all__ = ["bounds_name", "filling", "floating_only", "in_single_at_least"]

GENERATOR = "*, Generator? generator=None"
RANDOM_OPTIONS = OPTIONS.replace("*", GENERATOR, 1)
Check = Callable[..., None]
Draw = Callable[..., Tensor]

_C_NAMES = {
    "bool": "bool", "uint8": "unsigned char", "int8": "signed char", "int16": "short",
    "int32": "int", "int64": "long", "uint16": "unsigned short", "uint32": "unsigned int",
    "uint64": "unsigned long", "float16": "c10::Half", "bfloat16": "c10::BFloat16",
    "float32": "float", "float64": "double",
}  # fmt: skip


def bounds_name(d: dtype) -> str:
    """What errors about ranges call a dtype."""
    return _C_NAMES[d.name]


def in_single_at_least(self: Tensor) -> Tensor:
    """An undefined tensor like ``self`` in which numbers are drawn: of 32 bits or more."""
    narrow = self._dtype.itemsize < float32.itemsize or self._dtype.category != FLOATING
    return fn.empty_like(self, dtype=float32 if narrow else self._dtype)


def floating_only(name: str, *, complex_too: bool = False) -> Check:
    """A check that refuses dtypes other than floating-point ones, in the words of ``name``."""

    def check(self: Tensor, *_: Any) -> None:
        category = self._dtype.category
        if category < FLOATING or (category == COMPLEX and not complex_too):
            raise NotImplementedError(f"\"{name}\" not implemented for '{self._dtype.label}'")

    return check


def filling(
    schema: str, doc: str, check: Check, draw: Draw | None = None, **properties: Any
) -> None:
    """Define an op that fills a tensor with random numbers, and its functional form.

    Args:
        schema: of the functional form, up to its generator: ``uniform(Tensor self``.
        doc: what is drawn.
        check: ``check(self, *args)`` raises where parameters or dtype are refused.
        draw: the in-place form in terms of other ops; None for what a backend supplies.
        **properties: further fields of the op.
    """
    name, _, overload = schema.partition("(")[0].partition(".")
    method = f"{name}_.{overload}" if overload else f"{name}_"

    def rule(self: Tensor, *args: Any, generator: Any = None) -> TensorSpec:
        check(self, *args)
        return rules.same(self)

    def inplace(self: Tensor, *args: Any, generator: Any = None) -> Tensor:
        check(self, *args)
        return draw(self, *args, generator=generator)  # type: ignore[misc]

    op(
        f"{schema}, {GENERATOR}) -> Tensor",
        doc=doc,
        rule=rule,
        grad={"self": lambda g: fn.zeros_like(g)},
        decomposition=lambda self, *args, generator=None: _front(method)(
            fn.empty_like(self), *args, generator=generator
        ),
        inplace=True,
        inplace_primitive=draw is None,
        inplace_decomposition=None if draw is None else inplace,
        random=True,
        **{"namespaces": (), **properties},
    )


def _front(name: str) -> Callable[..., Tensor]:
    """The function of one overload."""
    from ...dispatch.registry import registry
    from ..define import front

    return front(registry.entry(name))


# ---- what a backend supplies --------------------------------------------------------------------


def _check_uniform(self: Tensor, low: float = 0, high: float = 1) -> None:
    floating_only("check_uniform_bounds", complex_too=True)(self)
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


def _check_random(self: Tensor, low: int = 0, high: int | None = None) -> None:
    d = self._dtype
    if high is not None and low >= high:
        raise empty_range(low, high)
    if d.category == COMPLEX:
        if high is None:
            raise NotImplementedError(f"\"random_kernel_cpu\" not implemented for '{d.label}'")
        raise RuntimeError(
            "check_random_bounds handles only integral, floating-point and boolean types"
        )
    if d.category == FLOATING:
        first, last = -int(finfo(d).max), int(finfo(d).max)
    else:
        first, last = (0, 1) if d is bool_ else (int(iinfo(d).min), int(iinfo(d).max))
    if not first <= low <= last:
        raise RuntimeError(f"from is out of bounds for {bounds_name(d)}")
    if high is not None and not first <= high - 1 <= last:
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
    lambda self, to, *, generator: _front("random_.from")(self, 0, to, generator=generator),
)
filling(
    "random(Tensor self",
    "Integers from 0 up to the largest one that the dtype holds exactly.",
    _check_random,
    lambda self, *, generator: _front("random_.from")(self, 0, None, generator=generator),
)

# ---- normal numbers -----------------------------------------------------------------------------


def _check_normal(self: Tensor, mean: float = 0, std: float = 1) -> None:
    if not std >= 0:
        raise RuntimeError(f"normal expects std >= 0.0, but found std {std}")
    floating_only("normal_kernel_cpu", complex_too=True)(self)


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


def _normal_around(mean: Tensor, std: float = 1, *, generator: Any = None) -> Tensor:
    return fresh(fn.empty_like(mean).normal_(0, std, generator=generator).add_(mean))


def _normal_scaled(mean: float, std: Tensor, *, generator: Any = None) -> Tensor:
    _check_stds(std)
    return fresh(fn.empty_like(std).normal_(generator=generator).mul_(std).add_(mean))


def _normal_each(mean: Tensor, std: Tensor, *, generator: Any = None) -> Tensor:
    _check_stds(std)
    shape = rules.pointwise_spec((mean, std), mean._dtype).shape
    drawn = fn.empty(shape, dtype=mean._dtype, device=mean._device)
    return fresh(drawn.normal_(generator=generator).mul_(std).add_(mean))


def _random_tensor(schema: str, doc: str, **properties: Any) -> None:
    op(schema, doc=doc, random=True, **{"namespaces": ("torch",), **properties})


_random_tensor(
    f"normal.Tensor_float(Tensor mean, float std=1, {GENERATOR}) -> Tensor",
    "Normal numbers around the elements of ``mean``.",
    grad={"mean": lambda g, mean_shape: g.new_zeros(mean_shape)},
    decomposition=_normal_around,
    out=True,
)
_random_tensor(
    f"normal.float_Tensor(float mean, Tensor std, {GENERATOR}) -> Tensor",
    "Normal numbers with the standard deviations ``std``.",
    grad={"std": lambda g, std_shape: g.new_zeros(std_shape)},
    decomposition=_normal_scaled,
    out=True,
)
_random_tensor(
    f"normal.Tensor_Tensor(Tensor mean, Tensor std, {GENERATOR}) -> Tensor",
    "Normal numbers, each with a mean and a standard deviation of its own.",
    grad={
        "mean": lambda g, mean_shape: g.new_zeros(mean_shape),
        "std": lambda g, std_shape: g.new_zeros(std_shape),
    },
    decomposition=_normal_each,
    out=True,
)
_random_tensor(
    f"normal.float_float(float mean, float std, int[] size, {RANDOM_OPTIONS}) -> Tensor",
    "Normal numbers in a tensor of the given size.",
    decomposition=lambda mean, std, size, *, generator=None, dtype=None, device=None: fresh(
        fn.empty(size, dtype=dtype, device=device).normal_(mean, std, generator=generator)
    ),
    out=True,
)

# ---- ones and zeros -----------------------------------------------------------------------------


def _check_probability(self: Tensor, p: float = 0.5) -> None:
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
    return self.copy_(fn.bernoulli(p.detach().expand(self._shape), generator=generator))


op(
    f"bernoulli_.Tensor(Tensor(a!) self, Tensor p, {GENERATOR}) -> Tensor(a!)",
    doc="Ones with the probabilities that ``p`` gives, zeros otherwise, in place.",
    decomposition=_bernoulli_inplace,
    random=True,
    namespaces=("Tensor",),
)


def _bernoulli_rule(self: Tensor, *, generator: Any = None) -> TensorSpec:
    floating_only("bernoulli_tensor_cpu_p_")(self)
    return rules.same(self)


def _bernoulli(self: Tensor, *, generator: Any = None) -> Tensor:
    _bernoulli_rule(self)
    return _below(self, self, generator).to(self._dtype)


op(
    f"bernoulli(Tensor self, {GENERATOR}) -> Tensor",
    doc="Ones with the probabilities that ``input`` gives, zeros otherwise.",
    rule=_bernoulli_rule,
    grad={"self": lambda g: fn.zeros_like(g)},
    decomposition=_bernoulli,
    random=True,
    out=True,
)
op(
    f"bernoulli.p(Tensor self, float p, {GENERATOR}) -> Tensor",
    doc="Ones with probability ``p``, zeros otherwise, in the shape of ``input``.",
    decomposition=lambda self, p, *, generator=None: fresh(
        fn.empty_like(self).bernoulli_p_(p, generator=generator)
    ),
    random=True,
)

# ---- factories ----------------------------------------------------------------------------------


def _draw(method: str) -> Any:
    def draw(size: Any, *, generator: Any = None, dtype: Any = None, device: Any = None) -> Tensor:
        made = fn.empty(size, dtype=dtype, device=device)
        return fresh(getattr(made, method)(0, 1, generator=generator))

    return draw


for _name, _method, _doc in (
    ("rand", "uniform_", "Uniform numbers from [0, 1)."),
    ("randn", "normal_", "Standard normal numbers."),
):
    _random_tensor(
        f"{_name}(int[] size, {RANDOM_OPTIONS}) -> Tensor",
        _doc,
        decomposition=_draw(_method),
        varargs="size",
        out=True,
    )


def _randint(
    low: int, high: int, size: Any, *, generator: Any = None, dtype: Any = None, device: Any = None
) -> Tensor:
    if low >= high:
        raise empty_range(low, high)
    made = fn.empty(size, dtype=dtype or int64, device=device)
    return fresh(made.random_(low, high, generator=generator))


_random_tensor(
    f"randint.low(int low, int high, int[] size, {RANDOM_OPTIONS}) -> Tensor",
    "Integers from [low, high).",
    decomposition=_randint,
    out=True,
)
_random_tensor(
    f"randint(int high, int[] size, {RANDOM_OPTIONS}) -> Tensor",
    "Integers from [0, high).",
    decomposition=lambda high, size, **options: _randint(0, high, size, **options),
    out=True,
)


def _like(name: str, method: str) -> None:
    """Define ``name_like(self)``: random numbers in the layout of ``self``."""

    def like(
        self: Tensor,
        *,
        generator: Any = None,
        dtype: Any = None,
        device: Any = None,
        memory_format: Any = None,
    ) -> Tensor:
        made = fn.empty_like(self, dtype=dtype, device=device, memory_format=memory_format)
        return fresh(getattr(made, method)(generator=generator))

    _random_tensor(
        f"{name}_like(Tensor self, {RANDOM_OPTIONS}, MemoryFormat? memory_format=None) -> Tensor",
        f"As `{name}`, in the shape, dtype and layout of ``input`` and on its device.",
        decomposition=like,
    )


_like("rand", "uniform_")
_like("randn", "normal_")


def _randint_like(self: Tensor, low: int, high: int, generator: Any, **options: Any) -> Tensor:
    made = fn.empty_like(self, **options)
    return fresh(made.random_(low, high, generator=generator))


_LIKE_OPTIONS = f"{RANDOM_OPTIONS}, MemoryFormat? memory_format=None"
_random_tensor(
    f"randint_like.low_dtype(Tensor self, int low, int high, {_LIKE_OPTIONS}) -> Tensor",
    "Integers from [low, high), in the shape, dtype and layout of ``input``.",
    decomposition=lambda self, low, high, *, generator=None, **options: _randint_like(
        self, low, high, generator, **options
    ),
)
_random_tensor(
    f"randint_like.Tensor(Tensor self, Tensor high, {_LIKE_OPTIONS}) -> Tensor",
    "Integers from [0, high), where ``high`` is a tensor of one element.",
    decomposition=lambda self, high, *, generator=None, **options: _randint_like(
        self, 0, int(high.item()), generator, **options
    ),
)
_random_tensor(
    f"randint_like(Tensor self, int high, {_LIKE_OPTIONS}) -> Tensor",
    "Integers from [0, high), in the shape, dtype and layout of ``input``.",
    decomposition=lambda self, high, *, generator=None, **options: _randint_like(
        self, 0, high, generator, **options
    ),
)


def _randperm_rule(
    n: int, *, generator: Any = None, dtype: Any = None, device: Any = None
) -> TensorSpec:
    d = dtype or int64
    shape = checked_size((n,))
    if d is bool_ or d.category == COMPLEX:
        raise NotImplementedError(f"\"randperm\" not implemented for '{d.label}'")
    limit = exact_integers(d)
    if d.category == FLOATING and n > limit + 1:
        raise RuntimeError(f"n cannot be greater than {limit + 1} for {d.label} type.")
    if n > limit:
        raise RuntimeError(f"value cannot be converted to type {d.name}_t without overflow")
    return TensorSpec(shape, d)


def _randperm(n: int, *, generator: Any = None, dtype: Any = None, device: Any = None) -> Tensor:
    spec = _randperm_rule(n, dtype=dtype)
    keys = fn.empty(spec.shape, dtype=int64, device=device).random_(generator=generator)
    return keys.argsort().to(spec.dtype)


_random_tensor(
    f"randperm(int n, {RANDOM_OPTIONS}) -> Tensor",
    "A random order of the integers from 0 to ``n - 1``.",
    rule=_randperm_rule,
    grad="nondiff",
    decomposition=_randperm,
    out=True,
)
