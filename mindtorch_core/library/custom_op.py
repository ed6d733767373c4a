"""``custom_op``: an op from a Python function, its schema inferred from the annotations."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final, TypeVar

from ..dispatch.adapters import tensors_in
from ..dispatch.keys import DispatchKey
from ..dispatch.registry import registry
from ..dtypes import dtype
from ..modes import DispatchMode, register_rule
from ..operators.overloads import OpOverload, overload_of
from ..operators.tags import Tag
from .fake import existing_name, register_fake
from .gradients import record_gradient, refuse_backward
from .infer import infer_schema
from .registration import Library, key_for, qualified_parts

__all__ = ["CustomOpDef", "custom_op", "register_kernel"]

F = TypeVar("F", bound=Callable[..., Any])

# The custom ops of the process by name: defining one again replaces it.
_DEFINED: Final[dict[str, CustomOpDef]] = {}


class CustomOpDef:
    """An op made of a Python function; call it like the function.

    It comes from `custom_op`, and is the place to register what else the op needs: kernels for
    other devices, a fake implementation, a gradient.
    """

    def __init__(
        self,
        namespace: str,
        name: str,
        schema: str,
        fn: Callable[..., Any],
        device_types: str | Sequence[str] | None = None,
        tags: Tag | Sequence[Tag] | None = None,
    ) -> None:
        self._namespace = namespace
        self._name = name
        self._qualname = f"{namespace}::{name}"
        self._schema = schema
        self._init_fn = fn
        self._has_fake = False
        self._disabled: set[DispatchKey] = set()
        functools.update_wrapper(self, fn, updated=())
        before = _DEFINED.pop(self._qualname, None)
        if before is not None:
            before._lib._destroy()
        self._lib = Library(namespace, "FRAGMENT")
        extra = () if tags is None else (tags,) if isinstance(tags, Tag) else tuple(tags)
        self._lib.define(f"{name}{schema}", tags=[Tag.pt2_compliant_tag, *extra])
        if any(a.type == "Tensor" for a in registry.entry(self._qualname).schema.keyword_only):
            self._lib._destroy()
            raise NotImplementedError(
                f"custom_op with kwarg-only Tensor args. Please make your tensors not kwarg-only. Got: "
                f"{name}{schema}"
            )
        self._opoverload: OpOverload = overload_of(registry.entry(self._qualname))
        self._mutates = self._opoverload._schema.is_mutable
        self.register_kernel(device_types, fn)
        refuse_backward(self._qualname, self._lib)
        _DEFINED[self._qualname] = self

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._opoverload(*args, **kwargs)

    def register_kernel(
        self, device_types: str | Sequence[str] | None, fn: F | None = None, /
    ) -> Any:
        """Register the op's implementation for device types, None for all. A decorator without fn.

        Args:
            device_types: such as ``"cpu"`` or ``["cpu", "npu"]``.
            fn: takes the op's arguments.
        """
        several = (
            ["default"]
            if device_types is None
            else [device_types]
            if isinstance(device_types, str)
            else list(device_types)
        )
        keys = [key_for(t) for t in several]

        def register(implementation: F) -> F:
            for key in keys:
                kernel = self._guarded(implementation, key)
                self._lib._made.append(registry.register_kernel(self._qualname, key, kernel))
            return implementation

        return register if fn is None else register(fn)

    def _guarded(self, fn: Callable[..., Any], key: DispatchKey) -> Callable[..., Any]:
        """The kernel around an implementation: no meta tensors, no aliased results."""
        for_all = key is DispatchKey.CompositeExplicitAutograd

        @functools.wraps(fn)
        def kernel(*args: Any, **kwargs: Any) -> Any:
            inputs = list(tensors_in((*args, *kwargs.values())))
            if for_all and any(t._keys & DispatchKey.Meta for t in inputs):
                raise NotImplementedError(
                    f"There was no fake impl registered for {self!r}, so it cannot be called on "
                    f"meta tensors. Please use `{self._name}.register_fake` to add a fake impl."
                )
            implementation = self._init_fn if key in self._disabled else fn
            result = implementation(*args, **kwargs)
            self._refuse_aliases(inputs, result)
            return result

        return kernel

    def _refuse_aliases(self, inputs: list[Any], result: Any) -> None:
        """Refuse results that are inputs, or share memory with one or with each other.

        Raises:
            RuntimeError: if there is one.
        """
        seen = {id(t) for t in inputs} | {id(t._storage) for t in inputs if t._storage is not None}
        for i, t in enumerate(tensors_in((result,))):
            if id(t) in seen or (t._storage is not None and id(t._storage) in seen):
                raise RuntimeError(
                    f"{self._qualname} (with implementation in {self._init_fn.__module__}): output "
                    f"{i} of this custom operator must not be an input to it, and must not alias an "
                    f"input or another output. Return a copy, such as x.clone()."
                )
            seen |= {id(t)} if t._storage is None else {id(t), id(t._storage)}

    def register_fake(self, fn: F, /) -> F:
        """Register what the results look like, for meta tensors and pipelines; a decorator."""
        registered: F = register_fake(self._qualname, fn, lib=self._lib)
        self._has_fake = True
        return registered

    def register_autograd(
        self,
        backward: Callable[..., Any],
        /,
        *,
        setup_context: Callable[..., Any] | None = None,
    ) -> None:
        """Register the op's gradient, see `torch.library.register_autograd`."""
        record_gradient(self._qualname, backward, setup_context, self._lib)

    def register_autocast(self, device_type: str, cast_inputs: dtype, /) -> None:
        """Cast floating-point inputs to a dtype where autocast is on for a device type."""
        from .policies import register_autocast

        register_autocast(self._qualname, device_type, cast_inputs, lib=self._lib)

    def register_torch_dispatch(
        self, mode: type[DispatchMode], fn: Callable[..., Any] | None = None, /
    ) -> Any:
        """Register a rule for this op under a class of modes; a decorator without ``fn``."""

        def register(rule: F) -> F:
            self._lib._made.append(register_rule(self._opoverload, mode, rule))
            return rule

        return register if fn is None else register(fn)

    @contextmanager
    def set_kernel_enabled(self, device_type: str, enabled: bool = True) -> Iterator[None]:
        """Use, or do not use, a device type's own kernel while the context lasts.

        Without it the function that defined the op runs.
        """
        key = key_for(device_type)
        was_disabled = key in self._disabled
        change = self._disabled.discard if enabled else self._disabled.add
        change(key)
        try:
            yield
        finally:
            (self._disabled.add if was_disabled else self._disabled.discard)(key)

    def __repr__(self) -> str:
        return f"<CustomOpDef({self._qualname})>"


