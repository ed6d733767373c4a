"""What a backend serves: for each op a kernel of its own, a decomposition, or nothing."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any, Final

from ..dispatch.choice import choose
from ..dispatch.keys import DispatchKey
from ..dispatch.registry import registry
from ..values.devices import TABLE
from ..values.devices import device as Device
from .explanation import KernelInfo
from .kernels import kernel_info
from .naming import key_of
from .text import coverage_text

__all__ = ["SERVED", "Coverage", "OpSupport", "coverage"]

# How an op is served, by the rule that chooses its kernel at the backend's key. `host` is not a rule:
# a backend without a kernel may have the CPU compute such an op (`torch.library.cpu_fallback`).
SERVED: Final = {
    "direct": "kernel",
    "explicit": "decomposition",
    "implicit": "decomposition",
    "nested": "decomposition",
    "fallback": "fallback",
    "host": "host",
    "missing": "missing",
}


@dataclass(frozen=True, slots=True)
class OpSupport:
    """How a backend serves one op.

    Attributes:
        op: qualified name.
        schema: the op's signature.
        served: ``kernel`` for one of the backend's own, ``decomposition`` where the op is computed
            from other ops, ``fallback`` for the backend's kernel for all ops, ``host`` for nothing
            where the op is left to numerical libraries of the host, or ``missing``.
        primitive: whether the op's definition says that backends have to supply it.
        kernel: what runs, or None.
    """

    op: str
    schema: str
    served: str
    primitive: bool
    kernel: KernelInfo | None

    def to_dict(self) -> dict[str, Any]:
        """The same as plain data."""
        return {
            "op": self.op,
            "schema": self.schema,
            "served": self.served,
            "primitive": self.primitive,
            "kernel": None if self.kernel is None else self.kernel.to_dict(),
        }


@dataclass(frozen=True, slots=True)
class Coverage:
    """How a backend serves every op; ``str()`` gives it as text.

    Attributes:
        key: the backend's dispatch key.
        device: the device that the key belongs to, or an empty string.
        distribution: who supplies the device, as ``name version``, or an empty string.
        ops: one item for each op that has a schema, by name.
    """

    key: DispatchKey
    device: str
    distribution: str
    ops: tuple[OpSupport, ...]

    @property
    def totals(self) -> dict[str, int]:
        """How many ops are served in each way."""
        found = Counter(each.served for each in self.ops)
        return {how: found[how] for how in dict.fromkeys(SERVED.values())}

    @property
    def missing(self) -> tuple[OpSupport, ...]:
        """The ops that the backend should have supplied."""
        return tuple(each for each in self.ops if each.served == "missing")

    @property
    def primitives(self) -> tuple[OpSupport, ...]:
        """The ops that backends have to supply."""
        return tuple(each for each in self.ops if each.primitive)

    def to_dict(self) -> dict[str, Any]:
        """The same as plain data, ready for JSON."""
        return {
            "key": self.key.name,
            "device": self.device,
            "distribution": self.distribution,
            "totals": self.totals,
            "ops": [each.to_dict() for each in self.ops],
        }

    def __str__(self) -> str:
        return coverage_text(self, self.ops)

    def _repr_html_(self) -> str:
        from .markup import coverage_html

        return coverage_html(self)


def coverage(backend: str | Device | DispatchKey = "cpu") -> Coverage:
    """How a backend serves every op that is registered.

    A decomposition counts as served whether or not the ops that it is made of are, so a backend
    serves an op in the end if no primitive is missing.

    Args:
        backend: a device such as ``cpu``, or the key of a backend, such as ``CUDA``.

    Raises:
        RuntimeError: if there is no such device or key, or its backend is not installed.
    """
    key = key_of(backend)
    row = next((r for r in TABLE.rows() if r.key == key), None)
    found = []
    for entry in registry:
        if not entry.has_schema:
            continue
        choice = choose(entry, key)
        d = entry.definition
        lacking = "host" if d is not None and d.traits.host else "missing"
        found.append(
            OpSupport(
                entry.name,
                str(entry.schema),
                lacking if choice.record is None else SERVED[choice.rule],
                d is not None and d.traits.primitive,
                None
                if choice.record is None or choice.registered is None
                else kernel_info(choice.record, choice.registered),
            )
        )
    return Coverage(
        key,
        "" if row is None else row.type,
        "" if row is None else row.distribution,
        tuple(sorted(found, key=lambda each: each.op)),
    )
