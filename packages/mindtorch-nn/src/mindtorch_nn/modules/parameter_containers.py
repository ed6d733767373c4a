"""Lists and dicts of parameters."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Self

import mindtorch_core as torch

from ..parameter import Parameter
from .elements import pairs_of, position
from .module import Module

__all__ = ["ParameterDict", "ParameterList"]


def _as_parameter(value: Any) -> Any:
    """A tensor as a parameter, anything else as it is."""
    if isinstance(value, torch.Tensor) and not isinstance(value, Parameter):
        return Parameter(value)
    return value


def _shown(key: object, value: Any, kind: str) -> str:
    """A line of the text."""
    if not isinstance(value, torch.Tensor):
        return f"  ({key}): Object of type: {type(value).__name__}"
    size = "x".join(map(str, value.size()))
    what = "Parameter" if isinstance(value, Parameter) else "Tensor"
    where = "" if value.device.type in ("cpu", "meta") else f" ({value.device})"
    return f"  ({key}): {what} containing: [{kind} of size {size}{where}]"


class ParameterList(Module):
    """A list whose tensors are parameters; it may hold anything else too.

    Args:
        values: what it holds at first.

    Example:
        >>> scales = torch.nn.ParameterList([torch.ones(2), torch.zeros(3)])
        >>> scales.append(torch.ones(1))
        ParameterList(
            (0): Parameter containing: [torch.float32 of size 2]
            (1): Parameter containing: [torch.float32 of size 3]
            (2): Parameter containing: [torch.float32 of size 1]
        )
        >>> [p.requires_grad for p in scales]
        [True, True, True]
    """

    def __init__(self, values: Iterable[Any] | None = None) -> None:
        super().__init__()
        self._size = 0
        if values is not None:
            self.extend(values)

    def __getitem__(self, idx: int | slice) -> Any:
        if isinstance(idx, slice):
            return type(self)([self[i] for i in range(*idx.indices(len(self)))])
        return getattr(self, str(position(idx, len(self))))

    def __setitem__(self, idx: int, param: Any) -> None:
        setattr(self, str(position(idx, len(self))), _as_parameter(param))

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(len(self)))

    def __iadd__(self, parameters: Iterable[Any]) -> Self:
        return self.extend(parameters)

    def __dir__(self) -> list[str]:
        return [name for name in super().__dir__() if not name.isdigit()]

    def append(self, value: Any) -> Self:
        """Add a value at the end."""
        self._size += 1
        self[self._size - 1] = value
        return self

    def extend(self, values: Iterable[Any]) -> Self:
        """Add values at the end.

        Raises:
            TypeError: for a tensor, or what cannot be iterated over.
        """
        given: Any = values
        if not isinstance(given, Iterable) or isinstance(given, torch.Tensor):
            raise TypeError(
                "ParameterList.extend should be called with an iterable, but got "
                + type(values).__name__
            )
        for value in list(values):
            self.append(value)
        return self

    def extra_repr(self) -> str:
        """A line for each element."""
        return "\n".join(_shown(i, v, str(getattr(v, "dtype", ""))) for i, v in enumerate(self))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Refuse.

        Raises:
            RuntimeError: always.
        """
        raise RuntimeError("ParameterList should not be called.")


class ParameterDict(Module):
    """A dict whose tensors are parameters; it may hold anything else too.

    Args:
        parameters: what it holds at first: a dict, or pairs of keys and values.

    Raises:
        TypeError: for a key that is no string.

    Example:
        >>> scales = torch.nn.ParameterDict({"left": torch.ones(2)})
        >>> scales["right"] = torch.zeros(3)
        >>> list(scales.keys()), len(list(scales.parameters()))
        (['left', 'right'], 2)
    """

    def __init__(self, parameters: Any = None) -> None:
        super().__init__()
        self._keys: dict[str, None] = {}
        if parameters is not None:
            self.update(parameters)

    @staticmethod
    def _key_to_attr(key: Any) -> str:
        if not isinstance(key, str):
            raise TypeError(
                "Index given to ParameterDict cannot be used as a key as it is not a string (type is "
                f"'{type(key).__name__}')."
            )
        return key

    def __getitem__(self, key: str) -> Any:
        return getattr(self, self._key_to_attr(key))

    def __setitem__(self, key: str, value: Any) -> None:
        name = self._key_to_attr(key)
        self._keys[key] = None
        setattr(self, name, _as_parameter(value))

    def __delitem__(self, key: str) -> None:
        del self._keys[key]
        delattr(self, self._key_to_attr(key))

    def __len__(self) -> int:
        return len(self._keys)

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __reversed__(self) -> Iterator[str]:
        return reversed(self._keys)

    def __contains__(self, key: str) -> bool:
        return key in self._keys

    def copy(self) -> ParameterDict:
        """Another dict of the same values."""
        return ParameterDict(OrderedDict(self.items()))

    def setdefault(self, key: str, default: Any = None) -> Any:
        """The value of a key, put there first if it is not."""
        if key not in self:
            self[key] = default
        return self[key]

    def clear(self) -> None:
        """Take everything out."""
        for key in list(self._keys):
            del self[key]

    def pop(self, key: str) -> Any:
        """Take a value out."""
        found = self[key]
        del self[key]
        return found

    def popitem(self) -> tuple[str, Any]:
        """Take the last key and its value out."""
        key = next(reversed(self._keys), None)
        if key is None:
            raise KeyError("popitem(): dictionary is empty")
        return key, self.pop(key)

    def get(self, key: str, default: Any = None) -> Any:
        """The value of a key, or a default."""
        return self[key] if key in self else default  # noqa: SIM401

    def fromkeys(self, keys: Iterable[str], default: Any = None) -> ParameterDict:
        """A new dict with one value for all keys."""
        return ParameterDict((key, default) for key in keys)

    def keys(self) -> Any:
        """The keys."""
        return self._keys.keys()

    def items(self) -> Iterator[tuple[str, Any]]:
        """Keys and values."""
        return ((key, self[key]) for key in self._keys)

    def values(self) -> Iterator[Any]:
        """The values."""
        return (self[key] for key in self._keys)

    def update(self, parameters: Any) -> None:
        """Put values in, from a mapping or from pairs; plain dicts in the order of their keys.

        Raises:
            TypeError: if it is neither.
            ValueError: for an element that is no pair.
        """
        if isinstance(parameters, Mapping) and not isinstance(parameters, OrderedDict):
            parameters = sorted(parameters.items())
        for key, value in pairs_of("ParameterDict", parameters):
            self[key] = value

    def extra_repr(self) -> str:
        """A line for each value."""
        return "\n".join(_shown(k, v, _type_name(v)) for k, v in self.items())

    def __call__(self, input: Any) -> Any:
        """Refuse.

        Raises:
            RuntimeError: always.
        """
        raise RuntimeError("ParameterDict should not be called.")

    def __or__(self, other: Any) -> ParameterDict:
        made = self.copy()
        made.update(other)
        return made

    def __ror__(self, other: Any) -> Any:
        made = other.copy()
        made.update(self)
        return made

    def __ior__(self, other: Any) -> Self:
        self.update(other)
        return self


def _type_name(value: Any) -> str:
    return torch.typename(value) if isinstance(value, torch.Tensor) else ""
