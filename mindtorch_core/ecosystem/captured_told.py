"""What captured functions are told when they ask: settings of libraries, names of functions and classes."""

from __future__ import annotations

import abc
import logging
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from functools import partial
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any, Final

from ..dispatch.keys import AUTOGRAD
from ..tensors.tensor import Tensor
from .captured_names import is_constant, is_foreign
from .captured_watches import MISSING, Watch

__all__ = [
    "DESCRIBING", "description", "modules_told", "names_told", "reads_environment", "registered",
    "settings_told",
]  # fmt: skip

# What code loads that asks what a tensor is like.
DESCRIBING: Final = frozenset({
    "device", "dim", "dtype", "element_size", "is_complex", "is_contiguous", "is_floating_point", "itemsize",
    "len", "nbytes", "ndim", "nelement", "numel", "requires_grad", "shape", "size", "storage_offset",
    "stride",
})  # fmt: skip

# What code loads that reads environment variables for it.
_FROM_ENVIRONMENT: Final = frozenset({"expanduser", "expandvars", "getuser", "home", "which"})
_ENVIRONMENT: Final = frozenset({"environ", "environb", "getenv"})
# The same for the current folder.
_FROM_FOLDER: Final = frozenset({"absolute", "abspath", "cwd", "realpath", "relpath", "resolve"})
_ATTENTION: Final = frozenset({
    "cudnn_sdp_enabled", "flash_sdp_enabled", "math_sdp_enabled", "mem_efficient_sdp_enabled",
})  # fmt: skip
_LEVELS: Final = frozenset({"getEffectiveLevel", "isEnabledFor"})
# Functions of libraries that tell what is set, by their module.
_TOLD: Final = {
    "gc": frozenset({"get_debug", "get_threshold", "isenabled"}),
    "numpy": frozenset({"get_printoptions", "geterr"}),
    "os": frozenset({"getcwd", "getcwdb", "getpid"}),
    "sys": frozenset(
        {
            "get_int_max_str_digits",
            "getrecursionlimit",
            "getswitchinterval",
            "gettrace",
        }
    ),
    "tempfile": frozenset({"gettempdir"}),
    "threading": frozenset(
        {
            "active_count",
            "current_thread",
            "enumerate",
            "get_ident",
            "get_native_id",
            "main_thread",
        }
    ),
}
# Where functions say that they are defined, and the module that shows them.
_SHOWN_BY: Final = {"_thread": "threading", "nt": "os", "posix": "os"}
_OF_DECIMALS: Final = ("prec", "rounding", "Emin", "Emax", "capitals", "clamp")
_CALLED: Final = frozenset({"__doc__", "__module__", "__name__", "__qualname__"})
_TOLD_BY: Final = {"getdoc": "__doc__", "getmodule": "__module__"}


def reads_environment(module: ModuleType, names: Set[str], asked: Set[str]) -> bool:
    """Whether code may read environment variables by a module.

    Args:
        module: one of Python's.
        names: what the code loads.
        asked: what code of the user's loads.
    """
    return bool(asked & _FROM_ENVIRONMENT or (module.__name__ == "os" and names & _ENVIRONMENT))


