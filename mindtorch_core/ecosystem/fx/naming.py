"""Names: of functions as programs write them, and of nodes, each once in a graph."""

from __future__ import annotations

import builtins
import functools
import importlib
import inspect
import keyword
import math
import re
import sys
import types
from typing import Any, Final

import mindtorch_core as torch

from ...utils import _pytree as pytree
from . import _pytree as fx_pytree

__all__ = [
    "OURS",
    "Namespace",
    "is_of_torch",
    "public_name",
    "qualified_name",
    "snake_case",
    "surroundings",
    "type_name",
]

OURS: Final = ("torch", "mindtorch_core", "mindtorch_nn")  # the first names of our modules

# Where functions are looked for, in this order: by what name PyTorch's generated code calls each.
_PLACES: Final = (
    ("functional", "{}"),
    ("_C._nn", "{}"),
    ("", "{}"),
    ("_C._fft", "fft_{}"),
    ("_C._linalg", "linalg_{}"),
    ("_C._special", "special_{}"),
    ("nn.functional", "{}"),
    ("nn.init", "{}"),
)
# Functions of ``torch`` that `torch.nn.functional` has too; PyTorch's are the same objects.
_SHARED: Final = frozenset({
    "adaptive_avg_pool1d", "avg_pool1d", "bilinear", "celu_", "channel_shuffle", "conv1d", "conv2d", "conv3d",
    "conv_tbc", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d", "cosine_similarity",
    "hardshrink", "native_channel_shuffle", "pairwise_distance", "pdist", "pixel_shuffle",
    "pixel_unshuffle", "prelu", "relu_", "rrelu_", "selu_", "threshold_",
})  # fmt: skip
_ILLEGAL: Final = re.compile("[^0-9a-zA-Z_]+")
_NUMBERED: Final = re.compile(r"([a-zA-Z_][0-9a-zA-Z_]*?)(?:_(\d+))?")
_OWN_PATH: Final = re.compile(r"\bmindtorch_(?:core|nn)(?:\.\w+)+")
_CASES: Final = re.compile(r"(?<=[a-z])([A-Z])")


@functools.cache
def surroundings() -> dict[str, tuple[Any, str]]:
    """The names that all generated code can use: what each is, and the line that imports it."""
    root = torch.__name__
    return {
        "inf": (math.inf, "from math import inf"),
        "nan": (math.nan, "from math import nan"),
        "NoneType": (type(None), "NoneType = type(None)"),
        "torch": (torch, "import torch" if root == "torch" else f"import {root} as torch"),
        "device": (torch.device, f"from {root} import device"),
        "fx_pytree": (fx_pytree, f"import {root}.fx._pytree as fx_pytree"),
        "pytree": (pytree, f"import {root}.utils._pytree as pytree"),
    }


def snake_case(text: str) -> str:
    """A name in lower case, with underscores where it had humps."""
    return _CASES.sub(r"_\1", text).lower()


def type_name(value: Any) -> str:
    """A type as annotations show it."""
    if isinstance(value, type) and not isinstance(value, types.GenericAlias):
        if value.__module__ == "builtins":
            return value.__qualname__
        public = public_name(value) if is_of_torch(value) else ""
        return public or f"{_shown(value.__module__)}.{value.__qualname__}"
    if value is ...:
        return "..."
    if isinstance(value, types.FunctionType):
        return value.__name__
    return _OWN_PATH.sub(_public_path, repr(value))


def _public_path(found: re.Match[str]) -> str:
    """The path of one of our types in programs."""
    path, _, name = found[0].rpartition(".")
    kind = getattr(sys.modules.get(path), name, None)
    return (public_name(kind) if kind is not None else "") or f"{_shown(path)}.{name}"


def _shown(module: str) -> str:
    """The path of a module in programs that say ``torch``."""
    first, _, rest = module.partition(".")
    if first == "mindtorch_nn":
        return f"torch.nn.{rest}".rstrip(".")
    if first == "mindtorch_core":
        return module.replace("mindtorch_core", "torch", 1).replace(".ecosystem.", ".")
    return module