def custom_op(
    name: str,
    fn: Callable[..., Any] | None = None,
    /,
    *,
    mutates_args: str | Iterable[str],
    device_types: str | Sequence[str] | None = None,
    schema: str | None = None,
    tags: Tag | Sequence[Tag] | None = None,
) -> Any:
    """Make an op of a Python function; a decorator without ``fn``.

    The op is dispatched like any other: it takes part in autograd, pipelines and dispatch modes,
    and can be given kernels for other devices.

    Args:
        name: such as ``"mylib::scale"``.
        fn: takes and returns tensors and plain values; its annotations give the schema.
        mutates_args: names of the arguments it writes, ``()`` for none, ``"unknown"`` for any.
        device_types: devices the function works on; None for all.
        schema: used instead of the annotations, without the name: ``"(Tensor x) -> Tensor"``.
        tags: what the op is, for tools.

    Example:
        >>> @torch.library.custom_op("mylib::double", mutates_args=())
        ... def double(x: torch.Tensor) -> torch.Tensor:
        ...     return x * 2

    Raises:
        ValueError: if the name or an annotation has no place in a schema.
    """
    namespace, op_name = qualified_parts(name)

    def make(function: Callable[..., Any]) -> CustomOpDef:
        text = infer_schema(function, mutates_args=mutates_args) if schema is None else schema
        return CustomOpDef(namespace, op_name, text, function, device_types, tags)

    return make if fn is None else make(fn)


def register_kernel(
    op: Any,
    device_types: str | Sequence[str] | None,
    func: Callable[..., Any] | None = None,
    /,
    *,
    lib: Library | None = None,
) -> Any:
    """Register an op's implementation for device types, None for all; a decorator without ``func``.

    Args:
        op: name, overload or custom op.
        device_types: such as ``"cpu"`` or ``["cpu", "npu"]``.
        func: takes the op's arguments.
        lib: the library to register it through; without one it lives as long as the process.

    Raises:
        RuntimeError: if there is no such op.
    """
    from .registration import impl

    if isinstance(op, CustomOpDef):
        return op.register_kernel(device_types, func)
    name = existing_name(op)
    defined = _DEFINED.get(name)
    if defined is not None:
        return defined.register_kernel(device_types, func)
    types = "default" if device_types is None else device_types
    if func is None:
        return impl(name, types, lib=lib)
    impl(name, types, func, lib=lib)
    return func
