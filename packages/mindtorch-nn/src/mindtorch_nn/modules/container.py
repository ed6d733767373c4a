"""Modules that hold modules: sequences, lists and dicts."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any, Self

from mindtorch_core.utils._own_frames import warn_user

from .elements import pairs_of, position
from .module import Module, _indented
from .parameter_containers import ParameterDict, ParameterList

__all__ = ["Container", "ModuleDict", "ModuleList", "ParameterDict", "ParameterList", "Sequential"]


class Container(Module):
    """A module with submodules; `Module` does the same."""

    def __init__(self, **kwargs: Module) -> None:
        warn_user(
            "`nn.Container` is deprecated. All of its functionality is now implemented in `nn.Module`. "
            "Subclass that instead.",
            FutureWarning,
        )
        super().__init__()
        for name, module in kwargs.items():
            self.add_module(name, module)


class _Numbered(Module):
    """What modules have whose submodules stand in an order."""

    _modules: dict[str, Any]

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._modules.values())

    def __dir__(self) -> list[str]:
        return [name for name in super().__dir__() if not name.isdigit()]

    def __setitem__(self, idx: int, module: Module) -> None:
        setattr(self, list(self._modules)[position(idx, len(self))], module)

    def __delitem__(self, idx: int | slice) -> None:
        names = list(self._modules)
        for name in names[idx] if isinstance(idx, slice) else [names[position(idx, len(self))]]:
            delattr(self, name)
        self._modules = {str(i): m for i, m in enumerate(self._modules.values())}

    def append(self, module: Module) -> Self:
        """Add a module at the end."""
        self.add_module(str(len(self)), module)
        return self

    def pop(self, key: int | slice) -> Any:
        """Take a module, or several, out."""
        found = self[key]  # type: ignore[index]  # both subclasses have it
        del self[key]
        return found


class Sequential(_Numbered):
    """Calls its modules one after another.

    Args:
        args: modules, or one OrderedDict that names them.

    Raises:
        TypeError: for what is no module.

    Example:
        >>> model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.ReLU(), torch.nn.Linear(4, 2))
        >>> model(torch.ones(5, 3)).shape, len(model)
        (torch.Size([5, 2]), 3)
    """

    def __init__(self, *args: Module | OrderedDict[str, Module]) -> None:
        super().__init__()
        first: Any = args[0] if len(args) == 1 else None
        named: Any = first.items() if isinstance(first, OrderedDict) else enumerate(args)
        for name, module in named:
            self.add_module(str(name), module)

    def __getitem__(self, idx: int | slice) -> Any:
        if isinstance(idx, slice):
            return type(self)(OrderedDict(list(self._modules.items())[idx]))
        return list(self._modules.values())[position(idx, len(self))]

    def __add__(self, other: Sequential) -> Sequential:
        _check_sequential(other)
        return Sequential(*self, *other)

    def __iadd__(self, other: Sequential) -> Self:
        _check_sequential(other)
        return self.extend(list(other))

    def __mul__(self, other: int) -> Sequential:
        self._check_times(other)
        return Sequential(*list(self) * other)

    __rmul__ = __mul__

    def __imul__(self, other: int) -> Self:
        self._check_times(other)
        return self.extend(list(self) * (other - 1))

    def _check_times(self, other: Any) -> None:
        if not isinstance(other, int):
            raise TypeError(f"unsupported operand type(s) for *: {type(self)} and {type(other)}")
        if other <= 0:
            raise ValueError(f"Non-positive multiplication factor {other} for {type(self)}")

    def forward(self, input: Any) -> Any:
        """What the last module makes of what the one before it made."""
        for module in self:
            input = module(input)
        return input

    def insert(self, index: int, module: Module) -> Self:
        """Put a module before the one at an index.

        Raises:
            AssertionError: if it is none.
            IndexError: if there is no such place.
        """
        if not isinstance(module, Module):
            raise AssertionError(f"module should be of type: {Module}")
        if not -len(self) <= index <= len(self):
            raise IndexError(f"Index out of range: {index}")
        _insert(self, index + len(self) if index < 0 else index, module)
        return self

    def extend(self, sequential: Iterable[Module]) -> Self:
        """Add modules at the end."""
        for module in sequential:
            self.append(module)
        return self


def _check_sequential(other: Any) -> None:
    if not isinstance(other, Sequential):
        raise ValueError(
            f"add operator supports only objects of Sequential class, but {type(other)} is given."
        )


def _insert(holder: _Numbered, index: int, module: Any) -> None:
    """Put a module at a place and number all behind it anew."""
    modules = holder._modules
    for i in range(len(modules), index, -1):
        modules[str(i)] = modules[str(i - 1)]
    modules[str(index)] = module


class ModuleList(_Numbered):
    """A list of modules, whose parameters are those of the module that holds it.

    Args:
        modules: what it begins with.

    Raises:
        TypeError: for what is no module.

    Example:
        >>> layers = torch.nn.ModuleList(torch.nn.Linear(2, 2) for _ in range(3))
        >>> len(layers), len(list(layers.parameters()))
        (3, 6)
    """

    def __init__(self, modules: Iterable[Module] | None = None) -> None:
        super().__init__()
        if modules is not None:
            self.extend(modules)

    def __getitem__(self, idx: int | slice) -> Any:
        if isinstance(idx, slice):
            return type(self)(list(self._modules.values())[idx])
        return self._modules[str(position(idx, len(self)))]

    def __iadd__(self, modules: Iterable[Module]) -> Self:
        return self.extend(modules)

    def __add__(self, other: Iterable[Module]) -> ModuleList:
        return ModuleList(chain(self, other))

    def insert(self, index: int, module: Module) -> None:
        """Put a module before the one at an index."""
        _insert(self, index, module)

    def extend(self, modules: Iterable[Module]) -> Self:
        """Add modules at the end.

        Raises:
            TypeError: if they cannot be iterated over.
        """
        if not isinstance(modules, Iterable):
            raise TypeError(
                f"ModuleList.extend should be called with an iterable, but got {type(modules).__name__}"
            )
        for module in list(modules):
            self.append(module)
        return self

    def __repr__(self) -> str:
        runs: list[tuple[int, int, str]] = []  # first, last, text
        for i, text in enumerate(map(repr, self)):
            if runs and runs[-1][2] == text:
                runs[-1] = (runs[-1][0], i, text)
            else:
                runs.append((i, i, text))
        if not runs:
            return f"{self._get_name()}()"
        lines = (
            f"({a}): {text}" if a == b else f"({a}-{b}): {b - a + 1} x {text}"
            for a, b, text in runs
        )
        inner = "\n  ".join(_indented(line) for line in lines)
        return f"{self._get_name()}(\n  {inner}\n)"


class ModuleDict(Module):
    """A dict of modules.

    Args:
        modules: a dict of modules, or pairs of name and module.

    Raises:
        TypeError: for what is no module, or a name that is no string.

    Example:
        >>> parts = torch.nn.ModuleDict({"first": torch.nn.Linear(2, 3), "second": torch.nn.ReLU()})
        >>> parts["second"](torch.tensor([-1.0])), list(parts.keys())
        (tensor([0.]), ['first', 'second'])
    """

    _modules: dict[str, Any]

    def __init__(self, modules: Any = None) -> None:
        super().__init__()
        if modules is not None:
            self.update(modules)

    def __getitem__(self, key: str) -> Any:
        return self._modules[key]

    def __setitem__(self, key: str, module: Module) -> None:
        self.add_module(key, module)

    def __delitem__(self, key: str) -> None:
        del self._modules[key]

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[str]:
        return iter(self._modules)

    def __contains__(self, key: str) -> bool:
        return key in self._modules

    def clear(self) -> None:
        """Take all modules out."""
        self._modules.clear()

    def pop(self, key: str) -> Any:
        """Take a module out."""
        found = self[key]
        del self[key]
        return found

    def keys(self) -> Any:
        """The names."""
        return self._modules.keys()

    def items(self) -> Any:
        """Names and modules."""
        return self._modules.items()

    def values(self) -> Any:
        """The modules."""
        return self._modules.values()

    def update(self, modules: Any) -> None:
        """Put modules in, from a mapping or from pairs.

        Raises:
            TypeError: if it is neither.
            ValueError: for an element that is no pair.
        """
        for name, module in pairs_of("ModuleDict", modules):
            self[name] = module