def is_of_torch(value: Any) -> bool:
    """Whether generated code can write a function's or type's path, since it begins with ``torch``."""
    return (getattr(value, "__module__", None) or "").partition(".")[0] in OURS


def _module(path: str) -> Any:
    return importlib.import_module(f"mindtorch_core.{path}") if path else torch


@functools.cache
def public_name(function: Any) -> str:
    """The path by which programs know one of our functions or types; empty if it is nowhere public."""
    own = function.__name__
    for path, pattern in _PLACES[isinstance(function, type) :]:
        prefix = pattern.removesuffix("{}")
        for name in dict.fromkeys((own.removeprefix(prefix), own)):
            shown = pattern.format(name)
            if path == "_C._nn" and name == "logsigmoid":
                shown = "log_sigmoid"
            if getattr(_module(path), shown, None) is function:
                path = "" if path == "nn.functional" and shown in _SHARED else path
                return ".".join(filter(None, ("torch", path, shown)))
    return ""


def qualified_name(function: Any) -> str:
    """A function's path, as generated code writes it.

    Raises:
        RuntimeError: for a lambda that stands in no assignment.
    """
    name = function.__name__
    if getattr(builtins, name, None) is function:
        return str(name)
    if is_of_torch(function):
        if getattr(function, "__qualname__", "") == f"Tensor.{name}":
            return f"torch.Tensor.{name}"
        if isinstance(function, types.FunctionType | type) and (public := public_name(function)):
            return public
    if name == "<lambda>":
        try:
            name = inspect.getsource(function).split("=")[0].strip()
        except Exception as error:
            raise RuntimeError("Unable to represent lambda") from error
    module = function.__module__
    if module is None:
        raise RuntimeError(f"cannot find module for {function}")
    return f"{_shown(module)}.{name}"


class Namespace:
    """Gives each object one name, and each name once; none of Python's own."""

    def __init__(self) -> None:
        self._obj_to_name: dict[Any, str] = {}
        self._used_names: set[str] = set()
        self._base_count: dict[str, int] = {}

    def create_name(self, candidate: str, obj: Any) -> str:
        """A new name.

        Args:
            candidate: what it is made of.
            obj: whose name it is, which keeps it; None for nobody's.
        """
        if obj is not None and obj in self._obj_to_name:
            return self._obj_to_name[obj]
        match = _NUMBERED.fullmatch(candidate)
        if match is None:
            candidate = _ILLEGAL.sub("_", candidate) or "_unnamed"
            candidate = f"_{candidate}" if candidate[0].isdigit() else candidate
            match = _NUMBERED.fullmatch(candidate)
            assert match is not None, candidate
        base, digits = match.groups()
        number = int(digits or 0)
        if digits is None or candidate in self._used_names:
            number = self._base_count.get(base, 0)
            if _taken(candidate, obj):
                number += 1
                candidate = f"{base}_{number}"
        while candidate in self._used_names:
            number += 1
            candidate = f"{base}_{number}"
        self._used_names.add(candidate)
        self._base_count[base] = number
        if obj is not None:
            self._obj_to_name[obj] = candidate
        return candidate

    def associate_name_with_obj(self, name: str, obj: Any) -> None:
        """Let an object have a name that was created for nobody."""
        assert obj not in self._obj_to_name, "obj is already associated"
        self._obj_to_name[obj] = name

    def _rename_object(self, obj: Any, name: str) -> None:
        assert obj in self._obj_to_name, f"Object {obj} is not in _obj_to_name"
        self._obj_to_name[obj] = name
        self._used_names.add(name)


def _taken(name: str, obj: Any) -> bool:
    """Whether a name is Python's or of every function's surroundings, and not this object's."""
    if keyword.iskeyword(name):
        return True
    if name in surroundings():
        return surroundings()[name][0] is not obj
    if name == "_":  # a shell's last value is none of Python's names
        return False
    return hasattr(builtins, name) and getattr(builtins, name) is not obj
