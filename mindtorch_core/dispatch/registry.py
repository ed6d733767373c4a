"""The operator registry: what is registered for each op, by whom, and from which line.

Registration is the slow side: it keeps records, can be undone and empties the tables of computed
kernels. Calling is the fast side and reads only those tables (`OpEntry.table`), without a lock.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Final

from ..values.devices import row_of
from ..values.user_warnings import warn_user
from .entry import (
    Kernel,
    KernelRecord,
    OpEntry,
    Registration,
    SchemaRecord,
    fallthrough_kernel,
    source_of,
)
from .kernel_signature import signature_problem
from .keys import BACKEND_BITS, BACKEND_KEYS, PRIVATE_USE_KEYS, DispatchKey, parse_key
from .nearest import suggestion
from .on_demand import OnDemand
from .opdef import OpDef
from .registration_warnings import (
    overriding,
    passed_over,
    passed_over_in_training,
    unheard_of,
)
from .schema import OperatorSchema, parse_schema, split_name
from .transactions import Transactions

__all__ = ["KernelRecord", "OpEntry", "OperatorRegistry", "Registration", "qualified", "registry"]

WrapperFactory = Callable[[OpEntry, int, Callable[[int], Kernel]], Kernel | None]
ShapeRules = Callable[[OpEntry, DispatchKey, Callable[[int], Kernel]], Kernel | None]


def qualified(name: str) -> str:
    """``add`` becomes ``aten::add``; a qualified name stays as it is."""
    return name if "::" in name else f"aten::{name}"


class OperatorRegistry(Transactions):
    """All ops of the process, by qualified name."""

    def __init__(self) -> None:
        super().__init__()
        self._entries: dict[str, OpEntry] = {}
        self._by_base: dict[str, list[str]] = {}  # names of entries by name without overload
        self.generation = 0
        self.wrappers: dict[DispatchKey, WrapperFactory] = {}
        self.removed: list[Callable[[], None]] = []
        self.fallbacks: dict[DispatchKey, KernelRecord] = {}
        self.overload_names: dict[str, str] = {}  # aten::add.Tensor is the entry aten::add
        self.load_backends: Callable[[], None] = lambda: None
        self.shapes_of: ShapeRules = lambda entry, backend, resolve: None
        self.looked_at_later = 0  # keys whose kernels give what is looked at when it is there
        self.schema_changed: Callable[[str], None] = lambda name: None  # an op comes or goes
        self.on_demand = OnDemand(self)
        self.when_defined = self.on_demand.when_defined

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
        found = self._entries.get(name) or self.find(name)
        if found is None:
            name = qualified(name)
            hint = suggestion(name, self.names())
            raise RuntimeError(f"Could not find an operator named {name}.{hint}")
        return found

    def find(self, name: str) -> OpEntry | None:
        """The entry of an op, or None."""
        found = self._entries.get(f"aten::{name}") or self.known(name)  # mostly it is a bare one
        if found is None or self.on_demand.unsettled or (not found.records and found.empty):
            self._define(name)
            found = self.known(name)
        return found

    def _define(self, name: str) -> None:
        namespace, _, rest = qualified(name).partition("::")
        self.on_demand.define(namespace, rest.partition(".")[0])

    def known(self, name: str) -> OpEntry | None:
        """The entry of an op among those that are defined now, or None."""
        name = qualified(name)
        return self._entries.get(name) or self._entries.get(self.overload_names.get(name, ""))

    def overloads(self, name: str) -> list[OpEntry]:
        """Entries of an op and its overloads, in order of registration; `name` has no overload."""
        if name not in self._by_base or self.on_demand.unsettled:
            self._define(name)
        names = self._by_base.get(name, ())
        return [e for n in tuple(names) if (e := self._entries.get(n)) is not None]

    def defined(self) -> list[OpEntry]:
        """The entries that there are now, in order of registration; defines no others."""
        return list(self._entries.values())

    def names(self) -> list[str]:
        """The names of all ops, also of those that are not defined yet."""
        return [*self._entries, *(f"aten::{name}" for name in self.on_demand.waiting("aten"))]

    def __contains__(self, name: str) -> bool:
        return self.find(name) is not None

    def __iter__(self) -> Iterator[OpEntry]:
        self.on_demand.define_all()
        return iter(self.defined())

    # ---- registering ---------------------------------------------------------------------------

    def register_schema(
        self,
        name: str,
        schema: str,
        *,
        definition: OpDef | None = None,
        source: str = "",
        tags: Iterable[str] = (),
    ) -> Registration:
        """Give an op its schema (parsed when it is first needed for definitions of the core).

        Args:
            name: op name; a bare ``add`` means ``aten::add``.
            schema: in PyTorch's grammar.
            definition: the op's definition, where it has one.
            source: ``file:line`` of who defines the op.
            tags: PyTorch's tags.

        Raises:
            SchemaError: if the schema does not parse.
            RuntimeError: if the op has another schema already, or a kernel that cannot take the
                schema's arguments.
        """
        parsed = None if definition is not None else parse_schema(schema)
        with self._lock:
            if definition is None:
                self.find(name)  # an op of the core may not be defined yet
            entry = self._entry_or_new(name)
            text, old = entry._schema_record.text, entry.definition
            if text is not None and text != schema:
                if definition is None and old is not None:
                    # A definition's schema is the richer one: binding, rules and gradients hang on
                    # it. A second schema for the same name is accepted when it can be called so.
                    return Registration(lambda: None)
                if str(parse_schema(schema)) != str(entry.schema):
                    raise RuntimeError(
                        f"Tried to register an operator ({schema}) with the same name and overload "
                        f"name multiple times. Original registration: {entry.schema}"
                    )
            if parsed is not None and text is None:
                try:
                    for kernel in _in_force(entry):
                        _check_signature(entry.name, kernel, parsed)
                except RuntimeError:
                    self._changed(entry)
                    raise
            self.generation += 1
            record = SchemaRecord(
                schema,
                parsed,
                definition,
                source,
                self._thread.distribution,
                frozenset(tags) if definition is None else definition.tags,
            )

            def undo() -> None:
                entry.drop_schema(record)
                self.schema_changed(entry.name)

            made = self._done(entry, undo)  # first: an interrupt may strike at any line
            entry.put_schemas((*entry.schemas, record))
            self.schema_changed(entry.name)
            if definition is not None:
                self.on_demand.came(entry.name)
            return made

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

        At a backend's key what users register stays in force also when the plugin is loaded later. A
        kernel that takes the place of a distribution's, its own or another's, gives a warning naming
        both; so does a distribution's kernel for an op of PyTorch's that nobody has defined.

        Args:
            name: op name; a bare ``add`` means ``aten::add``.
            key: a dispatch key or its name, alias keys included, or a device name.
            fn: called with the op's arguments: positional ones by position, keyword-only ones by
                keyword where they differ from their defaults.
            with_keyset: pass the call's `DispatchKeySet` first.
            promoted: the kernel handles operands of differing dtypes and Python numbers itself.

        Raises:
            TypeError: if ``fn`` is not callable.
            RuntimeError: if the op's schema has arguments that ``fn`` cannot take.
        """
        if not isinstance(name, str):
            raise TypeError(f"the name of an op is a str, not {name!r}: pass (name, key, fn)")
        if not callable(fn):
            raise TypeError(
                f"Input function is required to be a callable but found type {type(fn)} (as the "
                f"kernel of {name})"
            )
        key = self.key_of(key)
        with self._lock:
            owner = self._thread.distribution
            record = KernelRecord(fn, source_of(fn), owner, with_keyset, promoted)
            found = self.find(name)
            if found is not None and found.has_schema and found.definition is None:
                _check_signature(found.name, record, found.schema)
            entry = found or self._entry_or_new(name)
            before = entry.record(key)
            if before is not None and owner and before.distribution and before.fn is not fn:
                warn_user(overriding(entry.name, key, before, record))
            if owner and not entry.has_schema and entry.name.startswith("aten::"):
                warn_user(unheard_of(entry.name, record, self.names()))
            self.generation += 1
            records = entry.records.get(key, ())
            at = len(records)
            while at and owner and key & BACKEND_BITS and not records[at - 1].distribution:
                at -= 1  # below what users registered before the plugin was loaded

            def undo() -> None:
                # By identity: the same function may be registered twice.
                entry.put(key, tuple(r for r in entry.records.get(key, ()) if r is not record))

            made = self._done(entry, undo)
            entry.put(key, (*records[:at], record, *records[at:]))
        if passed_over(entry, key) and not record.falls_through:
            self.at_the_end(lambda: self._warn_if_passed_over(entry, key, record))
        return made

    def _warn_if_passed_over(self, entry: OpEntry, key: DispatchKey, record: KernelRecord) -> None:
        """Warn of a kernel that training passes over, unless something is there by now for it."""
        if passed_over(entry, key) and record in entry.records.get(key, ()):
            warn_user(passed_over_in_training(entry, key, record))

    def register_fallthrough(self, name: str, key: DispatchKey | int | str) -> Registration:
        """Skip ``key`` when this op is dispatched."""
        return self.register_kernel(name, key, fallthrough_kernel)

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

        Raises:
            TypeError: if one of them is not callable.
        """
        for what, given in (("meta", meta), ("plan", plan)):
            if given is not None and not callable(given):
                raise TypeError(f"{what} of {name} is to be a function, not {given!r}")
        key = self.key_of(device)
        kernel = self.register_kernel(name, key, fn)
        with self._lock:
            entry = self._entry_or_new(name)
            self.generation += 1
            undos = [kernel.remove]
            for table, value in ((entry.metas, meta), (entry.plans, plan)):
                if value is not None:
                    undos.append(_swap(table, key, value))

            def undo_all() -> None:
                for undo in reversed(undos):
                    undo()

            return self._done(entry, undo_all)

    def register_fallback(
        self, key: DispatchKey | int | str, fn: Kernel, *, with_keyset: bool = False
    ) -> Registration:
        """Register one kernel for all ops of a key: ``fn(op_name, *args, **kwargs)``.

        With `fallthrough_kernel` the key is skipped for ops without a kernel there.

        Raises:
            TypeError: if ``fn`` is not callable.
            RuntimeError: if the key has a fallback already.
        """
        if not callable(fn):
            raise TypeError(
                f"Input function is required to be a callable but found type {type(fn)}"
            )
        key = self.key_of(key)
        with self._lock:
            if key in self.fallbacks:
                raise RuntimeError(
                    f"Tried to register multiple backend fallbacks for the same dispatch key "
                    f"{key}; previous registration registered at {self.fallbacks[key].source}, "
                    f"new registration registered at {source_of(fn)}"
                )
            self.generation += 1
            self.fallbacks[key] = KernelRecord(
                fn, source_of(fn), self._thread.distribution, with_keyset
            )

            def undo() -> None:
                self.fallbacks.pop(key, None)

            return self._done(None, undo)

    # ---- inside --------------------------------------------------------------------------------

    def forget_computed(self) -> None:
        """Empty every table of computed kernels: a device came or went."""
        self._changed(None)

    def key_of(self, key: DispatchKey | int | str) -> DispatchKey:
        """A dispatch key from itself, its value, its name, or the name of a device."""
        if isinstance(key, str) and key.islower() and key not in DispatchKey.__members__:
            known = _KEY_OF_TYPE.get(key)
            return DispatchKey(row_of(key).key) if known is None else known
        return parse_key(key)

    def _entry_or_new(self, name: str) -> OpEntry:
        found = self.known(name)
        if found is None:
            name = qualified(name)
            split_name(name)
            found = self._entries[name] = OpEntry(name)
            self._by_base.setdefault(name.partition(".")[0], []).append(name)
        return found

    def _done(self, entry: OpEntry | None, undo: Callable[[], None]) -> Registration:
        """What every registration does, the lock held and the generation raised before it changes."""
        if entry is None:
            self._changed(None)
        else:
            entry.table.clear()

        def take_back() -> None:
            with self._lock:
                self.generation += 1
                undo()
                self._changed(entry)

        made = Registration(take_back)
        if entry is not None and self._thread.following:
            entry.follow(made)
        # Not `take_back`: the registration may be removed before the transaction ends.
        self.note(made.remove)
        return made

    def _changed(self, entry: OpEntry | None) -> None:
        """Empty the computed tables that a change may have made wrong."""
        with self._lock:
            self.generation += 1
            if entry is None:
                for each in tuple(self._entries.values()):
                    each.table.clear()
                return
            entry.table.clear()
            if entry.empty and self._entries.pop(entry.name, None) is not None:
                self._by_base[entry.name.partition(".")[0]].remove(entry.name)
                for forget in self.removed:
                    forget()

    def settled(self) -> int:
        """The generation, at a moment when no registration is half made.

        Every registration raises it before it changes anything. So what was computed after this
        moment comes from one state of the registry if the generation is still the same.
        """
        with self._lock:
            return self.generation

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


# Device types with a key of their own; the others hold one of the PrivateUse keys.
_KEY_OF_TYPE: Final = {k.name.lower(): k for k in BACKEND_KEYS if k not in PRIVATE_USE_KEYS}


def _in_force(entry: OpEntry) -> list[KernelRecord]:
    return [records[-1] for records in entry.records.values()]


def refuse_signature(entry: OpEntry, error: TypeError) -> None:
    """Raise RuntimeError if a call failed because a kernel cannot take the schema's arguments."""
    for record in _in_force(entry):
        name = getattr(record.fn, "__qualname__", None)
        if name is not None and str(error).startswith(f"{name}() "):
            _check_signature(entry.name, record, entry.schema)


def _check_signature(name: str, record: KernelRecord, schema: OperatorSchema | None) -> None:
    """Refuse a kernel that cannot be called with its schema's arguments.

    Raises:
        RuntimeError: saying what the kernel cannot take.
    """
    if schema is None or record.falls_through:
        return
    problem = signature_problem(record.fn, schema, leading=int(record.with_keyset))
    if problem is not None:
        raise RuntimeError(
            f"the kernel at {record.source} cannot serve {name}: {problem}.\n"
            f"  schema: {schema}\n"
            f"  fix: give the kernel the schema's arguments, positional ones by position and those "
            f"after '*' by keyword"
        )


registry: Final = OperatorRegistry()
