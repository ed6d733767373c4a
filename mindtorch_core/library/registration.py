"""``Library``: define ops and register kernels under a namespace, and take them back together."""

from __future__ import annotations

import re
import sys
import weakref
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any, Final, Self

from ..dispatch.entry import Kernel, KernelRecord, Registration, fallthrough_kernel, source_of
from ..dispatch.keys import DispatchKey, DispatchKeySet, parse_key
from ..dispatch.registration_warnings import overriding
from ..dispatch.registry import registry
from ..dispatch.schema import parse_schema
from ..opdefs.tags import Tag
from ..opdefs.torch_ops import OpOverload, overload_of, own_entry
from ..values.interrupts import leaving
from ..values.user_warnings import warn_user

__all__ = ["Library", "qualified_parts", "scoped_library"]

_RESERVED: Final = frozenset({"prim"})
_KINDS: Final = ("DEF", "IMPL", "FRAGMENT")
_NAMESPACE: Final = re.compile(r"[A-Za-z_]\w*")

# Where each namespace's DEF library was made. The core defines `aten`.
_DEFINED: Final[dict[str, str]] = {"aten": "mindtorch_core/operators"}


def calling_line() -> str:
    """``file:line`` of the code outside this package that is calling."""
    frame = sys._getframe(1)
    while frame.f_back is not None:
        if not frame.f_globals.get("__name__", "").startswith("mindtorch_core.library"):
            break
        frame = frame.f_back
    return f"{frame.f_code.co_filename}:{frame.f_lineno}"


def qualified_parts(name: str) -> tuple[str, str]:
    """Split ``namespace::op`` into its two parts.

    Raises:
        ValueError: if the name does not have this form.
    """
    namespace, colons, rest = str(name).partition("::")
    if not (colons and _NAMESPACE.fullmatch(namespace) and rest):
        raise ValueError(
            f'Expected `qualname` to be of the form "namespace::name", but got {name!r}'
        )
    return namespace, rest


def _release(ns: str) -> None:
    _DEFINED.pop(ns, None)


def _undo(made: list[Registration]) -> None:
    for each in reversed(made):
        each.remove()
    made.clear()


def _tag_names(tags: Tag | Sequence[Tag]) -> list[str]:
    several = (tags,) if isinstance(tags, Tag) else tuple(tags)
    for tag in several:
        if not isinstance(tag, Tag):
            raise TypeError(f"tags must be members of torch.Tag, got {tag!r}")
    return [tag.value for tag in several]


