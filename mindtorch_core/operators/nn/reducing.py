"""How losses are reduced, and PyTorch's arguments for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from ...dispatch.opdef import TensorSpec
from ...opdefs.define import op
from ...opdefs.rules import pointwise_spec
from ...tensors.tensor import Tensor
from ...values.dtypes import COMPLEX, FLOATING, dtype
from ...values.promotion import WIDER, check_cast, result_type
from ...values.user_warnings import warn_user
from ..elementwise.composed import in_wide, refused

__all__ = [
    "MEAN",
    "NONE",
    "SUM",
    "Accepted",
    "accept_alike",
    "accept_promoted",
    "accept_real",
    "accept_stored",
    "check_beta",
    "check_delta",
    "check_real",
    "check_whole",
    "loss",
    "loss_rule",
    "reduced",
    "reduction_of",
    "weighted",
]

# What says which dtype the loss of an input and a target has, or refuses them.
Accepted = Callable[[Tensor, Tensor], dtype]

NONE, MEAN, SUM = range(3)
_CODES: Final = {"none": NONE, "mean": MEAN, "sum": SUM}


def reduction_of(
    reduction: str, size_average: bool | None = None, reduce: bool | None = None
) -> int:
    """The number that ops know a reduction by.

    Args:
        reduction: ``none``, ``mean`` or ``sum``.
        size_average: deprecated: false for a sum.
        reduce: deprecated: false for no reduction.

    Raises:
        ValueError: for another word.
    """
    if size_average is not None or reduce is not None:
        averaged = size_average is None or size_average
        reduction = "none" if reduce is False else "mean" if averaged else "sum"
        warn_user(
            f"size_average and reduce args will be deprecated, please use "
            f"reduction='{reduction}' instead."
        )
    code = _CODES.get(reduction)
    if code is None:
        raise ValueError(f"{reduction} is not a valid value for reduction")
    return code


def reduced(losses: Any, reduction: int) -> Tensor:
    """The losses, their mean or their sum."""
    found: Tensor = losses
    if reduction == MEAN:
        found = losses.mean()
    elif reduction == SUM:
        found = losses.sum()
    return found


def weighted(losses: Any, weight: Any) -> Any:
    """The losses times their weights, if they have any."""
    return losses if weight is None else losses * weight


# ---- which dtypes a loss takes ------------------------------------------------------------------


def check_real(d: dtype, kernel: str) -> dtype:
    """Refuse integers and complex numbers, in PyTorch's words.

    Args:
        d: what the loss is computed in.
        kernel: PyTorch's name of what computes it.

    Raises:
        NotImplementedError: for a dtype that is no floating one.
    """
    if d.category != FLOATING:
        raise refused(kernel, d)
    return d


def check_whole(d: dtype, kernel: str) -> dtype:
    """As `check_real`, and refuse halves, which PyTorch's kernel does not take."""
    if d in WIDER:
        raise refused(kernel, d)
    return check_real(d, kernel)


def accept_promoted(kernel: str) -> Accepted:
    """Of losses in the dtype that input and target meet in, a floating one."""
    return lambda input, target: check_real(result_type(input, target), kernel)


def check_beta(beta: float = 1.0) -> None:
    """Refuse a width of the square part that is none."""
    if beta < 0:
        raise RuntimeError("smooth_l1_loss does not support negative values for beta.")


def check_delta(delta: float = 1.0) -> None:
    """Refuse a bound of the square part that is none."""
    if delta <= 0:
        raise RuntimeError("huber_loss does not support non-positive values for delta.")


def loss_rule(accept: Accepted, check: Callable[..., None] | None = None) -> Callable[..., Any]:
    """The rule of a loss of input and target.

    Args:
        accept: gives the dtype of the result, or refuses those of both.
        check: refuses an option, the argument after ``reduction``.
    """

    def rule(
        self: Tensor, target: Tensor, reduction: int = MEAN, *option: Any, **named: Any
    ) -> Any:
        if check is not None:
            check(*option, *named.values())
        spec = pointwise_spec((self, target), accept(self, target))
        return spec if reduction == NONE else TensorSpec((), spec.dtype)

    return rule


def accept_stored(kernel: str) -> Accepted:
    """Of losses that are kept in the dtype of the input, a floating one."""

    def accept(input: Tensor, target: Tensor) -> dtype:
        check_cast(result_type(input, target), input._dtype)
        return check_real(input._dtype, kernel)

    return accept


def accept_alike(kernel: str) -> Accepted:
    """Of losses of input and target in one floating dtype."""

    def accept(input: Tensor, target: Tensor) -> dtype:
        d = input._dtype
        if target._dtype is not d:
            raise RuntimeError(f"Found dtype {target._dtype.label} but expected {d.label}")
        return check_real(d, kernel)

    return accept


def accept_real(name: str) -> Accepted:
    """Of compositions whose operands must both be floating."""

    def accept(input: Tensor, target: Tensor) -> dtype:
        kinds = input._dtype.category, target._dtype.category
        if max(kinds) == COMPLEX or min(kinds) < FLOATING:
            kind = "Complex" if max(kinds) == COMPLEX else "Integral"
            raise RuntimeError(f"{name}: {kind} inputs not supported.")
        return result_type(input, target)

    return accept


# ---- definition ---------------------------------------------------------------------------------


def _accepting(
    accept: Accepted, formula: Callable[..., Any], *, in_single: bool
) -> Callable[..., Any]:
    """A loss that refuses dtypes and converts operands and result; see `loss`."""

    def computed(*args: Any, **kwargs: Any) -> Tensor:
        d = args[0]._dtype
        if d is args[1]._dtype and d.category == FLOATING and d not in WIDER:
            return formula(*args, **kwargs)  # type: ignore[no-any-return]
        d = accept(*args[:2])
        if in_single:
            common = result_type(*args[:2])
            args = (*(in_wide(a, common) for a in args[:2]), *args[2:])
        found: Tensor = formula(*args, **kwargs)
        return found if found._dtype is d else found.to(d)

    return computed


def loss(
    name: str,
    signature: str,
    doc: str,
    formula: Callable[..., Any],
    *,
    accept: Accepted | None = None,
    in_single: bool = False,
    **more: Any,
) -> None:
    """Define a loss, ``name(operands..., options...) -> Tensor``, from its formula.

    Args:
        name: the op.
        signature: its arguments; ``reduction`` among them is a number.
        doc: what it computes.
        formula: takes the same arguments.
        accept: gives the dtype of the result, or refuses those of input and target; None leaves
            both to the formula.
        in_single: with ``accept``: operands are converted to the dtype that they meet in, halves to
            float32, which is rounded once; the losses that PyTorch composes are rounded after each
            step there too.
        **more: further fields of `OpDef`.
    """
    properties: dict[str, Any] = {"namespaces": (), "out": True} | more
    op(
        f"{name}({signature}) -> Tensor",
        doc=doc,
        decomposition=_accepting(accept, formula, in_single=in_single) if accept else formula,
        **properties,
    )
