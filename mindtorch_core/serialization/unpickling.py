"""Whole objects from files, which can run any code: ``torch.load(..., weights_only=False)``."""

from __future__ import annotations

import io
import pickle
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from ..tensors.storage import Storage
from . import homes
from .loading import with_state
from .reader import Function

__all__ = ["loader", "pickled"]


def loader(module: Any, options: Mapping[str, Any]) -> Callable[..., Any]:
    """What reads a structure with a module's ``Unpickler``, and says where it ended.

    Args:
        module: as ``pickle``.
        options: of the ``Unpickler``.
    """

    def load(
        structure: bytes, names: Mapping[str, Any], storage: Callable[..., Any]
    ) -> tuple[Any, int]:
        class Unpickler(module.Unpickler):  # type: ignore[misc]  # of any module
            def find_class(self, space: str, name: str) -> Any:
                found = names.get(f"{space} {name}")
                if (space, name) == _FROM_TYPE:
                    return with_state
                if isinstance(found, Function) and not space.startswith(_OF_PYTHON):
                    return found.call
                if found is not None and not isinstance(found, Function):
                    return found
                if space.partition(".")[0] in ("torch", _CORE):
                    return homes.find(space, name)
                return super().find_class(space, name)

            def persistent_load(self, reference: Any) -> Any:
                kind, *rest = reference
                if kind == "module":  # with its source, in files from before version 1.6
                    return rest[0]
                if kind != "storage":
                    raise pickle.UnpicklingError(f"a reference to something unknown: {kind!r}")
                return storage(*rest)

        file = io.BytesIO(structure)
        return Unpickler(file, **options).load(), file.tell()

    return load


_FROM_TYPE: Final = ("torch._tensor", "_rebuild_from_type_v2")
_OF_PYTHON: Final = ("__builtin__", "builtins", "collections", "_codecs")
_CORE: Final = __name__.partition(".")[0]


def pickled(obj: Any, module: Any, protocol: int) -> tuple[bytes, Iterable[Storage]]:
    """What a module's ``Pickler`` makes of an object, and the storages in it.

    Only this library reads the result: tensors are written as ``pickle`` writes them.
    """
    from .names import UNTYPED

    numbers: dict[int, int] = {}
    storages: list[Storage] = []

    class Pickler(module.Pickler):  # type: ignore[misc]  # of any module
        def persistent_id(self, value: Any) -> Any:
            if not isinstance(value, Storage):
                return None
            value.settle()
            memory = value if value.memory is None else value.memory
            if id(memory) not in numbers:
                numbers[id(memory)] = len(storages)
                storages.append(value)
            number = numbers[id(memory)]
            return "storage", _Kind(UNTYPED), str(number), str(value.device), value.size_bytes

    file = io.BytesIO()
    Pickler(file, protocol).dump(obj)
    return file.getvalue(), storages


class _Kind:
    """Stands in a reference for a type of storages, and is written as its name."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __reduce__(self) -> Any:
        return storage_type, (self.name,)


def storage_type(name: str) -> Any:
    """The type of storages of a name in files."""
    from .loading import NAMES

    return NAMES[name]