class Library:
    """A handle for ops of one namespace: what is registered through it lives as long as it does.

    Keep the object: when it is collected, destroyed, or left as a context manager, everything it
    registered is taken back and what was there before is in force again.

    Args:
        ns: namespace, such as ``mylib``; with ``IMPL`` an existing one, such as ``aten``, or ``_``
            for fallbacks of all ops.
        kind: ``DEF`` (one for each namespace), ``FRAGMENT`` (any number) or ``IMPL`` (kernels only).
        dispatch_key: where `impl` registers by default.

    Example:
        >>> lib = torch.library.Library("docs_library", "DEF")
        >>> lib.define("scale(Tensor x, *, float by=2.0) -> Tensor")
        'scale'
        >>> lib.impl("scale", lambda x, by=2.0: x * by, "CPU")
        >>> torch.ops.docs_library.scale(torch.ones(2), by=3.0)
        tensor([3., 3.])

    Raises:
        ValueError: for an unknown kind or a reserved namespace.
        RuntimeError: if the namespace has a ``DEF`` library already.
    """

    def __init__(self, ns: str, kind: str, dispatch_key: DispatchKey | str = "") -> None:
        if kind not in _KINDS:
            raise ValueError(f"Unsupported kind: {kind}. It is one of {', '.join(_KINDS)}.")
        if ns in _RESERVED and kind != "IMPL":
            raise ValueError(f"{ns} is a reserved namespace. Please choose another name.")
        if not _NAMESPACE.fullmatch(str(ns)):
            raise ValueError(f"a namespace must be an identifier, got {ns!r}")
        self.ns = ns
        self.kind = kind
        self.dispatch_key = parse_key(dispatch_key) if dispatch_key != "" else None
        self._made: list[Registration] = []
        self._destroyed = False
        if kind == "DEF":
            self._claim()
        weakref.finalize(self, _undo, self._made).atexit = False

    def _claim(self) -> None:
        ns = self.ns
        if ns in _DEFINED:
            raise RuntimeError(
                f"Only a single DEF library can be used for the namespace {ns}; put all of your "
                f"definitions into one, or use kind FRAGMENT. Previous one at: {_DEFINED[ns]}"
            )
        _DEFINED[ns] = calling_line()
        claim = Registration(lambda: _release(ns))
        registry.note(claim.remove)
        self._made.append(claim)

    def _alive(self) -> None:
        if self._destroyed:
            raise AssertionError("Library object has been destroyed: make a new one")

    def define(
        self, schema: str, alias_analysis: str = "", *, tags: Tag | Sequence[Tag] = ()
    ) -> str:
        """Define an op of this namespace.

        Args:
            schema: such as ``"scale(Tensor x, *, float by=1.0) -> Tensor"``.
            alias_analysis: accepted for PyTorch's sake; aliasing is read from the schema.
            tags: what the op is, for tools.

        Returns:
            The op's name, without namespace and overload.

        Raises:
            SchemaError: if the schema does not parse; a ValueError and a RuntimeError.
            RuntimeError: if this is an IMPL library, the op exists, or the schema names another
                namespace.
            TypeError: for a tag that is none.
        """
        self._alive()
        if alias_analysis not in ("", "FROM_SCHEMA", "CONSERVATIVE", "PURE_FUNCTION"):
            raise RuntimeError(f"Invalid alias_analysis type {alias_analysis}")
        if self.kind == "IMPL":
            raise RuntimeError(
                f'def("{schema}"): Cannot define an operator in an IMPL library. Use a library of '
                f"kind DEF or FRAGMENT for the namespace {self.ns}."
            )
        parsed = parse_schema(schema)
        given, colons, _ = schema.partition("(")[0].partition("::")
        if colons and given.strip() != self.ns:
            raise RuntimeError(
                f"Explicitly provided namespace ({given.strip()}) in schema string does not match "
                f"the namespace of the library ({self.ns}): {schema}"
            )
        name = f"{parsed.name}.{parsed.overload}" if parsed.overload else parsed.name
        qualified = f"{self.ns}::{name}"
        existing = registry.find(qualified)
        if existing is not None and existing.has_schema:
            raise RuntimeError(
                f"Tried to register an operator ({schema}) with the same name and overload name "
                f"multiple times. Each overload's schema should only be registered once. Original "
                f"registration: {existing.schema} at {existing.source or 'an unknown place'}"
            )
        self._made.append(
            registry.register_schema(
                qualified,
                schema if colons else f"{self.ns}::{schema.strip()}",
                source=calling_line(),
                tags=_tag_names(tags),
            )
        )
        return parsed.name

    def impl(
        self,
        op_name: str | OpOverload,
        fn: Kernel,
        dispatch_key: DispatchKey | str = "",
        *,
        with_keyset: bool = False,
        allow_override: bool = True,
    ) -> None:
        """Register a kernel of an op; the newest at a key is in force.

        Args:
            op_name: name, with or without this library's namespace, or the overload itself.
            fn: the kernel; `fallthrough_kernel` to have the key skipped.
            dispatch_key: where; by default the library's, else CompositeImplicitAutograd.
            with_keyset: pass the call's `DispatchKeySet` first.
            allow_override: warn, and do not raise, if the key has a kernel already.

        Raises:
            TypeError: if ``fn`` is not callable.
            RuntimeError: for an unknown key, a kernel that cannot take the schema's arguments, or
                a Meta kernel of an op that decomposes by itself.
        """
        self._alive()
        if not callable(fn):
            raise TypeError(
                f"Input function is required to be a callable but found type {type(fn)}"
            )
        name = self._name_of(op_name)
        key = self._key_of(dispatch_key)
        if key is None:
            key = DispatchKey.CompositeImplicitAutograd
        own_entry(name)
        entry = registry.find(name)
        implicit = DispatchKey.CompositeImplicitAutograd
        if key is DispatchKey.Meta and entry is not None and implicit in entry.records:
            raise RuntimeError(
                f"We should not register a meta kernel directly to the operator '{name}', because "
                f"it has a CompositeImplicitAutograd kernel: let it decompose, and register meta "
                f"kernels for the ops it is made of."
            )
        before = entry.record(key) if entry is not None else None
        if before is not None and entry is not None:
            text = overriding(entry.name, key, before, KernelRecord(fn, source_of(fn), ""))
            if not allow_override:
                raise RuntimeError(f"This is not allowed without allow_override: {text}")
            warn_user(text)
        self._made.append(registry.register_kernel(name, key, fn, with_keyset=with_keyset))

    def fallback(
        self,
        fn: Kernel,
        dispatch_key: DispatchKey | str = "",
        *,
        with_keyset: bool = False,
    ) -> None:
        """Register one kernel for all ops of a key: ``fn(op, *args, **kwargs)``.

        Args:
            fn: called with the `OpOverload` first (after the key set, if asked for).
            dispatch_key: where; by default the library's.
            with_keyset: pass the call's `DispatchKeySet` first.

        Raises:
            RuntimeError: if the library's namespace is not ``_``, or the key has a fallback.
        """
        self._alive()
        key = self._key_of(dispatch_key)
        if self.ns != "_":
            raise RuntimeError(
                f'A fallback can only be registered by a library of the namespace "_", but this one '
                f'is of {self.ns}: use Library("_", "IMPL").fallback(...)'
            )
        if key is None:
            raise RuntimeError("A fallback needs a dispatch key: fallback(fn, 'PrivateUse1')")
        if not callable(fn):
            raise TypeError(
                f"Input function is required to be a callable but found type {type(fn)}"
            )
        self._made.append(
            registry.register_fallback(
                key, _with_overload(fn, with_keyset), with_keyset=with_keyset
            )
        )

    def _key_of(self, given: DispatchKey | str) -> DispatchKey | None:
        """Where to register: at the given key, otherwise at the library's."""
        own = self.dispatch_key
        if given == "":
            return own
        key = parse_key(given)
        if own is not None and key is not own:
            raise RuntimeError(
                f"Explicitly provided dispatch key ({key.name}) is inconsistent with the dispatch key "
                f"of the library ({own.name}). Make another library for {key.name}, or one without a "
                f"dispatch key."
            )
        return key

    def _name_of(self, op: str | OpOverload) -> str:
        name = op.name() if isinstance(op, OpOverload) else op
        if not isinstance(name, str):
            raise RuntimeError(
                f"impl should be passed either a name or an OpOverload object as the first argument, "
                f"got {type(op)}"
            )
        namespace, colons, rest = name.partition("::")
        if not colons:
            return f"{self.ns}::{name}"
        if namespace != self.ns:
            raise RuntimeError(
                f"The namespace of {name} is not that of the library ({self.ns}): register its "
                f'kernels through Library("{namespace}", "IMPL")'
            )
        return f"{namespace}::{rest}"

    def _destroy(self) -> None:
        """Take back everything this library registered. A second call does nothing."""
        self._destroyed = True
        _undo(self._made)

    def __enter__(self) -> Self:
        return self

    __exit__ = leaving(_destroy)

    def __repr__(self) -> str:
        key = self.dispatch_key or ""
        return f"Library(kind={self.kind}, ns={self.ns}, dispatch_key={key})>"  # as PyTorch's


def scoped_library(
    ns: str, kind: str, dispatch_key: DispatchKey | str = ""
) -> AbstractContextManager[Library]:
    """A `Library` that is destroyed at the end of a ``with`` block."""
    return Library(ns, kind, dispatch_key)


def _with_overload(fn: Kernel, with_keyset: bool) -> Kernel:
    """A fallback that is handed the overload where the registry gives the op's name."""
    if fn is fallthrough_kernel:
        return fn
    if with_keyset:

        def keyed(keyset: DispatchKeySet, name: str, /, *args: Any, **kwargs: Any) -> Any:
            return fn(keyset, overload_of(registry.entry(name)), *args, **kwargs)

        keyed.__source__ = fn  # type: ignore[attr-defined]  # shown as the place of registration
        return keyed

    def named(name: str, /, *args: Any, **kwargs: Any) -> Any:
        return fn(overload_of(registry.entry(name)), *args, **kwargs)

    named.__source__ = fn  # type: ignore[attr-defined]
    return named
