"""What is registered for one op, as plain records."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NoReturn, TypeVar

from ..values.interrupts import leaving
from .keys import DispatchKey
from .opdef import OpDef
from .schema import OperatorSchema, parse_schema

__all__ = ["Kernel", "KernelRecord", "OpEntry", "Registration", "fallthrough_kernel", "source_of"]

Kernel = Callable[..., Any]
T = TypeVar("T")


def fallthrough_kernel(*args: Any, **kwargs: Any) -> NoReturn:
    """Register this as a kernel to have its key skipped. It is never called by the dispatcher."""
    raise NotImplementedError(
        "fallthrough_kernel was called: it is only a mark that says 'skip this key', to be given to "
        "Library.impl or Library.fallback"
    )


class KernelRecord:
    """One kernel registration. A plain class: a dataclass takes a millisecond of the import.

    Attributes:
        fn: the function as it was given; `fallthrough_kernel` to have the key skipped.
        source: ``file:line`` of the function.
        distribution: the plugin that registered it, or an empty string outside plugin loading.
        with_keyset: whether the call's `DispatchKeySet` is passed first.
        promoted: whether the kernel itself handles operands of differing dtypes and Python
            numbers; otherwise it is handed tensors of one dtype.
    """

    __slots__ = ("distribution", "fn", "promoted", "source", "with_keyset")

    def __init__(
        self,
        fn: Kernel,
        source: str,
        distribution: str,
        with_keyset: bool = False,
        promoted: bool = False,
    ) -> None:
        self.fn = fn
        self.source = source
        self.distribution = distribution
        self.with_keyset = with_keyset
        self.promoted = promoted

    @property
    def falls_through(self) -> bool:
        """Whether the registration says to skip the key."""
        return self.fn is fallthrough_kernel


class SchemaRecord:
    """One registration of a schema.

    Attributes:
        text: the schema as it was given, or None for an op without one.
        parsed: the same parsed, once it was needed.
        definition: the op's definition where it came with one. It stays the op's when a schema without
            one is registered later.
        source, distribution, tags: of the op while this is in force.
        followers: what backends registered because the op was defined: it goes when the op does.
    """

    __slots__ = (
        "definition", "distribution", "followers", "parsed", "source", "tags", "text",
    )  # fmt: skip

    def __init__(
        self,
        text: str | None = None,
        parsed: OperatorSchema | None = None,
        definition: OpDef | None = None,
        source: str = "",
        distribution: str = "",
        tags: frozenset[str] = frozenset(),
    ) -> None:
        self.text = text
        self.parsed = parsed
        self.definition = definition
        self.source = source
        self.distribution = distribution
        self.tags = tags
        self.followers: list[Registration] = []

    @property
    def schema(self) -> OperatorSchema | None:
        """The parsed schema, or None where there is none."""
        if self.parsed is None and self.text is not None:
            self.parsed = parse_schema(self.text)
        return self.parsed


class Registration:
    """Handle of a registration; `remove` undoes it. Also a context manager that does so."""

    __slots__ = ("_undo",)

    def __init__(self, undo: Callable[[], None]) -> None:
        self._undo = [undo]

    def remove(self) -> None:
        """Undo the registration, restoring what was there before. A second call does nothing."""
        try:
            undo = self._undo.pop()  # atomic: two threads may remove it at the same time
        except IndexError:
            return
        undo()

    @property
    def in_force(self) -> bool:
        """Whether it was not removed."""
        return bool(self._undo)

    def __enter__(self) -> Registration:
        return self

    __exit__ = leaving(remove)


_NO_SCHEMA: Final = SchemaRecord()


class OpEntry:
    """Everything registered for one op.

    Attributes:
        name: qualified name, such as ``aten::add`` or ``aten::max.dim``.
        kernels: the kernel in force at each key, exactly as it was registered.
        records: all registrations at each key, newest last. Never changed but replaced, so that a
            reader in another thread who takes it once sees one state; so is ``kernels``.
        schemas: all registrations of its schema, newest last, which is in force.
        metas, plans: per backend key, shape functions and pipeline plans.
        definition: the op's definition where the core or a plugin gave one.
        source, distribution: where the schema was registered, and by which plugin.
        tags: PyTorch's tags, given with the schema.
        table: computed kernel for each effective mask; filled lazily.
        generated: what was generated for the op from its schema and definition, by what made it. A new
            dict when these change, so that what is still being made for the old ones is not kept.
    """

    __slots__ = (
        "__weakref__",
        "_schema_record",
        "definition",
        "distribution",
        "generated",
        "kernels",
        "metas",
        "name",
        "plans",
        "records",
        "schemas",
        "source",
        "table",
        "tags",
    )

    def __init__(self, name: str) -> None:
        self.name = name
        self.kernels: dict[DispatchKey, Kernel] = {}
        self.records: dict[DispatchKey, tuple[KernelRecord, ...]] = {}
        self.metas: dict[DispatchKey, Kernel] = {}
        self.plans: dict[DispatchKey, Kernel] = {}
        self.table: dict[int, Kernel] = {}
        self.put_schemas(())

    @property
    def schema(self) -> OperatorSchema | None:
        """The parsed schema, or None where only kernels were registered."""
        return self._schema_record.schema

    @property
    def needed_schema(self) -> OperatorSchema:
        """The parsed schema, for what cannot do without.

        Raises:
            RuntimeError: where only kernels were registered.
        """
        schema = self._schema_record.schema
        if schema is None:
            raise RuntimeError(
                f"Could not find schema for {self.name}, though it has kernels: define it with "
                f"torch.library.define or Library.define"
            )
        return schema

    @property
    def has_schema(self) -> bool:
        """Whether a schema was registered (without parsing it)."""
        return self._schema_record.text is not None

    @property
    def fallthrough(self) -> set[DispatchKey]:
        """Keys that are skipped for this op."""
        return {k for k, records in self.records.items() if records[-1].falls_through}

    def record(self, key: DispatchKey) -> KernelRecord | None:
        """The registration in force at ``key``, fallthroughs included."""
        found = self.records.get(key)
        return found[-1] if found else None

    def put(self, key: DispatchKey, records: tuple[KernelRecord, ...]) -> None:
        """Replace the registrations at ``key``."""
        if records:
            self.records = self.records | {key: records}
        else:
            self.records = _without(self.records, key)
        if records and not records[-1].falls_through:
            self.kernels = self.kernels | {key: records[-1].fn}
        elif key in self.kernels:
            self.kernels = _without(self.kernels, key)

    def put_schemas(self, records: tuple[SchemaRecord, ...]) -> None:
        """Replace the registrations of the schema."""
        self.generated: dict[Any, Any] = {}
        self.schemas = records
        self._schema_record = record = records[-1] if records else _NO_SCHEMA
        self.source, self.distribution, self.tags = record.source, record.distribution, record.tags
        definitions = [r.definition for r in records if r.definition is not None]
        self.definition = definitions[-1] if definitions else None

    def follow(self, made: Registration) -> None:
        """Have a registration go when the op has no schema any more."""
        if self.has_schema:
            record = self._schema_record
            record.followers = [*(each for each in record.followers if each.in_force), made]

    def drop_schema(self, record: SchemaRecord) -> None:
        """Take a schema back, and with the last one what follows it."""
        self.put_schemas(tuple(r for r in self.schemas if r is not record))
        followers, record.followers = record.followers, []
        if self.schemas:
            self.schemas[-1].followers += followers
            return
        for each in reversed(followers):
            each.remove()

    @property
    def empty(self) -> bool:
        """Whether nothing is registered any more."""
        return not (self.records or self.has_schema or self.metas)

    def __repr__(self) -> str:
        return f"<OpEntry {self.name} kernels={[k.name for k in self.kernels]}>"


def _without(table: dict[DispatchKey, T], key: DispatchKey) -> dict[DispatchKey, T]:
    return {k: value for k, value in table.items() if k != key}


def source_of(fn: Any) -> str:
    """``file:line`` where a function is defined, or its name where it has no Python code.

    A function made around a user's says so by ``__wrapped__``, or by ``__source__`` where it has
    another signature.
    """
    inner = getattr(fn, "__source__", None) or getattr(fn, "__wrapped__", fn)
    code = getattr(inner, "__code__", None)
    if code is None:
        return f"<{getattr(fn, '__module__', '')}.{getattr(fn, '__name__', type(fn).__name__)}>"
    return f"{code.co_filename}:{code.co_firstlineno}"
