"""Modules that learn the shapes of their parameters from the first batch."""

from __future__ import annotations

from functools import partial
from typing import Any

import mindtorch_core as torch

from ..parameter import is_lazy
from .base import ModuleBase, undoing

__all__ = ["LazyModuleMixin"]


class LazyModuleMixin(ModuleBase):
    """Makes a module lazy; it stands before the module's class.

    The first call hands its arguments to ``initialize_parameters``, and then the module becomes an
    instance of ``cls_to_become``.
    """

    cls_to_become: type[Any] | None = None
    _initialize_hook: Any
    _load_hook: Any

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        me: Any = self
        self._load_hook = me._register_load_state_dict_pre_hook(self._lazy_load_hook)
        self._initialize_hook = me.register_forward_pre_hook(
            self._infer_parameters, with_kwargs=True
        )

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        for name, value in [*self._parameters.items(), *self._buffers.items()]:
            if value is not None and name not in self._non_persistent_buffers_set:
                as_it_is = keep_vars or is_lazy(value)
                destination[prefix + name] = value if as_it_is else value.detach()

    def _lazy_load_hook(self, state_dict: Any, prefix: str, *rest: Any) -> None:
        """Give parameters the shapes of the values that are about to be loaded."""
        with undoing() as undo, torch.no_grad():
            for name, value in [*self._parameters.items(), *self._buffers.items()]:
                new = state_dict.get(prefix + name)
                if is_lazy(value) and isinstance(new, torch.Tensor) and not is_lazy(new):
                    lazy: Any = value
                    undo.steps.append(partial(_put_back, lazy, lazy.data, type(lazy)))
                    lazy.materialize(new.shape)

    def initialize_parameters(self, *args: Any, **kwargs: Any) -> None:
        """Give the parameters their shapes; every lazy class defines it.

        Raises:
            NotImplementedError: if it does not.
        """
        raise NotImplementedError(
            f"initialize_parameters is not implemented for {type(self).__name__}"
        )

    def has_uninitialized_params(self) -> bool:
        """Whether a parameter or buffer has no shape yet."""
        return any(map(is_lazy, [*self._parameters.values(), *self._buffers.values()]))

    def _infer_parameters(
        self, module: Any, args: tuple[Any, ...], kwargs: dict[str, Any] | None = None
    ) -> None:
        """The hook before the first forward."""
        module.initialize_parameters(*args, **(kwargs or {}))
        if module.has_uninitialized_params():
            raise RuntimeError(f"module {self._get_name()} has not been fully initialized")
        module._initialize_hook.remove()
        module._load_hook.remove()
        del module._initialize_hook
        del module._load_hook
        if module.cls_to_become is not None:
            module.__class__ = module.cls_to_become

    def _replicate_for_data_parallel(self) -> Any:
        raise RuntimeError(
            "Modules with uninitialized parameters can't be used with `DataParallel`. Run a dummy "
            "forward pass to correctly initialize the modules"
        )


def _put_back(value: Any, data: Any, kind: type[Any]) -> None:
    """Take a shape away again."""
    value.data = data
    value.__class__ = kind
