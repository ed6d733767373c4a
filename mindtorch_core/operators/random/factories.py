"""Random numbers: functions that make tensors of them."""

from __future__ import annotations

from typing import Any

from ...dispatch.functions import fn
from ...dispatch.opdef import TensorSpec
from ...tensors.tensor import Tensor
from ...values.dtypes import FLOATING, bfloat16, bool_, exact_integers, int64
from ..creation.factory import checked_size, fresh
from .distributions import empty_range
from .filling import RANDOM_OPTIONS, into, random_tensor, refuse, usual_only

__all__: list[str] = []


def _draw(method: str) -> Any:
    def draw(size: Any, *, generator: Any = None, dtype: Any = None, device: Any = None) -> Tensor:
        made = fn.empty(size, dtype=dtype, device=device)
        return fresh(getattr(made, method)(0, 1, generator=generator))

    return draw


for _name, _method, _doc in (
    ("rand", "uniform_", "Uniform numbers from [0, 1)."),
    ("randn", "normal_", "Standard normal numbers."),
):
    random_tensor(
        f"{_name}(int[] size, {RANDOM_OPTIONS}) -> Tensor",
        _doc,
        decomposition=_draw(_method),
        varargs="size",
        out=True,
        out_draw=into(_method, lambda size: (size, (0, 1))),
    )


def _randint(
    low: int, high: int, size: Any, *, generator: Any = None, dtype: Any = None, device: Any = None
) -> Tensor:
    if low >= high:
        raise empty_range(low, high)
    made = fn.empty(size, dtype=dtype or int64, device=device)
    return fresh(made.random_(low, high, generator=generator))


random_tensor(
    f"randint.low(int low, int high, int[] size, {RANDOM_OPTIONS}) -> Tensor",
    "Integers from [low, high).",
    decomposition=_randint,
    out=True,
    out_draw=into("random_", lambda low, high, size: (size, (low, high))),
)
random_tensor(
    f"randint(int high, int[] size, {RANDOM_OPTIONS}) -> Tensor",
    "Integers from [0, high).",
    decomposition=lambda high, size, **options: _randint(0, high, size, **options),
    out=True,
    out_draw=into("random_", lambda high, size: (size, (0, high))),
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

    random_tensor(
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
random_tensor(
    f"randint_like.low_dtype(Tensor self, int low, int high, {_LIKE_OPTIONS}) -> Tensor",
    "Integers from [low, high), in the shape, dtype and layout of ``input``.",
    decomposition=lambda self, low, high, *, generator=None, **options: _randint_like(
        self, low, high, generator, **options
    ),
)
random_tensor(
    f"randint_like.Tensor(Tensor self, Tensor high, {_LIKE_OPTIONS}) -> Tensor",
    "Integers from [0, high), where ``high`` is a tensor of one element.",
    decomposition=lambda self, high, *, generator=None, **options: _randint_like(
        self, 0, int(high.item()), generator, **options
    ),
)
random_tensor(
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
    if d is bool_:
        refuse("randperm", d)
    usual_only("randperm", d)
    limit = exact_integers(d)
    if d.category == FLOATING and d is not bfloat16 and n > limit + 1:
        raise RuntimeError(f"n cannot be greater than {limit + 1} for {d.label} type.")
    if d.category < FLOATING and n > limit + 1:
        raise RuntimeError(f"value cannot be converted to type {d.name}_t without overflow")
    return TensorSpec(shape, d)


def _randperm(n: int, *, generator: Any = None, dtype: Any = None, device: Any = None) -> Tensor:
    spec = _randperm_rule(n, dtype=dtype)
    keys = fn.empty(spec.shape, dtype=int64, device=device).random_(generator=generator)
    return keys.argsort().to(spec.dtype)


random_tensor(
    f"randperm(int n, {RANDOM_OPTIONS}) -> Tensor",
    "A random order of the integers from 0 to ``n - 1``.",
    rule=_randperm_rule,
    grad="nondiff",
    decomposition=_randperm,
    out=True,
)
