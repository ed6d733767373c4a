"""What the array API standard lets a program ask of the library: dtypes, devices, capabilities."""

from __future__ import annotations

from typing import Any

from ..plugins import loader
from ..values.devices import TABLE, concrete, device, get_default_device
from ..values.dtypes import dtype, get_default_dtype, int64
from .data_types import KINDS, STANDARD

__all__ = ["Info", "__array_namespace_info__"]

Device = Any


class Info:
    """Answers about the library, by the names of the standard."""

    def capabilities(self) -> dict[str, bool | int | None]:
        """What is supported of the standard, and how many dimensions a tensor may have."""
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 64}

    def default_device(self) -> Device:
        """Where tensors are made if no device is named."""
        return concrete(get_default_device())

    def default_dtypes(self, *, device: Device = None) -> dict[str, dtype]:
        """The dtypes of numbers for which none is named, by kind; they are those of all devices."""
        floating = get_default_dtype()
        return {
            "real floating": floating,
            "complex floating": floating.to_complex(),
            "integral": int64,
            "indexing": int64,
        }

    def dtypes(
        self, *, device: Device = None, kind: str | tuple[str, ...] | None = None
    ) -> dict[str, dtype]:
        """The standard's dtypes by name.

        What a device lacks of them, its conformance report says: tensors of all can be made on every
        one.

        Args:
            device: accepted.
            kind: that of `isdtype`, or several; all if None.

        Raises:
            ValueError: if there is no such kind.
        """
        if kind is None:
            return dict(STANDARD)
        kinds = (kind,) if isinstance(kind, str) else kind
        for each in kinds:
            if each not in KINDS:
                raise ValueError(
                    f"there is no kind {each!r}; there are {', '.join(map(repr, KINDS))}"
                )
        names = {name for each in kinds for name in KINDS[each]}
        return {name: d for name, d in STANDARD.items() if name in names}

    def devices(self) -> list[Device]:
        """The devices of the installed backends that compute; tensors can be made on ``meta`` as well."""
        concrete("cpu")
        for status in loader.backends():
            if status.state == "available":
                loader.load(status.name)
        found = []
        for row in TABLE.rows():
            count = row.runtime.device_count() if row.runtime.executes else 0
            numbered = count > 0 and concrete(row.type).index is not None
            found += [device(row.type, i) if numbered else device(row.type) for i in range(count)]
        return found


def __array_namespace_info__() -> Info:
    """Answers about the library, as methods of an object."""
    return Info()
