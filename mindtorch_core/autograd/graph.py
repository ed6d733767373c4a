"""``torch.autograd.graph``: looking at the graph, and taking part in how it is kept and walked."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from typing import Any, Final, Literal
from weakref import WeakKeyDictionary

from ..dispatch.keys import AUTOGRAD
from ..gradients import packing, walks
from ..gradients.handles import RemovableHandle, add
from ..gradients.hooks import node_of, tensor_hooks
from ..gradients.node import GradientEdge, Node
from ..gradients.walks import Walk
from ..tensors.tensor import Tensor
from ..values.forks import fork_safe
from ..values.interrupts import from_entry, leaving
from .mutation import mutable_saved_tensors

__all__ = [
    "GradientEdge",
    "Node",
    "allow_mutation_on_saved_tensors",
    "disable_saved_tensors_hooks",
    "get_gradient_edge",
    "increment_version",
    "register_multi_grad_hook",
    "save_on_cpu",
    "saved_tensors_hooks",
]


class saved_tensors_hooks:
    """Pack what ops save for backward inside a block, and unpack it when backward needs it.

    ``pack_hook(tensor)`` is called, without recording, for every tensor that an op or
    ``save_for_backward`` keeps; the graph keeps what it returns instead. ``unpack_hook(packed)`` gives
    back a tensor with the same content. Of nested blocks, the innermost counts.

    Args:
        pack_hook: from a tensor to anything. It must not change the tensor.
        unpack_hook: back to a tensor.
    """

    def __init__(
        self, pack_hook: Callable[[Tensor], Any], unpack_hook: Callable[[Any], Tensor]
    ) -> None:
        self.pack_hook = pack_hook
        self.unpack_hook = unpack_hook
        self._depths: list[int] = []

    def __enter__(self) -> None:
        self._depths += (packing.depth(),)
        try:
            packing.push_hooks(self.pack_hook, self.unpack_hook)
        except BaseException:
            del self._depths[-1]
            raise

    @from_entry
    def __exit__(self, *exc_info: object) -> None:
        try:
            packing.pop_hooks(self._depths[-1])
        except BaseException:  # an interrupt, before all was done
            packing.pop_hooks(self._depths[-1])
            raise
        finally:
            del self._depths[-1]


class save_on_cpu(saved_tensors_hooks):
    """Keep what is saved for backward in host memory, and bring it back when it is needed.

    Args:
        pin_memory: accepted; no backend has page-locked memory.
        device_type: accepted; tensors of every device are moved.
    """

    def __init__(self, pin_memory: bool = False, device_type: str = "cuda") -> None:
        def pack(t: Tensor) -> tuple[Any, Tensor]:
            return t._device, t.cpu()

        def unpack(packed: tuple[Any, Tensor]) -> Tensor:
            on, t = packed
            return t.to(on)

        super().__init__(pack, unpack)


class disable_saved_tensors_hooks:
    """Refuse `saved_tensors_hooks` inside a block, with a text of your own.

    Args:
        error_message: what the RuntimeError says.
    """

    def __init__(self, error_message: str) -> None:
        self._message = error_message
        self._before: list[str | None] = []

    def __enter__(self) -> None:
        self._before += (packing.disable(self._message),)

    def _leave(self) -> None:
        packing.disable(self._before[-1])
        del self._before[-1]

    __exit__ = leaving(_leave)


def allow_mutation_on_saved_tensors() -> AbstractContextManager[Any]:
    """Let tensors that were saved for backward be changed in place inside a block.

    The old value is copied before the change. Backward must run inside the block, too.

    Raises:
        RuntimeError: on entering, if the blocks are nested, or other hooks on saved tensors active.
    """
    return mutable_saved_tensors()


def get_gradient_edge(tensor: Tensor) -> GradientEdge:
    """The place of a tensor in the graph, which `grad` and `backward` take instead of the tensor.

    Raises:
        RuntimeError: if the tensor does not require grad.
    """
    meta = tensor._autograd
    if not tensor._keys & AUTOGRAD or meta is None:
        raise RuntimeError(
            "It is not possible to get the gradient edge for a Tensor that does not require gradients"
        )
    return GradientEdge(node_of(meta), 0 if meta.is_leaf else meta.output_nr)


def increment_version(tensor: Tensor | Iterable[Tensor]) -> None:
    """Count a change of memory that no op has made, so that backward notices it, if tensors count any.

    Raises:
        RuntimeError: for something else than tensors.
    """
    tensors = [tensor] if isinstance(tensor, Tensor) else list(tensor)
    for t in tensors:
        if not isinstance(t, Tensor):
            raise RuntimeError(
                "increment_version expects each element of the iterable to be a tensor"
            )
        if not t.is_inference():
            t._own_storage().version += 1


# ---- hooks on several tensors ------------------------------------------------------------------


class _Handles:
    """Handle of a hook on several tensors."""

    def __init__(self, handles: Sequence[RemovableHandle]) -> None:
        self.handles = tuple(handles)

    def remove(self) -> None:
        """Take the hook off."""
        for handle in self.handles:
            handle.remove()

    def __enter__(self) -> _Handles:
        return self

    __exit__ = leaving(remove)


_MODES: Final = ("all", "any")


def register_multi_grad_hook(
    tensors: Sequence[Tensor],
    fn: Callable[[Any], None],
    *,
    mode: Literal["all", "any"] = "all",
) -> _Handles:
    """Call ``fn`` once per backward when gradients of several tensors are known.

    Args:
        tensors: tensors that require grad.
        fn: with ``mode="all"`` called with a list of the gradients, None for those tensors that the
            backward does not come to, when the last of the others has arrived; with ``mode="any"``
            called with the first gradient that arrives.
        mode: "all" or "any".

    Raises:
        ValueError: if the mode is another.
        RuntimeError: if a tensor does not require grad.
    """
    if mode not in _MODES:
        raise ValueError(f"Expects mode to be one of {_MODES} but got {mode}")
    edges = []
    for t in tensors:
        meta = t._autograd
        if not t._keys & AUTOGRAD or meta is None:
            raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
        edges.append(meta)
    walks.observe()
    several = _Several([node_of(meta) for meta in edges], fn)
    first = _First(fn)
    return _Handles(
        [
            add(tensor_hooks(meta), several.at(i) if mode == "all" else first)
            for i, meta in enumerate(edges)
        ]
    )


class _Several:
    """Collects the gradients of several tensors in each walk."""

    def __init__(self, nodes: list[Node], fn: Callable[[Any], None]) -> None:
        self.nodes = nodes
        self.fn = fn
        self.lock = fork_safe(threading.RLock())
        # By walk: one that fails leaves nothing.
        self.collected: WeakKeyDictionary[Walk, tuple[list[int], list[Any]]] = WeakKeyDictionary()

    def at(self, i: int) -> Callable[[Any], None]:
        """The hook of one of the tensors."""

        def hook(g: Any) -> None:
            walk = walks.current_walk()
            if walk is None:
                return
            with self.lock:
                if walk not in self.collected:
                    expected = sum(map(walk.visits, self.nodes))
                    self.collected[walk] = [expected], [None] * len(self.nodes)
                left, grads = self.collected[walk]
                grads[i] = g
                left[0] -= 1
                if left[0] == 0:
                    del self.collected[walk]
            if left[0] == 0:
                self.fn(grads)

        return hook


class _First:
    """Hands on the first gradient of each walk."""

    def __init__(self, fn: Callable[[Any], None]) -> None:
        self.fn = fn
        self.last = threading.local()

    def __call__(self, g: Any) -> None:
        walk = walks.current_walk()
        if walk is not None and getattr(self.last, "number", None) != walk.number:
            self.last.number = walk.number
            self.fn(g)
