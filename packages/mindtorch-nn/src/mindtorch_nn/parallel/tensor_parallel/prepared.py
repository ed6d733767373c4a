"""Inputs and outputs of a module that are laid out in another way; its parameters stay as they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from mindtorch_core import Tensor
from mindtorch_core.distributed.tensor import DeviceMesh, DTensor, Placement

from ...modules.module import Module
from .styles import ParallelStyle, laid

__all__ = ["PrepareModuleInput", "PrepareModuleInputOutput", "PrepareModuleOutput"]

_Layouts: TypeAlias = Placement | tuple[Placement | None, ...] | None


def _several(layouts: _Layouts) -> tuple[Placement | None, ...] | None:
    return (layouts,) if isinstance(layouts, Placement) else layouts


def _paired(what: str, now: Any, wanted: Any) -> None:
    if now is not None and wanted is None:
        raise AssertionError(f"desired module {what}s should not be None!")
    if now is not None and len(now) != len(wanted):
        raise AssertionError(f"{what}_layouts and desired_{what}_layouts should have same length!")


def _prepared(value: Any, mesh: DeviceMesh, now: Any, wanted: Any, *, local: bool) -> Any:
    """A value laid out; as it is where nothing is said of it."""
    if now is None:
        return value
    if not isinstance(value, Tensor):
        raise AssertionError("expecting input to be a torch.Tensor!")
    if wanted is None or now == wanted:
        wanted = now
        if isinstance(value, DTensor):
            return value.to_local() if local else value
    return laid(value, mesh, (now,), (wanted,), local=local)


class PrepareModuleInput(ParallelStyle):
    """Inputs of a module are laid out before its forward.

    Args:
        input_layouts: how inputs lie that are plain tensors; None for those left as they are.
        desired_input_layouts: how they are to lie.
        input_kwarg_layouts: the same for inputs by name.
        desired_input_kwarg_layouts: the same for inputs by name.
        use_local_output: whether the module is given this rank's parts, or DTensors.

    Raises:
        AssertionError: if there are not as many layouts that are wanted.
    """

    def __init__(
        self,
        *,
        input_layouts: _Layouts = None,
        desired_input_layouts: _Layouts = None,
        input_kwarg_layouts: Mapping[str, Placement] | None = None,
        desired_input_kwarg_layouts: Mapping[str, Placement] | None = None,
        use_local_output: bool = False,
    ) -> None:
        self.input_layouts = _several(input_layouts)
        self.desired_input_layouts = _several(desired_input_layouts)
        self.input_kwarg_layouts = dict(input_kwarg_layouts or {})
        self.desired_input_kwarg_layouts = dict(desired_input_kwarg_layouts or {})
        self.use_local_output = use_local_output
        _paired("input", self.input_layouts, self.desired_input_layouts)
        if input_kwarg_layouts is not None:
            _paired("input_kwarg", self.input_kwarg_layouts, self.desired_input_kwarg_layouts)

    def _inputs(self, inputs: Sequence[Any], mesh: DeviceMesh) -> tuple[Any, ...]:
        if self.input_layouts is None:
            return tuple(inputs)
        if len(inputs) != len(self.input_layouts):
            raise ValueError("module inputs and input_layouts should have same length!")
        each = zip(inputs, self.input_layouts, self.desired_input_layouts or (), strict=True)
        return tuple(
            _prepared(t, mesh, now, wanted, local=self.use_local_output) for t, now, wanted in each
        )

    def _apply(self, module: Module, device_mesh: DeviceMesh) -> Module:
        def enter(_: Module, inputs: Any, named: dict[str, Any]) -> Any:
            now, wanted = self.input_kwarg_layouts, self.desired_input_kwarg_layouts
            return self._inputs(inputs, device_mesh), {
                k: _prepared(v, device_mesh, now.get(k), wanted.get(k), local=self.use_local_output)
                for k, v in named.items()
            }

        module.register_forward_pre_hook(enter, with_kwargs=True)
        return module

    def __repr__(self) -> str:
        return (
            f"PrepareModuleInput(input_layouts={self.input_layouts}, "
            f"desired_input_layouts={self.desired_input_layouts}, "
            f"input_kwarg_layouts={self.input_kwarg_layouts}, "
            f"desired_input_kwarg_layouts={self.desired_input_kwarg_layouts}, "
            f"use_local_output={self.use_local_output})"
        )


class PrepareModuleOutput(ParallelStyle):
    """Outputs of a module are laid out after its forward.

    Args:
        output_layouts: how outputs lie that are plain tensors; None for those left as they are.
        desired_output_layouts: how they are to lie.
        use_local_output: whether this rank's parts are given, or DTensors.

    Raises:
        AssertionError: if there are not as many layouts that are wanted.
    """

    def __init__(
        self,
        *,
        output_layouts: _Layouts,
        desired_output_layouts: _Layouts,
        use_local_output: bool = True,
    ) -> None:
        self.output_layouts = _several(output_layouts)
        self.desired_output_layouts = _several(desired_output_layouts)
        self.use_local_output = use_local_output
        _paired("output", self.output_layouts, self.desired_output_layouts)

    def _apply(self, module: Module, device_mesh: DeviceMesh) -> Module:
        def leave(_: Module, inputs: Any, outputs: Any) -> Any:
            given = outputs if isinstance(outputs, tuple) else (outputs,)
            now = self.output_layouts or ()
            if len(given) != len(now):
                raise ValueError("module outputs and output_layouts should have same length!")
            found = tuple(
                _prepared(t, device_mesh, layout, wanted, local=self.use_local_output)
                for t, layout, wanted in zip(
                    given, now, self.desired_output_layouts or (), strict=True
                )
            )
            return found[0] if len(found) == 1 else found

        module.register_forward_hook(leave)
        return module

    def __repr__(self) -> str:
        return (
            f"PrepareModuleOutput(output_layouts={self.output_layouts}, "
            f"desired_output_layouts={self.desired_output_layouts}, "
            f"use_local_output={self.use_local_output})"
        )


class PrepareModuleInputOutput(ParallelStyle):
    """Inputs of a module are laid out before its forward, and its outputs after it.

    Args:
        use_local_input: whether the module is given this rank's parts, or DTensors.
        output_layouts: see `PrepareModuleOutput`.
        desired_output_layouts: see `PrepareModuleOutput`.
        use_local_output: whether this rank's parts are given, or DTensors.
        inputs: see `PrepareModuleInput`.
    """

    def __init__(
        self,
        *,
        use_local_input: bool = False,
        output_layouts: _Layouts,
        desired_output_layouts: _Layouts,
        use_local_output: bool = True,
        **inputs: Any,
    ) -> None:
        self.prepare_module_input = PrepareModuleInput(use_local_output=use_local_input, **inputs)
        self.prepare_module_output = PrepareModuleOutput(
            output_layouts=output_layouts,
            desired_output_layouts=desired_output_layouts,
            use_local_output=use_local_output,
        )

    def _apply(self, module: Module, device_mesh: DeviceMesh) -> Module:
        self.prepare_module_input._apply(module, device_mesh)
        return self.prepare_module_output._apply(module, device_mesh)

    def __repr__(self) -> str:
        return (
            f"PrepareModuleInputOutput({self.prepare_module_input}, {self.prepare_module_output})"
        )
