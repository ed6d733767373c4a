"""Creation of tensors: filled, counted and random ones."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ..devices import TABLE, concrete
from ..dtypes import FLOATING, get_default_dtype, int64, of_number
from ..shapes import contiguous_strides
from ..tensor import Tensor
from . import rules
from .define import TensorSpec, fn, op

_OPTIONS = "*, ScalarType? dtype=None, Device? device=None, bool requires_grad=False"
_RANDOM = _OPTIONS.replace("*, ", "*, Generator? generator=None, ")


def checked_size(size: Sequence[int]) -> tuple[int, ...]:
    """A shape of non-negative sizes.

    Raises:
        RuntimeError: if a size is negative.
        TypeError: if one is not an int.
    """
    shape = tuple(size)
    for n in shape:
        if n.__class__ is not int:
            return checked_size([v.__index__() for v in shape])
        if n < 0:
            raise RuntimeError(
                f"Trying to create tensor with negative dimension {n}: [{', '.join(map(str, shape))}]"
            )
    return shape


def _filled_rule(size: Sequence[int], *_: Any, dtype: Any = None, **__: Any) -> TensorSpec:
    return TensorSpec(checked_size(size), dtype or get_default_dtype())


def _empty(size: Sequence[int], *, dtype: Any = None, device: Any = None) -> Tensor:
    on = concrete(device)
    return TABLE[on.type].runtime.empty(checked_size(size), None, dtype or get_default_dtype(), on)


op(
    f"empty(int[] size, {_OPTIONS}) -> Tensor",
    overloads=("memory_format",),
    doc="A tensor with undefined elements.",
    rule=_filled_rule,
    grad="nondiff",
    decomposition=_empty,
    varargs="size",
    namespaces=("torch",),
)


def _strided_rule(size: Any, stride: Any, *, dtype: Any = None, device: Any = None) -> TensorSpec:
    shape, strides = checked_size(size), tuple(stride)
    if len(shape) != len(strides):
        raise RuntimeError(
            f"dimensionality of sizes ({len(shape)}) must match dimensionality of strides ({len(strides)})"
        )
    return TensorSpec(shape, dtype or get_default_dtype(), strides)


def _empty_strided(size: Any, stride: Any, *, dtype: Any = None, device: Any = None) -> Tensor:
    spec = _strided_rule(size, stride, dtype=dtype)
    on = concrete(device)
    strides = spec.strides if spec.strides != contiguous_strides(spec.shape) else None
    return TABLE[on.type].runtime.empty(spec.shape, strides, spec.dtype, on)


op(
    f"empty_strided(int[] size, int[] stride, {_OPTIONS}) -> Tensor",
    doc="A tensor with undefined elements and the given strides.",
    rule=_strided_rule,
    grad="nondiff",
    decomposition=_empty_strided,
    namespaces=("torch",),
)


def _constant(name: str, value: int) -> None:
    op(
        f"{name}(int[] size, {_OPTIONS}) -> Tensor",
        doc=f"A tensor of {name}.",
        rule=_filled_rule,
        grad="nondiff",
        decomposition=lambda size, *, dtype=None, device=None: _empty(
            size, dtype=dtype, device=device
        ).fill_(value),
        varargs="size",
        namespaces=("torch",),
    )


_constant("zeros", 0)
_constant("ones", 1)


def _full_rule(
    size: Sequence[int], fill_value: Any, *, dtype: Any = None, device: Any = None
) -> TensorSpec:
    return TensorSpec(checked_size(size), dtype or of_number(fill_value))


def _full(size: Any, fill_value: Any, *, dtype: Any = None, device: Any = None) -> Tensor:
    if hasattr(fill_value, "_keys"):
        fill_value = fill_value.item()
    made = _empty(size, dtype=dtype or of_number(fill_value), device=device)
    filled: Tensor = made.fill_(fill_value)
    return filled


op(
    f"full(int[] size, Scalar fill_value, {_OPTIONS}) -> Tensor",
    doc="A tensor of one value; its dtype is the value's unless given.",
    rule=_full_rule,
    grad="nondiff",
    decomposition=_full,
    namespaces=("torch",),
)


def _like(name: str, fill: str = "", extra: str = "") -> None:
    """Define ``name_like(self, ...)``: as ``name``, in the layout of ``self``.

    Args:
        name: the factory.
        fill: the in-place method that makes of an empty tensor what the factory makes.
        extra: the factory's arguments besides the size.
    """

    def like(self: Tensor, *args: Any, dtype: Any = None, device: Any = None) -> Tensor:
        d, on = dtype or self._dtype, device or self._device
        spec = rules.pointwise_spec((self,), d)
        if spec.strides is None:
            return getattr(fn, name)(self._shape, *args, dtype=d, device=on)  # type: ignore[no-any-return]
        made = fn.empty_strided(spec.shape, spec.strides, dtype=d, device=on)
        return getattr(made, fill)(*args or default) if fill else made

    default = (1,) if name == "ones" else ()
    op(
        f"{name}_like(Tensor self{extra}, {_OPTIONS}) -> Tensor",
        doc=f"As `{name}`, in the shape, dtype and layout of ``input`` and on its device.",
        decomposition=like,
        random=name.startswith("rand"),
        namespaces=("torch",),
    )


_like("empty")
_like("zeros", "zero_")
_like("ones", "fill_")
_like("full", "fill_", ", Scalar fill_value")
_like("rand", "uniform_")
_like("randn", "normal_")


def _new(name: str, extra: str = "") -> None:
    def new(
        self: Tensor, size: Sequence[int], *args: Any, dtype: Any = None, device: Any = None
    ) -> Tensor:
        options = {"dtype": dtype or self._dtype, "device": device or self._device}
        made: Tensor = getattr(fn, name)(size, *args, **options)
        return made

    op(
        f"new_{name}(Tensor self, int[] size{extra}, {_OPTIONS}) -> Tensor",
        doc=f"As `{name}`, in the dtype of ``self`` and on its device.",
        decomposition=new,
        namespaces=("Tensor",),
        varargs="" if extra else "size",
    )


_new("empty")
_new("zeros")
_new("ones")
_new("full", ", Scalar fill_value")

# ---- counting -----------------------------------------------------------------------------------


def _arange_rule(
    start: Any, end: Any, step: Any = 1, *, dtype: Any = None, device: Any = None
) -> TensorSpec:
    start, end, step = (v.item() if isinstance(v, Tensor) else v for v in (start, end, step))
    if step == 0:
        raise RuntimeError("step must be nonzero")
    if (end - start) * step < 0:
        raise RuntimeError(
            "upper bound and lower bound inconsistent with step sign"
            f" (start={start}, end={end}, step={step})"
        )
    if not all(math.isfinite(v) for v in (start, end, step)):
        raise RuntimeError(f"unsupported range: {start} -> {end}")
    whole = all(isinstance(v, int) for v in (start, end, step))
    length = -((start - end) // step) if whole else math.ceil((end - start) / step)
    return TensorSpec((max(length, 0),), dtype or (int64 if whole else get_default_dtype()))


op(
    f"arange.start(Scalar start, Scalar end, Scalar step=1, {_OPTIONS}) -> Tensor",
    doc="Numbers from ``start`` up to but not including ``end``, ``step`` apart.",
    rule=_arange_rule,
    grad="nondiff",
    primitive=True,
    namespaces=("torch",),
)
op(
    f"arange(Scalar end, {_OPTIONS}) -> Tensor",
    doc="Numbers from 0 up to but not including ``end``.",
    decomposition=lambda end, *, dtype=None, device=None: fn.arange(
        0, end, 1, dtype=dtype, device=device
    ),
    namespaces=("torch",),
)


def _linspace(start: Any, end: Any, steps: int, *, dtype: Any = None, device: Any = None) -> Tensor:
    if steps < 0:
        raise RuntimeError("number of steps must be non-negative")
    d = dtype or get_default_dtype()
    if steps < 2:
        return fn.full((steps,), start, dtype=d, device=device)
    wide = d if d.category >= FLOATING else get_default_dtype()
    at = fn.arange(0, steps, 1, dtype=wide, device=device)
    step = (end - start) / (steps - 1)
    # From both ends, so that the last element is exactly `end`.
    line = fn.where(at < steps // 2, at * step + start, end - (steps - 1 - at) * step)
    return line.to(d)


op(
    f"linspace(Scalar start, Scalar end, int steps, {_OPTIONS}) -> Tensor",
    doc="``steps`` numbers evenly from ``start`` to ``end``, both included.",
    decomposition=_linspace,
    namespaces=("torch",),
)


def _eye(n: int, m: int | None = None, *, dtype: Any = None, device: Any = None) -> Tensor:
    rows = fn.arange(0, n, 1, device=device).unsqueeze(1)
    columns = fn.arange(0, n if m is None else m, 1, device=device)
    return (rows == columns).to(dtype or get_default_dtype())


op(
    f"eye(int n, int? m=None, {_OPTIONS}) -> Tensor",
    overloads=("", "m"),
    doc="Ones on the diagonal, zeros elsewhere.",
    decomposition=_eye,
    namespaces=("torch",),
)

# ---- random -------------------------------------------------------------------------------------


def _inplace_random(name: str, arguments: str, doc: str, check: Any) -> None:
    """Define ``name_``, a primitive that fills a tensor with random numbers."""

    def rule(self: Tensor, *args: Any, generator: Any = None) -> TensorSpec:
        check(self, *args)
        return rules.same(self)

    op(
        f"{name}(Tensor self, {arguments}, *, Generator? generator=None) -> Tensor",
        doc=doc,
        rule=rule,
        grad={"self": lambda g: fn.zeros_like(g)},
        decomposition=lambda self, *args, generator=None: getattr(fn.empty_like(self), f"{name}_")(
            *args, generator=generator
        ),
        inplace=True,
        inplace_primitive=True,
        random=True,
        namespaces=(),
    )


def _floating_only(name: str) -> Any:
    def check(self: Tensor, *args: Any) -> None:
        if self._dtype.category < FLOATING:
            raise NotImplementedError(f"\"{name}\" not implemented for '{self._dtype.label}'")

    return check


def _check_uniform(self: Tensor, low: float = 0, high: float = 1) -> None:
    _floating_only("check_uniform_bounds")(self)
    if low > high:
        raise RuntimeError(
            f"uniform_ expects to return a [from, to) range, but found from={low} > to={high}"
        )


def _check_normal(self: Tensor, mean: float = 0, std: float = 1) -> None:
    _floating_only("normal_kernel_cpu")(self)
    if std < 0:
        raise RuntimeError(f"normal expects std >= 0.0, but found std {std}")


def _check_random(self: Tensor, low: int = 0, high: int | None = None) -> None:
    if high is not None and low >= high:
        raise RuntimeError(
            f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}"
        )


_inplace_random(
    "uniform", "float low=0, float high=1", "Uniform numbers from [low, high).", _check_uniform
)
_inplace_random("normal", "float mean=0, float std=1", "Normal numbers.", _check_normal)
_inplace_random("random", "int low=0, int? high=None", "Integers from [low, high).", _check_random)
_inplace_random(
    "bernoulli_p", "float p=0.5", "Ones with probability ``p``, zeros otherwise.",
    lambda self, p=0.5: None if 0 <= p <= 1 else _bad_probability(p),
)  # fmt: skip


def _bad_probability(p: float) -> None:
    raise RuntimeError(f"bernoulli_ expects p to be in [0, 1], but got p={p}")


op(
    "bernoulli_.float(Tensor(a!) self, float p=0.5, *, Generator? generator=None) -> Tensor(a!)",
    doc="Ones with probability ``p``, zeros otherwise, in place.",
    decomposition=lambda self, p=0.5, *, generator=None: self.bernoulli_p_(p, generator=generator),
    random=True,
    namespaces=("Tensor",),
)


def _bernoulli(self: Tensor, *, generator: Any = None) -> Tensor:
    _floating_only("bernoulli")(self)
    drawn: Any = fn.empty_like(self).uniform_(0, 1, generator=generator)
    return (drawn < self).to(self._dtype)  # type: ignore[no-any-return]


op(
    "bernoulli(Tensor self, *, Generator? generator=None) -> Tensor",
    doc="Ones with the probabilities that ``input`` gives, zeros otherwise.",
    decomposition=_bernoulli,
    kinds="f",
    random=True,
)


def _drawn(name: str, schema: str, doc: str, draw: Any, **more: Any) -> None:
    op(
        f"{schema}, {_RANDOM}) -> Tensor",
        doc=doc,
        decomposition=draw,
        random=True,
        namespaces=("torch",),
        **more,
    )


def _draw(method: str) -> Any:
    def draw(size: Any, *, generator: Any = None, dtype: Any = None, device: Any = None) -> Tensor:
        made = fn.empty(size, dtype=dtype, device=device)
        return getattr(made, method)(0, 1, generator=generator)  # type: ignore[no-any-return]

    return draw


_drawn("rand", "rand(int[] size", "Uniform numbers from [0, 1).", _draw("uniform_"), varargs="size")
_drawn("randn", "randn(int[] size", "Standard normal numbers.", _draw("normal_"), varargs="size")


def _randint(
    low: int, high: int, size: Any, *, generator: Any = None, dtype: Any = None, device: Any = None
) -> Tensor:
    if low >= high:
        raise RuntimeError(
            f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}"
        )
    made = fn.empty(size, dtype=dtype or int64, device=device)
    return made.random_(low, high, generator=generator)


_drawn(
    "randint", "randint.low(int low, int high, int[] size", "Integers from [low, high).", _randint
)
_drawn(
    "randint",
    "randint(int high, int[] size",
    "Integers from [0, high).",
    lambda high, size, **options: _randint(0, high, size, **options),
)


def _randint_like(
    self: Tensor, low: int, high: int | None = None, *, dtype: Any = None, device: Any = None
) -> Tensor:
    first, last = (0, low) if high is None else (low, high)
    return fn.empty_like(self, dtype=dtype, device=device).random_(first, last)


op(
    f"randint_like(Tensor self, int low, int? high=None, {_OPTIONS}) -> Tensor",
    doc="Integers from [low, high), or [0, low) if one is given, in the layout of ``input``.",
    decomposition=_randint_like,
    random=True,
    namespaces=("torch",),
)


def _randperm_rule(n: int, *, generator: Any = None, dtype: Any = None, device: Any = None) -> Any:
    if n < 0:
        raise RuntimeError(f"n must be non-negative, got {n}")
    return TensorSpec((n,), dtype or int64)


op(
    f"randperm(int n, {_RANDOM}) -> Tensor",
    doc="A random order of the integers from 0 to ``n - 1``.",
    rule=_randperm_rule,
    grad="nondiff",
    primitive=True,
    random=True,
    namespaces=("torch",),
)
