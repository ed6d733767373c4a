"""The operator registry: what is registered for each op, by whom, and from which line.

Registration is the slow side: it keeps records, can be undone and empties the tables of computed
kernels. Calling is the fast side and reads only those tables (`OpEntry.table`).
"""

from __future__ import annotations

import difflib
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

from .keys import BACKEND_KEYS, DispatchKey, parse_key
from .opdef import OpDef
from .schema import OperatorSchema, parse_schema, split_name

__all__ = ["KernelRecord", "OpEntry", "OperatorRegistry", "Registration", "registry"]

Kernel = Callable[..., Any]
WrapperFactory = Callable[["OpEntry", int, Callable[[int], Kernel]], Kernel | None]


def qualified(name: str) -> str:
    """``add`` becomes ``aten::add``; a qualified name stays as it is."""
    return name if "::" in name else f"aten::{name}"


@dataclass(frozen=True, slots=True)
class KernelRecord:
    """One kernel registration.

    Attributes:
        fn: the function as it was given.
        source: ``file:line`` of the function.
        distribution: the plugin that registered it, or an empty string outside plugin loading.
        with_keyset: whether the call's `DispatchKeySet` is passed first.
        promoted: whether the kernel itself handles operands of differing dtypes and Python
            numbers; otherwise it is handed tensors of one dtype.
    """

    fn: Kernel
    source: str
    distribution: str
    with_keyset: bool = False
    promoted: bool = False


class Registration:
    """Handle of a registration; `remove` undoes it. Also a context manager that does so."""

    __slots__ = ("_undo",)

    def __init__(self, undo: Callable[[], None]) -> None:
        self._undo: Callable[[], None] | None = undo

    def remove(self) -> None:
        """Undo the registration, restoring what was there before. A second call does nothing."""
        undo, self._undo = self._undo, None
        if undo is not None:
            undo()

    def __enter__(self) -> Registration:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.remove()


class OpEntry:
    """Everything registered for one op.

    Attributes:
        name: qualified name, such as ``aten::add`` or ``aten::max.dim``.
        kernels: the kernel in force at each key, exactly as it was registered.
        records: all registrations at each key, newest last.
        fallthrough: keys that are skipped for this op.
        metas, plans: per backend key, shape functions and pipeline plans.
        definition: the op's definition where the core or a plugin gave one.
        table: computed kernel for each effective mask; filled lazily.
    """

    __slots__ = (
        "_schema",
        "_schema_text",
        "definition",
        "fallthrough",
        "kernels",
        "metas",
        "name",
        "plans",
        "records",
        "table",
    )

    def __init__(self, name: str) -> None:
        self.name = name
        self.kernels: dict[DispatchKey, Kernel] = {}
        self.records: dict[DispatchKey, list[KernelRecord]] = {}
        self.fallthrough: set[DispatchKey] = set()
        self.metas: dict[DispatchKey, Kernel] = {}
        self.plans: dict[DispatchKey, Kernel] = {}
        self.definition: OpDef | None = None
        self.table: dict[int, Kernel] = {}
        self._schema_text: str | None = None
        self._schema: OperatorSchema | None = None

    @property
    def schema(self) -> OperatorSchema | None:
        """The parsed schema, or None where only kernels were registered."""
        if self._schema is None and self._schema_text is not None:
            self._schema = parse_schema(self._schema_text)
        return self._schema

    @property
    def has_schema(self) -> bool:
        """Whether a schema was registered (without parsing it)."""
        return self._schema_text is not None

    def record(self, key: DispatchKey) -> KernelRecord | None:
        """The registration in force at ``key``."""
        found = self.records.get(key)
        return found[-1] if found else None

    def __repr__(self) -> str:
        return f"<OpEntry {self.name} kernels={[k.name for k in self.kernels]}>"


def source_of(fn: Any) -> str:
    """``file:line`` where a function is defined, or its name where it has no Python code."""
    inner = getattr(fn, "__wrapped__", fn)
    code = getattr(inner, "__code__", None)
    if code is None:
        return f"<{getattr(fn, '__module__', '')}.{getattr(fn, '__name__', type(fn).__name__)}>"
    return f"{code.co_filename}:{code.co_firstlineno}"


class _ThreadJournal(threading.local):
    """The transaction that the current thread is in."""

    journal: list[Callable[[], None]] | None = None
    distribution = ""


