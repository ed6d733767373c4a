"""Walks through a module's tree: its submodules, parameters and buffers, by name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, Self

from mindtorch_core import Tensor
from mindtorch_core.utils._own_frames import refusing

from ..parameter import Parameter
from .base import ModuleBase, ends

if TYPE_CHECKING:
    from .module import Module

__all__ = ["Traversal"]


class Traversal(ModuleBase):
    """The part of `Module` that finds what is in it."""

    def named_modules(
        self, memo: set[Any] | None = None, prefix: str = "", remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Module]]:
        """This module and all below it, with their paths.

        Args:
            memo: those that are left out; the ones that are found are added.
            prefix: of all paths.
            remove_duplicate: whether a module that is found by several paths is given once.

        Example:
            >>> model = torch.nn.Sequential(torch.nn.Linear(2, 1), torch.nn.ReLU())
            >>> [name for name, _ in model.named_modules()]
            ['', '0', '1']
        """
        memo = set() if memo is None else memo
        if self in memo:
            return
        if remove_duplicate:
            memo.add(self)
        yield prefix, self  # type: ignore[misc]  # the only class that has this part is Module
        for name, module in self._modules.items():
            if module is not None:
                path = f"{prefix}.{name}" if prefix else name
                yield from module.named_modules(memo, path, remove_duplicate)

    def modules(self, remove_duplicate: bool = True) -> Iterator[Module]:
        """This module and all below it.

        Args:
            remove_duplicate: whether a module that is found by several paths is given once.

        Example:
            >>> len(list(torch.nn.Sequential(torch.nn.ReLU(), torch.nn.Tanh()).modules()))
            3
        """
        for _, module in self.named_modules(remove_duplicate=remove_duplicate):
            yield module

    def named_children(self) -> Iterator[tuple[str, Module]]:
        """The modules directly below, each once, with their names."""
        seen: set[Any] = set()
        for name, module in self._modules.items():
            if module is not None and module not in seen:
                seen.add(module)
                yield name, module

    def children(self) -> Iterator[Module]:
        """The modules directly below, each once.

        Example:
            >>> list(torch.nn.Sequential(torch.nn.ReLU(), torch.nn.Tanh()).children())
            [ReLU(), Tanh()]
        """
        for _, module in self.named_children():
            yield module

    def _named_members(
        self,
        get_members_fn: Callable[[Any], Iterable[tuple[str, Any]]],
        prefix: str = "",
        recurse: bool = True,
        remove_duplicate: bool = True,
    ) -> Iterator[tuple[str, Any]]:
        """What a function finds in each module, with paths."""
        seen: set[Any] = set()
        places: Iterable[tuple[str, Any]] = [(prefix, self)]
        if recurse:
            places = self.named_modules(prefix=prefix, remove_duplicate=remove_duplicate)
        for path, module in places:
            for name, member in get_members_fn(module):
                if member is None or member in seen:
                    continue
                if remove_duplicate:
                    seen.add(member)
                yield (f"{path}.{name}" if path else name), member

    def named_parameters(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Parameter]]:
        """The parameters with their paths.

        Args:
            prefix: of all paths.
            recurse: whether those of submodules are given as well.
            remove_duplicate: whether one that is found by several paths is given once.

        Example:
            >>> model = torch.nn.Sequential(torch.nn.Linear(2, 1, bias=False), torch.nn.ReLU())
            >>> [name for name, _ in model.named_parameters()]
            ['0.weight']
        """
        yield from self._named_members(
            lambda m: m._parameters.items(), prefix, recurse, remove_duplicate
        )

    def parameters(self, recurse: bool = True) -> Iterator[Parameter]:
        """The parameters, each once.

        Args:
            recurse: whether those of submodules are given as well.

        Example:
            >>> [p.shape for p in torch.nn.Linear(2, 1).parameters()]
            [torch.Size([1, 2]), torch.Size([1])]
        """
        for _, parameter in self.named_parameters(recurse=recurse):
            yield parameter

    def named_buffers(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Tensor]]:
        """The buffers with their paths; with ``recurse`` also those of submodules."""
        yield from self._named_members(
            lambda m: m._buffers.items(), prefix, recurse, remove_duplicate
        )

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        """The buffers, each once; with ``recurse`` also those of submodules."""
        for _, buffer in self.named_buffers(recurse=recurse):
            yield buffer

    @ends
    def apply(self, fn: Callable[[Module], Any]) -> Self:
        """Call a function with every module below, and then with this one.

        Args:
            fn: what is called with a module; its result is not used.

        Returns:
            This module.

        Example:
            >>> def zero(module):
            ...     if isinstance(module, torch.nn.Linear):
            ...         torch.nn.init.zeros_(module.weight)
            >>> torch.nn.Linear(2, 1).apply(zero).weight.tolist()
            [[0.0, 0.0]]
        """
        for module in self.children():
            module.apply(fn)
        fn(self)  # type: ignore[arg-type]
        return self

    # ---- by path -------------------------------------------------------------------------------

    @refusing
    def get_submodule(self, target: str) -> Module:
        """The module at a path; this one for "".

        Args:
            target: names with dots between them.

        Raises:
            AttributeError: if there is none.

        Example:
            >>> torch.nn.Sequential(torch.nn.Sequential(torch.nn.Tanh())).get_submodule("0.0")
            Tanh()
        """
        found: Any = self
        for name in target.split(".") if target else ():
            found = _step(found, name)
        return found  # type: ignore[no-any-return]

    def set_submodule(self, target: str, module: Module, strict: bool = False) -> None:
        """Put a module at a path.

        Args:
            target: the path.
            module: what is put there.
            strict: whether there must be one already.

        Raises:
            ValueError: for an empty path, or if ``module`` is none.
            AttributeError: if there is no parent, or something else at the path.
        """
        if target == "":
            raise ValueError("Cannot set the submodule without a target name!")
        if not isinstance(module, ModuleBase):
            raise ValueError(f"`module` is not an nn.Module, found {type(module)}")
        path, _, name = target.rpartition(".")
        parent = self.get_submodule(path)
        if strict or hasattr(parent, name):
            _step(parent, name)
        setattr(parent, name, module)

    @refusing
    def get_parameter(self, target: str) -> Parameter:
        """The parameter at a path.

        Raises:
            AttributeError: if there is none.
        """
        path, _, name = target.rpartition(".")
        module = self.get_submodule(path)
        found = _member(module, name)
        if not isinstance(found, Parameter):
            raise AttributeError(f"`{name}` is not an nn.Parameter")
        return found

    @refusing
    def get_buffer(self, target: str) -> Tensor:
        """The buffer at a path.

        Raises:
            AttributeError: if there is none.
        """
        path, _, name = target.rpartition(".")
        module = self.get_submodule(path)
        found: Tensor = _member(module, name)
        if name not in module._buffers:
            raise AttributeError(f"`{name}` is not a buffer")
        return found


def _member(module: ModuleBase, name: str) -> Any:
    if not hasattr(module, name):
        raise AttributeError(f"{module._get_name()} has no attribute `{name}`")
    return getattr(module, name)


def _step(module: ModuleBase, name: str) -> Any:
    found = _member(module, name)
    if not isinstance(found, ModuleBase):
        raise AttributeError(f"`{name}` is not an nn.Module")
    return found
