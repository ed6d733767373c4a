"""Defining ops and registering kernels by an op's qualified name, without keeping a `Library`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, Final, TypeVar, overload

from ..dispatch.adapters import as_called
from ..dispatch.asked_wrongly import guarded
from ..dispatch.choice import choose
from ..dispatch.entry import Kernel, KernelRecord, OpEntry
from ..dispatch.keys import DispatchKey, DispatchKeySet, as_mask, parse_key
from ..dispatch.registry import registry
from ..opdefs.tags import Tag
from ..opdefs.torch_ops import OpOverload
from .registration import Library, qualified_parts

__all__ = [
    "KernelHandle",
    "define",
    "existing_name",
    "get_kernel",
    "impl",
    "key_for",
    "library_for",
]

F = TypeVar("F", bound=Callable[..., Any])

# Libraries behind the functions below; what they register lives as long as the process.
_KEPT: Final[dict[tuple[str, str], Library]] = {}


def library_for(namespace: str, kind: str, lib: Library | None) -> Library:
    """The library a function registers through: the caller's, or one that lives for ever."""
    if lib is not None:
        return lib
    kept = _KEPT.get((namespace, kind))
    if kept is None:
        kept = _KEPT[namespace, kind] = Library(namespace, kind)
    return kept


def existing_name(op: Any, *, missing: type[Exception] = RuntimeError) -> str:
    """The qualified name of an op given by name, overload or custom op.

    Args:
        op: the op.
        missing: what is raised if there is no such op.

    Raises:
        ValueError: if it is none of these.
    """
    name = op.name() if isinstance(op, OpOverload) else getattr(op, "_qualname", op)
    if not isinstance(name, str):
        raise ValueError(
            f"got unexpected type for op: {type(op)}. It is a name such as 'mylib::scale', an overload "
            f"of torch.ops, or what custom_op made."
        )
    qualified_parts(name)
    found = registry.find(name)
    if found is None or not found.has_schema:
        hint = "" if found is None else ": it has kernels and no schema; define it first"
        raise missing(f"operator {name} does not exist{hint}")
    return name


# ---- defining and registering -------------------------------------------------------------------


@overload
def define(
    qualname: str, schema: str, *, lib: Library | None = None, tags: Tag | Sequence[Tag] = ()
) -> None: ...
@overload
def define(qualname: Library, schema: str, alias_analysis: str = "") -> Callable[[F], F]: ...
@guarded
def define(
    qualname: Any,
    schema: str,
    alias_analysis: str = "",
    *,
    lib: Library | None = None,
    tags: Tag | Sequence[Tag] = (),
) -> Any:
    """Define an op by its qualified name and the schema without the name.

    Given a `Library` and a whole schema instead, it is a decorator that defines the op there, with
    the function as its kernel for all devices.

    Args:
        qualname: such as ``mylib::scale``; or a `Library`.
        schema: such as ``(Tensor x, *, float by=1.0) -> Tensor``.
        alias_analysis: accepted for PyTorch's sake.
        lib: the library to define it in; without one it lives as long as the process.
        tags: what the op is, for tools.

    Example:
        >>> torch.library.define("docs::half", "(Tensor x) -> Tensor")
        >>> torch.library.impl("docs::half", "cpu", lambda x: x / 2)
        >>> torch.ops.docs.half(torch.ones(2))
        tensor([0.5000, 0.5000])

    Raises:
        ValueError: if the name or the schema does not have the form above.
    """
    if isinstance(qualname, Library):
        return _definer(qualname, schema, alias_analysis)
    namespace, name = qualified_parts(qualname)
    if not str(schema).lstrip().startswith("("):
        raise ValueError(
            f"define(qualname, schema, ...): expected schema to look like "
            f'e.g. "(Tensor x) -> Tensor" but got {schema!r}'
        )
    library_for(namespace, "FRAGMENT", lib).define(f"{name}{schema}", tags=tags)
    return None


def _definer(lib: Library, schema: str, alias_analysis: str) -> Callable[[F], F]:
    def decorate(fn: F) -> F:
        lib.define(schema, alias_analysis)
        lib.impl(schema.partition("(")[0].strip(), fn)
        return fn

    return decorate