def settings_told(
    libraries: Mapping[str, ModuleType], names: Set[str], watches: Iterable[Watch]
) -> Iterator[Watch]:
    """Watch what libraries say is set, where the code asks for it.

    Args:
        libraries: modules that are not looked into, by how they are called.
        names: what the code loads.
        watches: what is watched, of which some may be such a function itself.
    """
    functions = {
        name.lstrip("."): value
        for watch in watches
        for name, value in zip(watch.names, watch.was, strict=False)
        if isinstance(value, FunctionType | BuiltinFunctionType) and _tells(value)
    }
    for name, function in functions.items():
        yield Watch(partial(_answer, function), [f"{name}()"])
    for path, module in libraries.items():
        for name in sorted(names & _TOLD.get(module.__name__, frozenset())):
            yield Watch(partial(_named, module, name), [f"{path}.{name}()"])
    if names & _FROM_FOLDER:
        yield Watch(partial(_answer, os.getcwd), ["os.getcwd()"])
    if names & _LEVELS:
        yield Watch(
            _levels, ["the level of the root logger", "logging.disable()", "a logger's level"]
        )
    attention = sys.modules.get(f"{__name__.rpartition('.')[0]}.backends.cuda")
    if attention is not None and (asked := sorted(names & _ATTENTION)):
        shown = [f"torch.backends.cuda.{name}()" for name in asked]
        yield Watch(lambda: [getattr(attention, name)() for name in asked], shown)
    decimal = sys.modules.get("decimal")
    if decimal is not None and names & {"decimal", "Decimal"}:
        shown = [f"{name} of decimal.getcontext()" for name in _OF_DECIMALS]
        yield Watch(partial(_context, decimal), shown)


def _tells(function: FunctionType | BuiltinFunctionType) -> bool:
    home = str(function.__module__)
    return function.__name__ in _TOLD.get(_SHOWN_BY.get(home, home), frozenset())


def _named(module: ModuleType, name: str) -> list[Any]:
    return _answer(getattr(module, name))


def _answer(function: Callable[[], Any]) -> list[Any]:
    try:
        told = function()
    except OSError:  # the folder is gone
        return [MISSING]
    return [told if is_constant(told) else repr(told)]


def _levels() -> list[Any]:
    root = logging.root
    loggers = [*root.manager.loggerDict.values()]
    own = tuple([(n, getattr(each, "level", None)) for n, each in enumerate(loggers)])
    return [root.level, root.manager.disable, repr([n for n in own if n[1]])]


def _context(decimal: Any) -> list[Any]:
    context = decimal.getcontext()
    return [getattr(context, name) for name in _OF_DECIMALS]


def names_told(things: Iterable[Any], names: Set[str]) -> Iterator[Watch]:
    """Watch what functions and classes of users are called, where the code asks for it.

    Args:
        things: what the code reaches.
        names: what it loads.
    """
    asked = sorted((names & _CALLED) | {told for name, told in _TOLD_BY.items() if name in names})
    for each in things if asked else ():
        if isinstance(each, FunctionType | type) and not is_foreign(each.__module__):
            shown = [f"{each.__qualname__}.{name}" for name in asked]
            yield Watch(partial(_called, each, asked), shown)


def _called(thing: Any, asked: Iterable[str]) -> list[Any]:
    return [getattr(thing, name) for name in asked]


def modules_told(names: Sequence[str]) -> Watch:
    """Watch which modules are imported."""
    return Watch(
        lambda: [sys.modules.get(name, MISSING) for name in names],
        [f"sys.modules[{name!r}]" for name in names],
    )


def registered(path: str, cls: type) -> Watch | None:
    """Watch the classes that are registered as an abstract one's; None where that is none."""
    if not isinstance(cls, abc.ABCMeta):
        return None
    return Watch(partial(_registered, cls), [f"the number of classes registered with {path}"])


def _registered(cls: type) -> list[Any]:
    dump: Any = vars(abc)["_get_dump"]
    classes = {cls, *_derived(cls)}
    return [sum(len(dump(each)[0]) for each in classes if isinstance(each, abc.ABCMeta))]


def _derived(cls: type) -> Iterator[type]:
    subclasses: list[type] = type.__subclasses__(cls)
    for each in subclasses:
        yield each
        yield from _derived(each)


def description(path: str, t: Tensor) -> Watch:
    """Watch what a tensor is like, in words of the code that asks for it."""
    names = "shape", "dtype", "device", "layout", "requires_grad"
    return Watch(partial(_described, t), [f"the {n} of {path}" for n in names])


def _described(t: Tensor) -> list[Any]:
    shape, device, strides = tuple(t._shape), str(t._device), tuple(t._geometry()[0])
    return [shape, t._dtype, device, strides, bool(t._keys & AUTOGRAD)]
