"""``torch._foreach_*``: one op for each element of a list of tensors.

Rows say what is done with one element; what an op takes for all elements, one each, or none is the
same for all of them and follows from its overload.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from ...dispatch.functions import fn, fn_linalg
from ...opdefs.define import op
from .lists import Tensors, check_lists, check_numbers

Each = Callable[..., Any]
Spread = Callable[[Tensors, Any], Sequence[Any]]


def _show(
    name: str,
    arguments: str,
    doc: str,
    run: Callable[..., Any],
    *,
    inplace: bool,
    fills: bool = False,
) -> None:
    """Define one op on lists: a tuple of new tensors, or (``inplace``) nothing but the written list."""

    def made(*args: Any, **options: Any) -> tuple[Any, ...]:
        return tuple(run(*args, **options))

    base, dot, overload = name.partition(".")
    self, returned = ("Tensor(a!)[] self", "()") if inplace else ("Tensor[] self", "Tensor[]")
    if arguments.startswith("Scalar self"):  # the one op whose first operand is a number
        self, arguments = arguments.split(", ", 1)
    op(
        f"{base}{dot}{overload}({', '.join(part for part in (self, arguments) if part)}) -> {returned}",
        doc=doc,
        decomposition=run if inplace else made,
        fills=fills,
        namespaces=("torch",),
    )


def _with(name: str, overload: str = "", *, inplace: bool) -> str:
    return f"_foreach_{name}{'_' * inplace}{'.' * bool(overload)}{overload}"


def _written(function: Each, method: str) -> Each:
    """The in-place form of a function: its method, or its result copied where it has none."""

    def write(t: Any, *args: Any, **kwargs: Any) -> None:
        own = getattr(t, method, None)
        if own is None:
            t.copy_(function(t, *args, **kwargs))
        else:
            own(*args, **kwargs)

    return write


# ---- one tensor each ----------------------------------------------------------------------------

_UNARY: Final = (
    "abs acos asin atan ceil cos cosh erf erfc exp expm1 floor frac lgamma log log10 log1p log2 neg "
    "reciprocal round rsqrt sigmoid sign sin sinh sqrt tan tanh trunc"
)


def _unary(name: str) -> None:
    def make(self: Tensors) -> list[Any]:
        check_lists(self)
        function = getattr(fn, name)
        return [function(t) for t in self]

    def write(self: Tensors) -> None:
        check_lists(self)
        for t in self:
            getattr(t, f"{name}_")()

    doc = f"`{name}` of each tensor."
    _show(_with(name, inplace=False), "", doc, make, inplace=False)
    _show(_with(name, inplace=True), "", f"{doc[:-1]}, in place.", write, inplace=True)


for _name in _UNARY.split():
    _unary(_name)

# ---- two operands -------------------------------------------------------------------------------


def _to_all(self: Tensors, value: Any) -> Sequence[Any]:
    check_lists(self)
    return [value] * len(self)


def _to_all_scalar(self: Tensors, value: Any) -> Sequence[Any]:
    if value._shape:
        raise RuntimeError(
            f"scalar tensor expected to be 0 dim but it has {len(value._shape)} dimensions and "
            f"{value.numel()} elements."
        )
    return _to_all(self, value)


def _tensor_each(self: Tensors, others: Tensors) -> Sequence[Any]:
    check_lists(self, others)
    return others


def _number_each(self: Tensors, numbers: Sequence[Any]) -> Sequence[Any]:
    check_lists(self)
    check_numbers(self, numbers)
    return numbers


# By overload: what the second operand is, and how it is spread over the tensors.
_SECOND: Final[dict[str, tuple[str, Spread]]] = {
    "Scalar": ("Scalar scalar", _to_all),
    "List": ("Tensor[] other", _tensor_each),
    "ScalarList": ("Scalar[] scalars", _number_each),
    "Tensor": ("Tensor other", _to_all_scalar),
}


def _at_least(self: Any, other: Any) -> Any:
    return fn.maximum(self, other) if hasattr(other, "_keys") else fn.clamp_min(self, other)


def _at_most(self: Any, other: Any) -> Any:
    return fn.minimum(self, other) if hasattr(other, "_keys") else fn.clamp_max(self, other)


def _named(name: str) -> Each:
    return lambda *args, **kwargs: getattr(fn, name)(*args, **kwargs)


# Name, what is done with one tensor, overloads, and those that multiply the operand by ``alpha``.
_BINARY: Final[tuple[tuple[str, Each, str, str], ...]] = (
    ("add", _named("add"), "Scalar List ScalarList Tensor", "List Tensor"),
    ("sub", _named("sub"), "Scalar List ScalarList", "List"),
    ("mul", _named("mul"), "Scalar List ScalarList Tensor", ""),
    ("div", _named("div"), "Scalar List ScalarList Tensor", ""),
    ("clamp_max", _at_most, "Scalar List ScalarList", ""),
    ("clamp_min", _at_least, "Scalar List ScalarList", ""),
    ("maximum", _at_least, "Scalar List ScalarList", ""),
    ("minimum", _at_most, "Scalar List ScalarList", ""),
    ("pow", _named("pow"), "Scalar List ScalarList", ""),
)


def _binary(name: str, function: Each, overload: str, *, scaled: bool) -> None:
    second, spread = _SECOND[overload]
    if name == "pow":
        second = f"{second.partition(' ')[0]} exponent"
    put = _written(function, f"{name}_")

    def make(self: Tensors, other: Any, **options: Any) -> list[Any]:
        others = spread(self, other)
        return [function(t, o, **options) for t, o in zip(self, others, strict=True)]

    def write(self: Tensors, other: Any, **options: Any) -> None:
        others = spread(self, other)
        for t, o in zip(self, others, strict=True):
            put(t, o, **options)

    arguments = f"{second}, *, Scalar alpha=1" if scaled else second
    of = {"Scalar": "a number", "Tensor": "a tensor of no dimensions"}.get(
        overload, "its own operand"
    )
    doc = f"`{name}` of each tensor and {of}."
    for run, inplace in ((make, False), (write, True)):
        _show(_with(name, overload, inplace=inplace), arguments, doc, run, inplace=inplace)


for _name, _function, _overloads, _scaled in _BINARY:
    for _overload in _overloads.split():
        _binary(_name, _function, _overload, scaled=_overload in _scaled.split())


def _powers_of_number(self: Any, exponent: Tensors) -> list[Any]:
    check_lists(exponent)
    return [fn.pow(self, t) for t in exponent]


_show(
    "_foreach_pow.ScalarAndTensor",
    "Scalar self, Tensor[] exponent",
    "A number to the power of each tensor.",
    _powers_of_number,
    inplace=False,
)

# ---- three operands -----------------------------------------------------------------------------


def _numbers_of(self: Tensors, scalars: Any) -> Sequence[Any]:
    """A tensor of one number for each tensor."""
    if scalars._device.type != "cpu":
        raise RuntimeError(f"Expected scalars to be on CPU, got {scalars._device} instead.")
    if len(scalars._shape) != 1:
        raise RuntimeError(
            f"Expected packed scalar Tensor to be of dimension 1. Got {len(scalars._shape)} instead."
        )
    if scalars._shape[0] != len(self):
        raise RuntimeError(
            f"Expected length of scalars to match input of length {len(self)} but got "
            f"{scalars._shape[0]} instead."
        )
    return list(scalars.tolist())


_FACTORS: Final[dict[str, tuple[str, Spread]]] = {
    "Scalar": ("Scalar value=1", _to_all),
    "ScalarList": ("Scalar[] scalars", _number_each),
    "Tensor": ("Tensor scalars", _numbers_of),
}


def _combined(name: str, overload: str) -> None:
    factor, spread = _FACTORS[overload]

    def parts(self: Tensors, one: Tensors, two: Tensors, value: Any) -> Iterator[tuple[Any, ...]]:
        check_lists(self, one, two)
        return zip(self, one, two, spread(self, value), strict=True)

    def make(self: Tensors, one: Tensors, two: Tensors, value: Any = 1) -> list[Any]:
        function = getattr(fn, name)
        return [function(t, a, b, value=v) for t, a, b, v in parts(self, one, two, value)]

    def write(self: Tensors, one: Tensors, two: Tensors, value: Any = 1) -> None:
        for t, a, b, v in parts(self, one, two, value):
            getattr(t, f"{name}_")(a, b, value=v)

    arguments = f"Tensor[] tensor1, Tensor[] tensor2, {factor}"
    for run, inplace in ((make, False), (write, True)):
        doc = f"`{name}` of each tensor{', in place' * inplace}."
        _show(_with(name, overload, inplace=inplace), arguments, doc, run, inplace=inplace)


for _name in ("addcdiv", "addcmul"):
    for _overload in _FACTORS:
        _combined(_name, _overload)

_WEIGHTS: Final[dict[str, tuple[str, Spread]]] = {
    "List": ("Tensor[] weights", _tensor_each),
    "Scalar": ("Scalar weight", _to_all),
    "ScalarList": ("Scalar[] weight", _number_each),
}


def _lerp(overload: str) -> None:
    weight, spread = _WEIGHTS[overload]

    def make(self: Tensors, ends: Tensors, weights: Any) -> list[Any]:
        check_lists(self, ends)
        parts = zip(self, ends, spread(self, weights), strict=True)
        return [fn.lerp(t, end, w) for t, end, w in parts]

    def write(self: Tensors, ends: Tensors, weights: Any) -> None:
        check_lists(self, ends)
        for t, end, w in zip(self, ends, spread(self, weights), strict=True):
            t.lerp_(end, w)

    for run, inplace in ((make, False), (write, True)):
        doc = f"`lerp` of each tensor{', in place' * inplace}."
        arguments = f"Tensor[] tensors1, {weight}"
        _show(_with("lerp", overload, inplace=inplace), arguments, doc, run, inplace=inplace)


for _overload in _WEIGHTS:
    _lerp(_overload)

# ---- the rest -----------------------------------------------------------------------------------


def _each(function: Each, *, others: bool = False) -> Callable[..., list[Any]]:
    """New tensors: a function of each tensor, of its partner and of options."""

    def make(self: Tensors, *args: Any, **options: Any) -> list[Any]:
        if others:
            check_lists(self, args[0])
            return [
                function(t, o, *args[1:], **options) for t, o in zip(self, args[0], strict=True)
            ]
        check_lists(self)
        return [function(t, *args, **options) for t in self]

    return make


def _zero(self: Tensors) -> None:
    check_lists(self)
    for t in self:
        t.zero_()


def _copy(self: Tensors, src: Tensors, non_blocking: bool = False) -> None:
    check_lists(self, src)
    for t, s in zip(self, src, strict=True):
        t.copy_(s, non_blocking)


def _powsum(t: Any, order: Any = 2, dtype: Any = None) -> Any:
    """What `norm` takes the root of."""
    return (t if dtype is None else t.to(dtype)).abs().pow(order).sum()


_ORDER: Final = "Scalar ord=2, ScalarType? dtype=None"
_show("_foreach_zero_", "", "Zeros in each tensor, in place.", _zero, inplace=True, fills=True)
_show(
    "_foreach_copy_",
    "Tensor[] src, bool non_blocking=False",
    "Copies of tensors into others.",
    _copy,
    inplace=True,
)
_show(
    "_foreach_clone",
    "*, MemoryFormat? memory_format=None",
    "A copy of each tensor.",
    _each(lambda t, memory_format=None: t.clone(memory_format=memory_format)),
    inplace=False,
)
_show(
    "_foreach_max",
    "",
    "The largest element of each tensor.",
    _each(lambda t: fn.max(t)),
    inplace=False,
)
_show(
    "_foreach_norm.Scalar",
    _ORDER,
    "The vector norm of each tensor.",
    _each(lambda t, order=2, dtype=None: fn_linalg.vector_norm(t, order, dtype=dtype)),
    inplace=False,
)
_show(
    "_foreach_powsum.Scalar",
    _ORDER,
    "For each tensor the sum of its elements' absolute values to a power.",
    _each(_powsum),
    inplace=False,
)
_show(
    "_foreach_mm",
    "Tensor[] mat2",
    "Matrix products of pairs.",
    _each(lambda t, other: fn.mm(t, other), others=True),
    inplace=False,
)
