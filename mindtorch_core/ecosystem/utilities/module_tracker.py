"""``torch.utils.module_tracker``: in which modules the program is, forward and backward."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Self
from weakref import WeakKeyDictionary

from ...autograd.graph import register_multi_grad_hook
from ...dispatch.masks import is_grad_enabled
from ...frontend.companion import module_at
from ...gradients.within import graph_task_id
from ...tensors.tensor import Tensor

__all__ = ["ModuleTracker"]


class ModuleTracker:
    """Knows, within a block, which modules are being called, and which backward passes are under way.

    Attributes:
        parents: their names, ``Global`` always. A module is named by its class where it was called from
            outside of others, and by its path below such a one: ``Model.encoder.0``.
    """

    def __init__(self) -> None:
        self.parents: set[str] = {"Global"}
        self._names: WeakKeyDictionary[Any, str] = WeakKeyDictionary()
        self._handles: list[Any] = []

    @property
    def is_bw(self) -> bool:
        """Whether this thread is within a backward pass."""
        return graph_task_id() != -1

    def __enter__(self) -> Self:
        hooks = module_at("mindtorch_core.nn.modules.module")
        self._handles = [
            hooks.register_module_forward_pre_hook(self._entered),
            hooks.register_module_forward_hook(self._left, always_call=True),
        ]
        return self

    def __exit__(self, *exc_info: object) -> None:
        for handle in self._handles:
            handle.remove()
        self._handles.clear()
        self.parents = {"Global"}

    def _name(self, module: Any) -> str:
        if module not in self._names:
            self._names[module] = type(module).__name__
        name = self._names[module]
        for part, inner in module.named_children():
            self._names.setdefault(inner, f"{name}.{part}")
        return name

    def _entered(self, module: Any, args: Any) -> None:
        name = self._name(module)
        self.parents.add(name)
        self._at_gradients(args, lambda grads: self.parents.discard(name))

    def _left(self, module: Any, args: Any, output: Any) -> None:
        name = self._name(module)
        self.parents.discard(name)
        self._at_gradients(output, lambda grads: self.parents.add(name))

    def _at_gradients(self, value: Any, call: Callable[[Any], None]) -> None:
        """Have something called when the gradients of tensors in a value are there."""
        found = [t for t in _tensors(value) if t.requires_grad]
        if found and is_grad_enabled():
            self._handles.append(register_multi_grad_hook(found, call))


def _tensors(value: Any) -> Iterator[Tensor]:
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, dict):
        yield from _tensors(value.values())
    elif isinstance(value, Iterable) and not isinstance(value, str | bytes):
        for each in value:
            yield from _tensors(each)
