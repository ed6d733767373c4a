"""Anomaly mode: where the op that failed in backward was recorded, and NaN in gradients.

While the mode is on, the stack is remembered for every node that is made, and the engine evaluates
nodes by `evaluate`. While it is off, neither is there.
"""

from __future__ import annotations

import sys
import threading
from types import FrameType
from typing import TYPE_CHECKING, Any, Final

from ..dispatch.keys import DispatchKey, without_gradients
from ..values.dtypes import INTEGER
from ..values.interrupts import leaving
from ..values.user_warnings import warn_user
from .node import WATCHERS, Node

if TYPE_CHECKING:
    from ..tensors.tensor import Tensor

__all__ = [
    "detect_anomaly",
    "is_anomaly_check_nan_enabled",
    "is_anomaly_enabled",
    "set_detect_anomaly",
]


class _Mode:
    """The mode of all threads."""

    enabled = False
    check_nan = True


class _Running(threading.local):
    """The node whose gradient a thread is computing."""

    node: Node | None = None


_RUNNING: Final = _Running()


def is_anomaly_enabled() -> bool:
    """Whether anomaly mode is on."""
    return _Mode.enabled


def is_anomaly_check_nan_enabled() -> bool:
    """Whether anomaly mode, when it is on, searches gradients for NaN."""
    return _Mode.check_nan


def _set(mode: bool, check_nan: bool) -> None:
    for name, value in (("mode", mode), ("check_nan", check_nan)):
        if not isinstance(value, bool):
            raise TypeError(f"anomaly mode: {name} must be bool, not {type(value).__name__}")
    watchers, was = WATCHERS, _Mode.enabled
    _Mode.enabled, _Mode.check_nan = mode, check_nan
    if mode and not was:
        watchers += (_remember_stack,)
    elif was and not mode:
        watchers.remove(_remember_stack)


class set_detect_anomaly:
    """Switch anomaly mode on or off, at once; as a context manager until its end.

    Args:
        mode: whether a failing backward shows where its op was called in the forward pass.
        check_nan: whether NaN in a gradient is such a failure.
    """

    def __init__(self, mode: bool, check_nan: bool = True) -> None:
        self.prev = _Mode.enabled
        self.prev_check_nan = _Mode.check_nan
        _set(mode, check_nan)

    def __enter__(self) -> None:
        return None

    def _leave(self) -> None:
        _set(self.prev, self.prev_check_nan)

    __exit__ = leaving(_leave)


class detect_anomaly:
    """Show the forward call of an op whose backward fails, and fail on NaN in gradients.

    Run the forward pass inside the context too, or there is nothing to show. It slows everything
    down: use it to debug.

    Args:
        check_nan: whether NaN in a gradient is a failure.
    """

    def __init__(self, check_nan: bool = True) -> None:
        self.prev = _Mode.enabled
        self.check_nan = check_nan
        self.prev_check_nan = _Mode.check_nan
        warn_user(
            "Anomaly Detection has been enabled. This mode will increase the runtime and should only "
            "be enabled for debugging.",
        )

    def __enter__(self) -> None:
        _set(True, self.check_nan)

    def _leave(self) -> None:
        _set(self.prev, self.prev_check_nan)

    __exit__ = leaving(_leave)


def hint() -> str:
    """What the error about a tensor that changed in place advises."""
    if _Mode.enabled:
        return (
            "the backtrace further above shows the operation that failed to compute its gradient. "
            "The variable in question was changed in there or anywhere later."
        )
    return (
        "enable anomaly detection to find the operation that failed to compute its gradient, with "
        "torch.autograd.set_detect_anomaly(True, check_nan=False)."
    )


# ---- recording ---------------------------------------------------------------------------------


def _remember_stack(self: Node) -> None:
    """Keep the forward call's stack in the metadata of a new node."""
    import traceback  # three milliseconds that few programs need

    self.metadata["traceback_"] = traceback.format_stack(_user_frame())
    if _RUNNING.node is not None:
        self.metadata["parent_"] = _RUNNING.node


def _user_frame() -> FrameType:
    """The innermost frame outside this package."""
    frame = sys._getframe(1)
    while frame.f_back is not None and _inside(frame):
        frame = frame.f_back
    return frame


def _inside(frame: FrameType) -> bool:
    module = frame.f_globals.get("__name__", "")
    generated = frame.f_code.co_filename.startswith("<mindtorch")
    return generated or module.partition(".")[0] == "mindtorch_core"


# ---- backward ----------------------------------------------------------------------------------


def evaluate(node: Node, grads: list[Any]) -> Any:
    """What the engine calls instead of ``node.apply`` while the mode is on.

    Raises:
        RuntimeError: if a gradient contains NaN and the mode looks for it.
    """
    outer, _RUNNING.node = _RUNNING.node, node
    try:
        results = node.apply(*grads)
        if _Mode.check_nan:
            _refuse_nan(node, results)
    except Exception:
        _show_origin(node)
        raise
    finally:
        _RUNNING.node = outer
    return results


def _refuse_nan(node: Node, results: Any) -> None:
    for i, g in enumerate(results):
        if g is not None and _has_nan(g):
            raise RuntimeError(f"Function '{node.name()}' returned nan values in its {i}th output.")


def _has_nan(g: Tensor) -> bool:
    if g._dtype.category <= INTEGER or g._keys & DispatchKey.Meta:
        return False
    return without_gradients(lambda: bool((g != g).any()))


def _show_origin(node: Node) -> None:
    """Warn with the forward call of a node, and of those in whose backward it was recorded."""
    head, what = f"Error detected in {node.name()}.", "caused the error"
    each: Node | None = node
    while each is not None:
        stack = each.metadata.get("traceback_")
        if stack is None:
            detail = (
                "No forward pass information available. Enable detect anomaly during forward pass for "
                "more information."
            )
        else:
            detail = f"Traceback of forward call that {what}:\n{''.join(stack)}"
        warn_user(f"{head} {detail}")
        each = each.metadata.get("parent_")
        if each is not None:
            head = f"\n\nPrevious calculation was induced by {each.name()}."
            what = "induced the previous calculation"
