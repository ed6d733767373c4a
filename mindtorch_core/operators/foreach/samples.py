"""What ops on lists of tensors are tested with."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from ..family_samples import FamilySamples, sample
from ..recipes import Sample, TensorRecipe, tensor

_UNARY: Final = (
    "abs acos asin atan ceil cos cosh erf erfc exp expm1 floor frac lgamma log log10 log1p log2 neg "
    "reciprocal round rsqrt sigmoid sign sin sinh sqrt tan tanh trunc"
)
_INSIDE: Final = "acos asin"  # defined between -1 and 1
_POSITIVE: Final = "lgamma log log10 log1p log2 reciprocal rsqrt sqrt"


def _list(low: float = -3.0, high: float = 3.0) -> list[TensorRecipe]:
    """Tensors of several shapes, one of them empty."""
    return [tensor(*shape, low=low, high=high) for shape in ((2, 3), (4,), (), (0, 2))]


def _like(*values: Any) -> tuple[Any, ...]:
    """One number for each tensor of `_list`."""
    return tuple(values[i % len(values)] for i in range(4))


def _positive() -> list[TensorRecipe]:
    return _list(0.25, 4.0)


def _both(name: str, *args: Any, **kwargs: Any) -> Iterator[tuple[str, tuple[Sample, ...]]]:
    """An op with its overload, and the one in place."""
    base, dot, overload = name.partition(".")
    for own in (base, f"{base}_"):
        yield f"_foreach_{own}{dot}{overload}", (sample("lists", *args, **kwargs),)


def _calls() -> Iterator[tuple[str, tuple[Sample, ...]]]:
    for name in _UNARY.split():
        inside, positive = name in _INSIDE.split(), name in _POSITIVE.split()
        low, high = (-0.875, 0.875) if inside else (0.25, 4.0) if positive else (-3.0, 3.0)
        yield from _both(name, _list(low, high))
    for name in ("add", "sub", "mul", "div", "clamp_max", "clamp_min", "maximum", "minimum"):
        yield from _both(f"{name}.Scalar", _list(), 1.5)
        yield from _both(f"{name}.List", _list(), _positive())
        yield from _both(f"{name}.ScalarList", _list(), _like(2.0, 0.5, -1.5))
    for name in ("add", "mul", "div"):
        yield from _both(f"{name}.Tensor", _list(), tensor(low=0.5, high=2.0))
    yield from _both("pow.Scalar", _positive(), 1.5)
    yield from _both("pow.List", _positive(), _list())
    yield from _both("pow.ScalarList", _positive(), _like(2.0, 0.5, -1.5))
    yield "_foreach_pow.ScalarAndTensor", (sample("lists", 2.0, _list()),)
    for name in ("addcdiv", "addcmul"):
        lists = _list(), _list(), _positive()
        yield from _both(f"{name}.Scalar", *lists, 0.5)
        yield from _both(f"{name}.ScalarList", *lists, _like(2.0, 0.5, -1.5))
    yield from _both("lerp.List", _list(), _list(), _list(0.0, 1.0))
    yield from _both("lerp.Scalar", _list(), _list(), 0.25)
    yield from _both("lerp.ScalarList", _list(), _list(), _like(0.25, 0.75, 0.5))
    yield "_foreach_zero_", (sample("lists", _list()),)
    yield "_foreach_copy_", (sample("lists", _list(), _list()),)
    yield "_foreach_clone", (sample("lists", _list()),)
    yield "_foreach_max", (sample("lists", [tensor(2, 3), tensor(4), tensor()]),)
    yield (
        "_foreach_norm.Scalar",
        (sample("lists", _list()), sample("largest", _list()[:3], float("inf"))),
    )
    yield "_foreach_powsum.Scalar", (sample("lists", _list()), sample("third", _list(), 3))
    yield (
        "_foreach_mm",
        (sample("lists", [tensor(2, 3), tensor(1, 2)], [tensor(3, 4), tensor(2, 2)]),),
    )
    yield from _steps()


# ---- steps of optimizers ------------------------------------------------------------------------


def _state(low: float = -3.0, high: float = 3.0) -> list[TensorRecipe]:
    return [tensor(2, 3, low=low, high=high), tensor(4, low=low, high=high)]


def _steps() -> Iterator[tuple[str, tuple[Sample, ...]]]:
    counts = [tensor(values=(3.0,)), tensor(values=(7.0,))]
    adam = {"beta1": 0.9, "beta2": 0.99, "weight_decay": 0.125, "eps": 1e-6, "maximize": False}
    lists = _state(), _state(), _state(), _state(0.25, 2.0)
    for name in ("_fused_adam_", "_fused_adamw_"):
        for overload, lr in (("", 0.125), (".tensor_lr", tensor(values=(0.125,)))):
            yield (
                f"{name}{overload}",
                (
                    sample("plain", *lists, [], counts, lr=lr, amsgrad=False, **adam),
                    sample(
                        "amsgrad", *lists, _state(0.5, 3.0), counts, lr=lr, amsgrad=True, **adam
                    ),
                ),
            )
    sgd = {"weight_decay": 0.125, "dampening": 0.25, "nesterov": False, "maximize": False}
    for overload, lr in (("", 0.125), (".tensor_lr", tensor(values=(0.125,)))):
        yield (
            f"_fused_sgd_{overload}",
            (
                sample(
                    "plain", _state(), _state(), [], momentum=0.0, lr=lr, is_first_step=False, **sgd
                ),
                sample(
                    "momentum",
                    _state(),
                    _state(),
                    _state(),
                    momentum=0.9,
                    lr=lr,
                    is_first_step=False,
                    **sgd,
                ),
            ),
        )
    adagrad = {"lr_decay": 0.125, "weight_decay": 0.125, "eps": 1e-6, "maximize": False}
    for overload, lr in (("", 0.125), (".tensor_lr", tensor(values=(0.125,)))):
        yield (
            f"_fused_adagrad_{overload}",
            (sample("plain", _state(), _state(), _state(0.25, 2.0), counts, lr=lr, **adagrad),),
        )


_ON_HOST: Final = "its numbers lie on the host, whatever device the lists are on"
SAMPLES: Final = FamilySamples(
    calls=dict(_calls()),
    untested={
        f"_foreach_{name}.Tensor": _ON_HOST
        for name in ("addcdiv", "addcdiv_", "addcmul", "addcmul_")
    },
)