@overload
def impl(
    qualname: str, types: str | Sequence[str], func: None = None, *, lib: Library | None = None
) -> Callable[[F], F]: ...
@overload
def impl(
    qualname: str, types: str | Sequence[str], func: Kernel, *, lib: Library | None = None
) -> None: ...
@overload
def impl(
    qualname: Library, types: str, func: DispatchKey | str = "", *, lib: None = None
) -> Callable[[F], F]: ...
@guarded
def impl(qualname: Any, types: Any, func: Any = None, *, lib: Library | None = None) -> Any:
    """Register a kernel for device types or dispatch keys; a decorator without ``func``.

    Given a `Library`, an op's name and a dispatch key instead, it is a decorator too.

    Args:
        qualname: such as ``mylib::scale``; or a `Library`.
        types: device types (``"cpu"``), ``"default"`` for all, or names of dispatch keys.
        func: the kernel.
        lib: the library to register it through; without one it lives as long as the process.

    Example:
        >>> lib = torch.library.Library("docs_impl", "DEF")
        >>> lib.define("triple(Tensor x) -> Tensor")
        'triple'
        >>> @torch.library.impl(lib, "triple", "CPU")
        ... def triple(x):
        ...     return x * 3
        >>> torch.ops.docs_impl.triple(torch.ones(1))
        tensor([3.])

    Raises:
        ValueError: if the name has no namespace.
        RuntimeError: for an unknown device type or key, or a kernel that cannot take the arguments.
    """
    if isinstance(qualname, Library):
        return _implementer(qualname, types, "" if func is None else func)
    namespace, _ = qualified_parts(qualname)
    keys = [key_for(t) for t in ([types] if isinstance(types, str) else types)]
    library = library_for(namespace, "IMPL", lib)

    @guarded
    def register(fn: F) -> F:
        for key in keys:
            library.impl(qualname, fn, key)
        return fn

    if func is None:
        return register
    register(func)
    return None


def _implementer(lib: Library, name: str, key: DispatchKey | str) -> Callable[[F], F]:
    def decorate(fn: F) -> F:
        lib.impl(name, fn, key)
        return fn

    return decorate


def key_for(type_or_key: str) -> DispatchKey:
    """The dispatch key of a device type, of ``default``, or of a key's own name.

    Raises:
        RuntimeError: if it is none of these.
    """
    if type_or_key == "default":
        return DispatchKey.CompositeExplicitAutograd
    with suppress(RuntimeError):
        return parse_key(type_or_key)
    return registry.key_of(type_or_key)


# ---- kernels that are there ---------------------------------------------------------------------


class KernelHandle:
    """An op's kernel at one key, as it was when it was asked for; what `get_kernel` gives."""

    def __init__(self, entry: OpEntry, record: KernelRecord) -> None:
        self._entry = entry
        self._record = record

    def call_boxed(self, keyset: DispatchKeySet | int, /, *args: Any, **kwargs: Any) -> Any:
        """Call the kernel.

        Args:
            keyset: handed on to a kernel that was registered ``with_keyset``.
            args: the op's arguments.
            kwargs: its keyword arguments.
        """
        return as_called(self._entry, self._record, as_mask(keyset))(*args, **kwargs)

    def __repr__(self) -> str:
        return f"<KernelHandle of {self._entry.name} at {self._record.source}>"


def get_kernel(op: Any, dispatch_key: DispatchKey | str) -> KernelHandle:
    """The kernel that an op has at a key, for another one to be built around it.

    Args:
        op: name, overload or custom op.
        dispatch_key: a runtime key; composite kernels that serve it count.

    Example:
        >>> before = torch.library.get_kernel("aten::neg", "CPU")
        >>> def with_limit(keys, x):
        ...     return before.call_boxed(keys, x).clamp(max=0)
        >>> with torch.library.Library("aten", "IMPL") as lib:
        ...     lib.impl("neg", with_limit, "CPU", with_keyset=True)
        ...     torch.neg(torch.tensor([1.0, -1.0]))
        tensor([-1.,  0.])

    Raises:
        RuntimeError: if there is no such op, or it has no kernel there.
    """
    name = existing_name(op)
    registry.load_backends()
    entry, key = registry.entry(name), parse_key(dispatch_key)
    record = choose(entry, key).record
    if record is None:
        raise RuntimeError(f"{name} has no kernel that was registered for {key.name}")
    return KernelHandle(entry, record)
