"""What the tests check, and how they say what is wrong."""

from __future__ import annotations

from typing import Any, Final

from ...dispatch.opdef import OpDef, TensorSpec
from ...dispatch.schema import parse_schema
from ...operators.recipes import values_of
from ...plugins.loader import numerics_of
from ...tensors.tensor import Tensor, from_values
from ...values.devices import concrete, row_of
from ...values.dtypes import COMPLEX, DTYPES, FLOATING
from ...values.errors import BackendUnavailableError, PipelineError
from ...values.promotion import can_cast
from ...values.shapes import contiguous_strides
from ..comparison import outcome
from .cases import Case

__all__ = [
    "OPERANDS",
    "check_pending",
    "check_spec",
    "fits",
    "has",
    "has_dtype",
    "is_mutable",
    "made",
    "operands_of",
    "raised_alike",
    "refuses",
    "require",
    "specs_of",
    "strided_like",
    "tensors_of",
    "works_with",
    "writes_first",
]


_SHOWN: Final = 6  # elements of an operand in a message


def require(condition: bool, problem: str) -> None:
    """Fail a test, saying what is wrong.

    Raises:
        AssertionError: if the condition does not hold.
    """
    if not condition:
        raise AssertionError(problem)


def refuses(what: str, call: Any, *kinds: type[Exception]) -> Exception:
    """Check that a call raises an exception of one of some types; returns it.

    Raises:
        AssertionError: if it returns, or raises another one.
    """
    found = outcome(call)
    names = " or ".join(kind.__name__ for kind in kinds)
    if not isinstance(found, Exception):
        raise AssertionError(f"{what} must raise {names}, but nothing was raised")
    if not isinstance(found, kinds):
        raise AssertionError(f"{what} must raise {names}, not {found!r}") from found
    return found


# How the line of a message begins that shows the operands of a call.
OPERANDS: Final = "operands: "


def operands_of(case: Case) -> str:
    """Shapes, dtypes and first elements of the tensors of a call."""
    shown = []
    for recipe in case.sample.recipes():
        values = values_of(recipe)
        first = ", ".join(f"{v:.6g}" if isinstance(v, float) else str(v) for v in values[:_SHOWN])
        more = ", ..." if len(values) > _SHOWN else ""
        shown.append(f"{recipe.dtype}{list(recipe.shape)} [{first}{more}]")
    return "; ".join(shown)


def tensors_of(result: Any) -> list[Tensor]:
    """The tensors of a result, alone or in tuples, which may lack some or hold whole numbers."""
    if isinstance(result, tuple | list):
        return [t for part in result if part is not None for t in tensors_of(part)]
    if isinstance(result, int):  # a truth value among them
        return []
    require(isinstance(result, Tensor), f"the result holds {type(result).__name__}, not a tensor")
    return [result]


def raised_alike(case: Case, found: Any, wanted: Any) -> bool:
    """Whether both outcomes are exceptions of one type; fails if only one is, or they differ."""
    if isinstance(wanted, Exception):
        if not isinstance(found, Exception):
            raise AssertionError(f"{case}: {wanted!r} was expected, but nothing was raised")
        if not isinstance(found, type(wanted) | PipelineError):
            raise AssertionError(f"{case}: {wanted!r} was expected, not {found!r}") from found
        return True
    if isinstance(found, Exception):
        raise AssertionError(f"{case} raised {found!r}") from found
    return False


def specs_of(d: OpDef, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What the op's rule says of a call: specs, the exception it raises, or None without a rule.

    Results that a call does not have are left out, as `tensors_of` does.
    """
    rule = d.rule
    if rule is None:
        return None
    found = outcome(rule, *args, **kwargs)
    if isinstance(found, TensorSpec):
        return [found]
    return found if isinstance(found, Exception) else [s for s in found if s is not None]


def check_spec(case: Case, t: Tensor, spec: TensorSpec) -> None:
    """Check a result's shape, dtype, strides and offset against the rule's."""
    require(
        (t._shape, t._dtype) == (tuple(spec.shape), spec.dtype),
        f"{case} gave {t.dtype}{list(t.shape)}, its rule says {spec}",
    )
    wanted = contiguous_strides(t._shape) if spec.strides is None else tuple(spec.strides)
    require(
        significant(t, tuple(t.stride())) == significant(t, wanted),
        f"{case} gave strides {tuple(t.stride())}, its rule says {wanted}",
    )
    if case.op.traits.view and t.numel():
        require(
            t.storage_offset() == spec.offset,
            f"{case} gave offset {t.storage_offset()}, its rule says {spec.offset}",
        )


def check_pending(case: Case, result: Any, wanted: Any) -> None:
    """Check what is known of results before they are computed.

    Afterwards nothing refers to them but ``result``, so that a pipeline which drops them is found.
    """
    for t, eager in zip(tensors_of(result), tensors_of(wanted), strict=False):
        require(
            (t._shape, t._dtype) == (eager._shape, eager._dtype),
            f"{case} is {t.dtype}{list(t.shape)} while pending",
        )


def significant(t: Tensor, strides: tuple[int, ...]) -> list[int]:
    """The strides that say where elements lie: those of dimensions with several of them."""
    return [n for size, n in zip(t._shape, strides, strict=True) if size > 1] if t.numel() else []


def fits(target: Tensor, result: Any) -> bool:
    """Whether a result can be written into a tensor; complex memory has no place for real parts."""
    kind, kept = result._dtype, target._dtype
    halved = kept.category == COMPLEX and kind.category == FLOATING
    return result._shape == target._shape and can_cast(kind, kept) and not halved


def strided_like(t: Tensor) -> Tensor:
    """A tensor of the same shape and dtype whose elements have gaps between them."""
    strides = tuple(2 * n for n in contiguous_strides(t._shape))
    return t.new_zeros((2 * max(t.numel(), 1),)).as_strided(t._shape, strides)


def writes_first(d: OpDef) -> bool:
    """Whether the op writes its first argument, which it then returns."""
    schema = parse_schema(d.schema)
    first = schema.arguments[:1] if schema.returns else ()
    return any(a.alias is not None and a.alias.is_write for a in first)


def is_mutable(d: OpDef) -> bool:
    """Whether the op writes an argument."""
    return parse_schema(d.schema).is_mutable


def has(device: str) -> bool:
    """Whether there is a backend for a device, such as the CPU's to compare with."""
    try:
        row_of(device)
    except BackendUnavailableError:
        return False
    return True


def made(values: list[Any], device: Any, dtype: str = "float32") -> Tensor:
    """A tensor of one dimension, through the runtime and no kernel."""
    return from_values(values, (len(values),), DTYPES[dtype], concrete(device))


def has_dtype(device: str, dtype: str) -> bool:
    """Whether a device keeps a dtype and computes with it: it can copy and compare elements.

    It has none that its backend declares to lack.
    """
    return dtype not in numerics_of(device).without and works_with(device, dtype)


def works_with(device: str, dtype: str) -> bool:
    """Whether a device can copy and compare elements of a dtype."""

    def equal() -> Any:
        one = made([1, 0], device, dtype)
        return one.clone().eq(one).tolist()

    return bool(outcome(equal) == [True, True])
