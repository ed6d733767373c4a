"""Control flow of tensors, which is Python's own here: functions run at once, with gradients as elsewhere."""

from __future__ import annotations

from typing import Any

from ...tensors.tensor import Tensor

__all__ = ["cond", "while_loop"]


def _truth(value: Any, what: str) -> bool:
    if isinstance(value, bool):
        return value
    if isinstance(value, Tensor) and value.numel() == 1:
        return bool(value)
    shown = f"a tensor of shape {tuple(value.shape)}" if isinstance(value, Tensor) else repr(value)
    raise RuntimeError(f"Expected {what} to be bool or single-element tensor, but got {shown}.")


def cond(
    pred: bool | Tensor,
    true_fn: Any,
    false_fn: Any,
    operands: tuple[Any, ...] | list[Any] = (),
) -> Any:
    """What one of two functions gives for some operands.

    Args:
        pred: whether it is the first one: a bool, or a tensor of one element.
        true_fn: takes the operands.
        false_fn: as well.
        operands: tensors, or containers of them.

    Raises:
        RuntimeError: if something is none of these.
    """
    if not callable(true_fn) or not callable(false_fn):
        raise RuntimeError("Expect both branches to be callable.")
    if not isinstance(operands, tuple | list):
        raise RuntimeError(
            f"Expect operands to be a tuple of possibly nested dict/list/tuple that only consists of "
            f"tensor leaves, but got {operands}."
        )
    return (true_fn if _truth(pred, "pred") else false_fn)(*operands)


def while_loop(
    cond_fn: Any,
    body_fn: Any,
    carried_inputs: tuple[Any, ...] | list[Any],
) -> tuple[Any, ...]:
    """Values after a function has been applied to them for as long as another one says.

    Args:
        cond_fn: takes the values, gives whether to go on.
        body_fn: takes the values, gives as many.
        carried_inputs: the values at the beginning.

    Raises:
        RuntimeError: if something is none of these.
    """
    if not callable(cond_fn) or not callable(body_fn):
        raise RuntimeError("Expect cond_fn and body_fn to be callable.")
    if not isinstance(carried_inputs, tuple | list):
        raise RuntimeError(
            f"Expect carried_inputs to be a tuple or list, but got {carried_inputs}."
        )
    carried = tuple(carried_inputs)
    while _truth(cond_fn(*carried), "the result of cond_fn"):
        made = body_fn(*carried)
        if not isinstance(made, tuple | list) or len(made) != len(carried):
            raise RuntimeError(
                f"body_fn must give a tuple of {len(carried)} values, as many as carried_inputs has"
            )
        carried = tuple(made)
    return carried
