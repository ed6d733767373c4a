"""``custom_op``: an op from a Python function, its schema inferred from the annotations."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final, TypeVar, overload

from ..dispatch.adapters import tensors_in
from ..dispatch.asked_wrongly import guarded
from ..dispatch.keys import DispatchKey
from ..dispatch.registry import registry
from ..dispatch.schema import OperatorSchema, parse_schema
from ..frontend.dispatch_modes import DispatchMode, register_rule
from ..opdefs.tags import Tag
from ..opdefs.torch_ops import OpOverload, overload_of
from ..values.dtypes import dtype
from ..values.interrupts import contextmanager
from .by_name import existing_name, impl, key_for
from .fake import register_fake
from .gradients import record_gradient, refuse_backward
from .infer import infer_schema
from .op_rules import register_autocast, register_vmap
from .registration import Library, qualified_parts

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
        self._disabled: set[DispatchKey] = set()
        functools.update_wrapper(self, fn, updated=())
        parsed = _checked_schema(f"{self._qualname}{schema}")
        self._lib: Library = _library_for_another(namespace, self._qualname)
        extra = () if tags is None else (tags,) if isinstance(tags, Tag) else tuple(tags)
        self._lib.define(f"{name}{schema}", tags=[Tag.pt2_compliant_tag, *extra])
        self._opoverload: OpOverload = overload_of(registry.entry(self._qualname))
        self._writes_only = parsed.is_mutable and not parsed.returns
        self.register_kernel(device_types, fn)
        refuse_backward(self._qualname, self._lib)
        _DEFINED[self._qualname] = self
        registry.note(self._forget)

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        """Call the op, as ``torch.ops.<namespace>.<name>`` does."""
        return self._opoverload(*args, **kwargs)

    def _forget(self) -> None:
        _DEFINED.pop(self._qualname, None)

    def register_kernel(
        self, device_types: str | Sequence[str] | None, fn: F | None = None, /
    ) -> Any:
        """Register the op's implementation for device types, None for all. A decorator without fn.

        Args:
            device_types: such as ``"cpu"`` or ``["cpu", "npu"]``.
            fn: takes the op's arguments.
        """
        several = [device_types] if isinstance(device_types, str) else device_types
        keys = [key_for(t) for t in (["default"] if several is None else several)]

        def register(implementation: F) -> F:
            for key in keys:
                kernel = self._guarded(implementation, key)
                self._lib._made.append(registry.register_kernel(self._qualname, key, kernel))
            return implementation

        return register if fn is None else register(fn)

    def _guarded(self, fn: Callable[..., Any], key: DispatchKey) -> Callable[..., Any]:
        """The kernel around an implementation: no meta tensors, no aliased results."""
        for_all = key is DispatchKey.CompositeExplicitAutograd
        disabled = self._disabled

        @functools.wraps(fn)
        def kernel(*args: Any, **kwargs: Any) -> Any:
            if for_all and any(t._keys & DispatchKey.Meta for t in tensors_in(args)):
                return self._without_data()
            result = (self._init_fn if key in disabled else fn)(*args, **kwargs)
            if result is not None:
                self._refuse_aliases(args, result)
            return result

        return kernel

    def _without_data(self) -> None:
        """What the op gives for meta tensors where it has no fake implementation."""
        if not self._writes_only:
            raise NotImplementedError(
                f"There was no fake impl registered for {self!r}, so it cannot be called on meta "
                f"tensors. Please use `{self._name}.register_fake` to add a fake impl."
            )

    def _refuse_aliases(self, args: tuple[Any, ...], result: Any) -> None:
        """Refuse results that are inputs, or share memory with one or with each other.

        Raises:
            RuntimeError: if there is one.
        """
        seen: list[Any] = []
        for t in tensors_in(args):
            seen += (t, t._storage)
        for i, t in enumerate(tensors_in((result,))):
            storage = t._storage
            if any(s is t or (s is storage and s is not None) for s in seen):
                raise RuntimeError(
                    f"{self._qualname} (with implementation in {self._init_fn.__module__}): output "
                    f"{i} of this custom operator must not be an input to it, and must not alias an "
                    f"input or another output. Return a copy, such as x.clone()."
                )
            seen += (t, storage)

    def register_fake(self, fn: F, /) -> F:
        """Register what the results look like, for meta tensors and pipelines; a decorator."""
        registered: F = register_fake(self._qualname, fn, lib=self._lib)
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
        register_autocast(self._qualname, device_type, cast_inputs, lib=self._lib)

    def register_torch_dispatch(
        self, mode: type[DispatchMode], fn: Callable[..., Any] | None = None, /
    ) -> Any:
        """Register a rule for this op under a class of modes; a decorator without ``fn``."""

        def register(rule: F) -> F:
            self._lib._made.append(register_rule(self._opoverload, mode, rule))
            return rule

        return register if fn is None else register(fn)

    def register_vmap(self, func: Callable[..., Any] | None = None, /) -> Any:
        """Register how ``torch.vmap`` computes the op for all samples at once; a decorator without func."""
        return register_vmap(self._qualname, func, lib=self._lib)

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


def _checked_schema(schema: str) -> OperatorSchema:
    """The schema of a custom op, parsed.

    Raises:
        NotImplementedError: if a tensor is keyword-only, which gradients could not be given for.
    """
    parsed = parse_schema(schema)
    if any(a.type == "Tensor" for a in parsed.keyword_only):
        raise NotImplementedError(
            f"custom_op with kwarg-only Tensor args. Please make your tensors not kwarg-only. Got: "
            f"{schema}"
        )
    return parsed


def _library_for_another(namespace: str, qualname: str) -> Library:
    """A library for a custom op, the previous op of the name taken back."""
    before = _DEFINED.pop(qualname, None)
    if before is not None:
        before._lib._destroy()
    return Library(namespace, "FRAGMENT")


@overload
def custom_op(
    name: str,
    fn: None = None,
    /,
    *,
    mutates_args: str | Iterable[str],
    device_types: str | Sequence[str] | None = None,
    schema: str | None = None,
    tags: Tag | Sequence[Tag] | None = None,
) -> Callable[[Callable[..., Any]], CustomOpDef]: ...


@overload
def custom_op(
    name: str,
    fn: Callable[..., Any],
    /,
    *,
    mutates_args: str | Iterable[str],
    device_types: str | Sequence[str] | None = None,
    schema: str | None = None,
    tags: Tag | Sequence[Tag] | None = None,
) -> CustomOpDef: ...


@guarded
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

    Returns:
        A `CustomOpDef`, to be called like the function. Results must be new tensors.

    Example:
        >>> @torch.library.custom_op("docs::scale", mutates_args=())
        ... def scale(x: torch.Tensor, by: float = 2.0) -> torch.Tensor:
        ...     return torch.from_numpy(x.numpy() * by)
        >>> scale(torch.ones(2))
        tensor([2., 2.])
        >>> torch.ops.docs.scale.default._schema
        docs::scale(Tensor x, float by=2.) -> Tensor

    Raises:
        ValueError: if the name or an annotation has no place in a schema.
        NotImplementedError: for a keyword-only tensor.
    """
    namespace, op_name = qualified_parts(name)

    @guarded
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

    Example:
        >>> @torch.library.custom_op("docs::shift", mutates_args=(), device_types="meta")
        ... def shift(x: torch.Tensor) -> torch.Tensor:
        ...     return torch.empty_like(x)
        >>> @torch.library.register_kernel("docs::shift", "cpu")
        ... def shift_on_cpu(x):
        ...     return x + 1
        >>> shift(torch.zeros(2))
        tensor([1., 1.])

    Raises:
        RuntimeError: if there is no such op.
    """
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