class OperatorRegistry:
    """All ops of the process, by qualified name."""

    def __init__(self) -> None:
        self._entries: dict[str, OpEntry] = {}
        self._lock = threading.RLock()
        self._thread = _ThreadJournal()
        self.generation = 0
        self.wrappers: dict[DispatchKey, WrapperFactory] = {}
        self.fallbacks: dict[DispatchKey, KernelRecord] = {}
        self.load_backends: Callable[[], None] = lambda: None

    # ---- looking up ----------------------------------------------------------------------------

    def get(self, name: str) -> OpEntry:
        """The entry of an op, with every installed backend loaded first.

        Raises:
            RuntimeError: if there is no such op; the text suggests the nearest names.
        """
        self.load_backends()
        return self.entry(name)

    def entry(self, name: str) -> OpEntry:
        """The entry of an op, without loading any backend."""
        found = self._entries.get(name) or self._entries.get(qualified(name))
        if found is None:
            near = difflib.get_close_matches(qualified(name), self._entries, n=3)
            hint = f" Did you mean {' or '.join(near)}?" if near else ""
            raise RuntimeError(f"Could not find an operator named {qualified(name)}.{hint}")
        return found

    def find(self, name: str) -> OpEntry | None:
        """The entry of an op, or None."""
        return self._entries.get(qualified(name))

    def __contains__(self, name: str) -> bool:
        return qualified(name) in self._entries

    def __iter__(self) -> Iterator[OpEntry]:
        return iter(list(self._entries.values()))

    # ---- registering ---------------------------------------------------------------------------

    def register_schema(
        self, name: str, schema: str, *, definition: OpDef | None = None
    ) -> Registration:
        """Give an op its schema (parsed when it is first needed for definitions of the core).

        Raises:
            SchemaError: if the schema does not parse.
            RuntimeError: if the op has another schema already.
        """
        if definition is None:
            parse_schema(schema)
        with self._lock:
            entry = self._entry_or_new(name)
            previous = (entry._schema_text, entry._schema, entry.definition)
            if previous[0] is not None and previous[0] != schema:
                parsed, old = parse_schema(schema), entry.schema
                if str(parsed) != str(old) and definition is not None:
                    raise RuntimeError(
                        f"Tried to register an operator ({schema}) with the same name and overload "
                        f"name multiple times. Original registration: {old}"
                    )
                if definition is None and entry.definition is not None:
                    # A definition's schema is the richer one: binding, rules and gradients hang on
                    # it. A second schema for the same name is accepted when it can be called so.
                    return Registration(lambda: None)
            entry._schema_text, entry._schema = schema, None
            if definition is not None:
                entry.definition = definition

            def undo() -> None:
                entry._schema_text, entry._schema, entry.definition = previous
                self._changed(entry)

            return self._done(entry, undo)

    def register_kernel(
        self,
        name: str,
        key: DispatchKey | int | str,
        fn: Kernel,
        *,
        with_keyset: bool = False,
        promoted: bool = False,
    ) -> Registration:
        """Register ``fn`` as the op's kernel at ``key``; the newest registration is in force.

        Args:
            name: op name; a bare ``add`` means ``aten::add``.
            key: a dispatch key or its name, alias keys included, or a device name.
            fn: called with the op's arguments: positional ones by position, keyword-only ones by
                keyword where they differ from their defaults.
            with_keyset: pass the call's `DispatchKeySet` first.
            promoted: the kernel handles operands of differing dtypes and Python numbers itself.

        Raises:
            TypeError: if ``fn`` is not callable.
        """
        if not callable(fn):
            raise TypeError(f"a kernel must be callable, but the one for {name} is {type(fn)}")
        key = self._key(key)
        with self._lock:
            entry = self._entry_or_new(name)
            owner = self._thread.distribution
            record = KernelRecord(fn, source_of(fn), owner, with_keyset, promoted)
            stack = entry.records.setdefault(key, [])
            stack.append(record)
            entry.kernels[key] = fn
            fell_through = key in entry.fallthrough
            entry.fallthrough.discard(key)  # the newer registration is in force

            def undo() -> None:
                if fell_through:
                    entry.fallthrough.add(key)
                # By identity: the same function may be registered twice.
                del stack[next(i for i, r in enumerate(stack) if r is record)]
                if stack:
                    entry.kernels[key] = stack[-1].fn
                else:
                    entry.kernels.pop(key, None)
                    entry.records.pop(key, None)
                self._changed(entry)

            return self._done(entry, undo)

    def register_fallthrough(self, name: str, key: DispatchKey | int | str) -> Registration:
        """Skip ``key`` when this op is dispatched."""
        key = self._key(key)
        with self._lock:
            entry = self._entry_or_new(name)
            had = key in entry.fallthrough
            entry.fallthrough.add(key)

            def undo() -> None:
                if not had:
                    entry.fallthrough.discard(key)
                self._changed(entry)

            return self._done(entry, undo)

    def register(
        self,
        name: str,
        device: str | DispatchKey,
        fn: Kernel,
        *,
        meta: Kernel | None = None,
        plan: Kernel | None = None,
    ) -> Registration:
        """Register an op's impl for a device, and with it its meta and plan functions.

        Args:
            name: op name.
            device: device name, such as ``cpu``, or a backend key.
            fn: the impl.
            meta: called with the op's arguments; returns a spec (anything with ``shape`` and
                ``dtype``) or a tuple of them. An op with neither a definition nor a meta function
                is not deferred by the pipeline.
            plan: prepares the launch, see the page on pipelines.
        """
        key = self._key(device)
        kernel = self.register_kernel(name, key, fn)
        with self._lock:
            entry = self._entry_or_new(name)
            undos = [kernel.remove]
            for table, value in ((entry.metas, meta), (entry.plans, plan)):
                if value is not None:
                    undos.append(_swap(table, key, value))

            def undo_all() -> None:
                for undo in reversed(undos):
                    undo()
                self._changed(entry)

            return self._done(entry, undo_all)

    def register_fallback(self, key: DispatchKey | int | str, fn: Kernel) -> Registration:
        """Register one kernel for all ops of a key: ``fn(op_name, *args, **kwargs)``.

        Raises:
            RuntimeError: if the key has a fallback already.
        """
        key = self._key(key)
        with self._lock:
            if key in self.fallbacks:
                raise RuntimeError(
                    f"Tried to register multiple backend fallbacks for the same dispatch key "
                    f"{key}; previous registration registered at {self.fallbacks[key].source}, "
                    f"new registration registered at {source_of(fn)}"
                )
            self.fallbacks[key] = KernelRecord(fn, source_of(fn), self._thread.distribution)

            def undo() -> None:
                self.fallbacks.pop(key, None)
                self._changed(None)

            return self._done(None, undo)

    # ---- transactions --------------------------------------------------------------------------

    @contextmanager
    def transaction(
        self, distribution: str = "", *, independent: bool = False
    ) -> Iterator[list[Callable[[], None]]]:
        """Undo every registration this thread makes in the block if the block raises.

        Yields the journal: undo functions, oldest first. After success it can be kept and run in
        reverse to take the registrations back later.

        Args:
            distribution: who registers; kept in the records.
            independent: what succeeded here stays when a transaction around it is undone.
        """
        mine = self._thread
        outer, owner = mine.journal, mine.distribution
        journal: list[Callable[[], None]] = []
        mine.journal, mine.distribution = journal, distribution or owner
        try:
            yield journal
        except BaseException:
            for undo in reversed(journal):
                undo()
            raise
        else:
            if outer is not None and not independent:
                outer.extend(journal)
        finally:
            mine.journal, mine.distribution = outer, owner

    @contextmanager
    def scope(self) -> Iterator[None]:
        """Take every registration made in the block back when the block ends. For tests."""
        mine = self._thread
        outer = mine.journal
        journal: list[Callable[[], None]] = []
        mine.journal = journal
        try:
            yield
        finally:
            mine.journal = outer
            for undo in reversed(journal):
                undo()

    def forget_computed(self) -> None:
        """Empty every table of computed kernels: a device came or went."""
        self._changed(None)

    def note(self, undo: Callable[[], None]) -> None:
        """Put an undo function of a plugin's other registrations into the running transaction."""
        if self._thread.journal is not None:
            self._thread.journal.append(undo)

    # ---- inside --------------------------------------------------------------------------------

    def _key(self, key: DispatchKey | int | str) -> DispatchKey:
        if isinstance(key, str) and key not in DispatchKey.__members__:
            from ..devices import row_of

            return DispatchKey(row_of(key).key)
        return parse_key(key)

    def _entry_or_new(self, name: str) -> OpEntry:
        name = qualified(name)
        found = self._entries.get(name)
        if found is None:
            split_name(name)
            found = self._entries[name] = OpEntry(name)
        return found

    def _done(self, entry: OpEntry | None, undo: Callable[[], None]) -> Registration:
        self._changed(entry)
        made = Registration(undo)
        self.note(made.remove)  # not `undo`: the registration may be removed before the block ends
        return made

    def _changed(self, entry: OpEntry | None) -> None:
        """Empty the computed tables that a change may have made wrong."""
        with self._lock:
            self.generation += 1
            if entry is None:
                for each in self._entries.values():
                    each.table.clear()
                return
            entry.table.clear()
            if not (entry.records or entry.has_schema or entry.fallthrough or entry.metas):
                self._entries.pop(entry.name, None)

    def store(self, entry: OpEntry, mask: int, kernel: Kernel, generation: int) -> None:
        """Keep a computed kernel, unless something was registered since it was computed."""
        with self._lock:
            if self.generation == generation:
                entry.table[mask] = kernel


def _swap(table: dict[DispatchKey, Kernel], key: DispatchKey, value: Kernel) -> Callable[[], None]:
    """Put a value into a table and return what restores the previous one."""
    had, previous = key in table, table.get(key)
    table[key] = value

    def undo() -> None:
        if had and previous is not None:
            table[key] = previous
        else:
            table.pop(key, None)

    return undo


def has_backend_kernel(entry: OpEntry, backend: DispatchKey) -> bool:
    """Whether the op has a kernel registered directly at a backend key."""
    return backend in BACKEND_KEYS and (backend in entry.kernels or backend in entry.fallthrough)


registry: Final = OperatorRegistry()
