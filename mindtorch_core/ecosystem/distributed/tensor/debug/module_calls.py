"""Which module is being called, forward and backward, and how its parameters lie."""

from __future__ import annotations

from typing import Any, Self

from .....communication.sharded.dtensor import DTensor
from .....frontend.companion import module_at
from ....utilities.module_tracker import ModuleTracker

__all__ = ["ModuleCalls"]


class ModuleCalls(ModuleTracker):
    """A `ModuleTracker` that keeps what it has seen of each module.

    Attributes:
        name: the module that is being called now, or whose backward pass has begun last.
        activation_checkpointing: whether its forward is called again for a backward pass.
        module_helper_dict: by name the type of a module, how deep it lies, and the placements of its
            parameters.
        module_parameters_dict: by name its parameters, by their names.
        module_parents_dict: by name itself and the modules around it.
        parent_dict: by name the modules that it has called.
        sharding_dict: by name the placements of a parameter.
    """

    def __init__(self) -> None:
        super().__init__()
        self._clear()

    def _clear(self) -> None:
        self.name = "Global"
        self.activation_checkpointing = False
        self.module_helper_dict: dict[str, dict[str, Any]] = {"Global": {"depth": 0}}
        self.module_parameters_dict: dict[str, dict[str, Any]] = {}
        self.module_parents_dict: dict[str, set[str]] = {"Global": set()}
        self.parent_dict: dict[str, list[str]] = {}
        self.sharding_dict: dict[str, Any] = {}
        self._called = ["Global"]

    def __enter__(self) -> Self:
        self._clear()
        super().__enter__()
        hooks = module_at("mindtorch_core.nn.modules.module")
        self._handles.append(hooks.register_module_full_backward_pre_hook(self._backward_begins))
        return self

    def _entered(self, module: Any, args: Any) -> None:
        super()._entered(module, args)
        self.name = name = self._name(module)
        self.activation_checkpointing = self.is_bw
        if self.is_bw:
            return
        row = self.module_helper_dict.setdefault(name, {})
        row["module_type"] = str(type(module)).strip("<>")
        row["depth"] = len(self.parents) - 1
        for own, parameter in module.named_parameters(recurse=False):
            data = parameter.data
            self.module_parameters_dict.setdefault(name, {})[own] = data
            if isinstance(data, DTensor):
                self.sharding_dict[f"{name}.{own}"] = data.placements
                row.setdefault("parameters", {})[own] = str(data.placements)
        self.module_parents_dict.setdefault(name, set(self.parents))
        called = self.parent_dict.setdefault(self._called[-1], [])
        called += [] if name in called else [name]
        self._called.append(name)
        # Its own hooks, which may send something, run after those of all modules: this is the last.
        last: Any = module.register_forward_hook(lambda *_: self._finished(last), always_call=True)
        self._handles.append(last)

    def _finished(self, handle: Any) -> None:
        handle.remove()
        self.activation_checkpointing = self.is_bw
        self._called.pop()
        self.name = self._called[-1]

    def _backward_begins(self, module: Any, grads: Any) -> None:
        self.activation_checkpointing = False
        self.name = self._name(module)

    def print_paramater_info(self) -> None:
        """Print the parameters of each module; PyTorch spells it so."""
        print(self.module_parameters_dict)

    def print_sharding_info(self) -> None:
        """Print the placements of each parameter that is a DTensor."""
        for name, placements in self.sharding_dict.items():
            print(f"{name}: {placements}")
