"""Control flow of tensors, which is Python's own here: functions run at once, with gradients as elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from ...tensors.tensor import Tensor
from ...utils._pytree import tree_iter, tree_map
from ..compiled_calls import CALLS
from ..compiler_errors import TorchRuntimeError

__all__ = ["cond", "while_loop"]

# What branches of `cond` have to agree in; sizes may differ.
_ALIKE: Final = ("dtype", "layout", "ndim")
# What a turn of `while_loop` has to leave as it was.
_KEPT: Final = ("shape", "dtype", "layout")


def _truth(value: Any, what: str) -> bool:
    if isinstance(value, bool):
        return value
    if not isinstance(value, Tensor):
        raise RuntimeError(f"Expected {what} to be bool or tensor, but got {value}.")
    if value.numel() != 1:
        raise RuntimeError(f"Expected {what} to be bool or single-element tensor, but got {value}.")
    return bool(value)


def cond(
    pred: Any,
    true_fn: Any,
    false_fn: Any,
    operands: Sequence[Any] = (),
) -> Any:
    """What one of two functions gives for some operands.

    With a tensor as ``pred``, both functions are called with tensors that have no elements first, to see
    whether they give the same kind of result: so they must have no other effects. Functions that want
    values of tensors are not looked through.

    Args:
        pred: whether it is the first one: a bool or another number, or a tensor of one element.
        true_fn: takes the operands.
        false_fn: as well.
        operands: tensors, or containers of them.

    Raises:
        RuntimeError: if something is none of these.
        UncapturedHigherOrderOpError: if a function fails, writes to tensors from outside, returns them or
            the same memory twice, or if the results are nested in different ways.
        TorchRuntimeError: if the results differ in dtype, device or number of dimensions.
    """
    if not callable(true_fn) or not callable(false_fn):
        raise RuntimeError("Expect both branches to be callable.")
    if not isinstance(operands, tuple | list) or not _fit(operands, pred):
        raise RuntimeError(
            f"Expect operands to be a tuple of possibly nested dict/list/tuple that only consists of "
            f"tensor leaves, but got {operands}."
        )
    if isinstance(pred, int | float):
        return (true_fn if pred else false_fn)(*operands)
    truth = _truth(pred, "pred")
    _compare(true_fn, false_fn, operands)
    return (true_fn if truth else false_fn)(*operands)


def _fit(operands: Sequence[Any], pred: Any) -> bool:
    """Whether there are tensors only, which is asked for where nothing is decided yet."""
    if CALLS.compiling or not isinstance(pred, Tensor):
        return True
    return all(isinstance(each, Tensor) for each in tree_iter(operands))


def _compare(true_fn: Any, false_fn: Any, operands: Sequence[Any]) -> None:
    """Refuse branches whose results are of different kinds."""
    from .looked_through import look_through, refuse

    found = [look_through("cond", fn, operands) for fn in (true_fn, false_fn)]
    for given in found:
        for leaf in given.leaves if given is not None else ():
            if not isinstance(leaf, Tensor | int):
                refuse(
                    "cond",
                    f"A branch returns {leaf!r}: its output must consist of tensors or ints only",
                    "Return a tensor, or decide on other values after the call.",
                )
    yes, no = found
    if yes is None or no is None:
        return
    if yes.tree != no.tree:
        refuse(
            "cond",
            f"Expected branches to return the same pytree structure, but got {yes.tree} and {no.tree}",
            "Have both return as many values, nested in the same containers.",
        )
    for a, b, *devices in zip(yes.leaves, no.leaves, yes.devices, no.devices, strict=True):
        if isinstance(a, Tensor) != isinstance(b, Tensor):
            raise TorchRuntimeError(
                f"torch.cond: one branch returns a {type(a).__name__} where the other one returns a "
                f"{type(b).__name__}: have both return a tensor"
            )
        if isinstance(a, Tensor):
            pairs = {name: (getattr(a, name), getattr(b, name)) for name in _ALIKE}
            for name, (left, right) in {**pairs, "device": devices}.items():
                if left != right:
                    raise TorchRuntimeError(
                        f"When merging two branches' output in torch.cond, expected same {name} but got "
                        f"{left} and {right}. Convert what one of them returns."
                    )


def while_loop(
    cond_fn: Any,
    body_fn: Any,
    carried_inputs: tuple[Any, ...] | list[Any],
) -> Any:
    """Values after a function has been applied to them for as long as another one says.

    Both functions are called with tensors that have no elements first, as those of `cond` are.

    Args:
        cond_fn: takes the values, gives whether to go on.
        body_fn: takes the values, gives as many, of the same shapes and dtypes.
        carried_inputs: the values at the beginning: tensors and ints, or containers of them.

    Returns:
        What ``body_fn`` gave last; copies of the values at the beginning where it was not called.

    Raises:
        RuntimeError: if something is none of these.
        AssertionError: if there are other values than tensors and ints.
        UncapturedHigherOrderOpError: if a function fails, writes to tensors from outside, returns them or
            the same memory twice, or if shapes or dtypes do not stay what they were.
    """
    if not callable(cond_fn) or not callable(body_fn):
        raise RuntimeError("Expect cond_fn and body_fn to be callable.")
    if not isinstance(carried_inputs, tuple | list):
        raise RuntimeError(
            f"Expect carried_inputs to be a tuple or list, but got {carried_inputs}."
        )
    for each in tree_iter(carried_inputs):
        if not isinstance(each, Tensor | int):
            raise AssertionError(
                f"carried_inputs can only be tensors and ints, but got {type(each).__name__}"
            )
    _check_turn(cond_fn, body_fn, carried_inputs)
    carried: Sequence[Any] = carried_inputs
    made: Any = None
    while _truth(cond_fn(*carried), "the result of cond_fn"):
        made = body_fn(*carried)
        carried = made if isinstance(made, tuple | list) else (made,)
        if len(carried) != len(carried_inputs):
            raise RuntimeError(
                f"body_fn must give a tuple of {len(carried_inputs)} values, as many as carried_inputs has"
            )
    if made is not None:
        return made
    return tree_map(lambda v: v.clone() if isinstance(v, Tensor) else v, tuple(carried_inputs))


def _check_turn(cond_fn: Any, body_fn: Any, carried: Sequence[Any]) -> None:
    """Refuse a loop whose values do not stay what they are."""
    from .looked_through import look_through, refuse

    asked = look_through("while_loop", cond_fn, carried)
    for leaf in asked.leaves if asked is not None else ():
        if isinstance(leaf, Tensor) and (leaf.ndim or str(leaf.dtype) != "torch.bool"):
            refuse(
                "while_loop",
                f"Expected cond_fn to return a scalar tensor or a bool but got {leaf.dtype} of {leaf.shape}",
                "Compare, and reduce with all() or any().",
            )
    given = look_through("while_loop", body_fn, carried)
    if given is None:
        return
    before = [*tree_iter(carried)]
    if len(given.leaves) != len(before):
        refuse(
            "while_loop",
            "Expected body_fn_output and carried_inputs to have same number of outputs but got "
            f"{len(given.leaves)} and {len(before)}",
            "Have body_fn return a value for each of carried_inputs.",
        )
    for n, (leaf, device, old) in enumerate(zip(given.leaves, given.devices, before, strict=True)):
        if not (isinstance(leaf, Tensor) and isinstance(old, Tensor)):
            continue
        pairs = {name: (getattr(leaf, name), getattr(old, name)) for name in _KEPT}
        for name, (left, right) in {**pairs, "device": (device, old.device)}.items():
            if left != right:
                refuse(
                    "while_loop",
                    "Expected body_fn_output and carried_inputs to have same metadata but found: "
                    f"pair[{n}] differ in '{name}: {left} vs {right}'",
                    "Convert the value before the loop.",
                )
