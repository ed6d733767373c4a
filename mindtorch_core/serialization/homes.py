"""Names of classes and functions in files: PyTorch's for ours, so that each library finds its own."""

from __future__ import annotations

import _compat_pickle
import importlib
import sys
from typing import Any, Final

from ..frontend.aliases import ALIASES
from ..frontend.surroundings import ELSEWHERE

__all__ = ["current", "find", "home"]

_CORE: Final = __name__.partition(".")[0]

# Where PyTorch has a module's classes, if not under the name that our module has.
_ELSEWHERE: Final = {
    "torch.gradients.handles": "torch.utils.hooks",
    "torch.nn.dropout": "torch.nn.functional",
    "torch.nn.linear_cross_entropy": "torch.nn.modules.linear_cross_entropy_options",
    "torch.nn.modules.adaptive_pooling": "torch.nn.modules.pooling",
    "torch.nn.modules.backward_hooks": "torch.utils.hooks",
    "torch.nn.modules.conv_base": "torch.nn.modules.conv",
    "torch.nn.modules.likelihood_losses": "torch.nn.modules.loss",
    "torch.nn.modules.margin_losses": "torch.nn.modules.loss",
    "torch.nn.modules.multihead": "torch.nn.modules.activation",
    "torch.nn.modules.parameter_containers": "torch.nn.modules.container",
    "torch.nn.modules.rnn_base": "torch.nn.modules.rnn",
    "torch.nn.modules.rnn_cells": "torch.nn.modules.rnn",
    "torch.nn.modules.softmax": "torch.nn.modules.activation",
    "torch.nn.modules.transformer_layers": "torch.nn.modules.transformer",
    "torch.optim._adafactor": "torch.optim",
    "torch.optim._muon": "torch.optim",
    "torch.optim.averaged_model": "torch.optim.swa_utils",
    "torch.tensors.tensor": "torch",
    **{
        f"torch.optim.schedules.{name}": "torch.optim.lr_scheduler"
        for name in ("base", "combined", "cycles", "decays", "plateau")
    },
    **{
        f"torch.distributions.transforms_{name}": "torch.distributions.transforms"
        for name in ("base", "elementwise", "joint")
    },
}


def home(obj: Any, name: str | None = None) -> tuple[str, str]:
    """Module and qualified name by which files refer to a class or function."""
    qualified = name or getattr(obj, "__qualname__", None) or obj.__name__
    module = getattr(obj, "__module__", None) or _searched(obj, qualified)
    return _pytorchs(module), qualified


def _searched(obj: Any, name: str) -> str:
    """The module that has an object which does not say where it is, as some of builtins."""
    for path, module in [("builtins", sys.modules["builtins"]), *list(sys.modules.items())]:
        if path not in ("__main__", "__mp_main__") and getattr(module, name, None) is obj:
            return path
    return "__main__"


def _pytorchs(module: str) -> str:
    for path, source in ALIASES.items():
        known = path.startswith(_CORE) and path.partition(".")[2] not in ELSEWHERE
        if known and f"{module}.".startswith(f"{source}."):
            module = path + module.removeprefix(source)
            break
    if f"{module}.".startswith(f"{_CORE}."):
        module = "torch" + module.removeprefix(_CORE)
    # Where `import torch` is mindtorch, classes name torch's modules already.
    return _ELSEWHERE.get(module, module)


def current(module: str, name: str) -> tuple[str, str]:
    """What Python 3 calls what Python 2, and pickles of its protocol, had under other names."""
    if (module, name) in _compat_pickle.NAME_MAPPING:
        return _compat_pickle.NAME_MAPPING[module, name]
    return _compat_pickle.IMPORT_MAPPING.get(module, module), name


def find(module: str, name: str) -> Any:
    """The class or function of a name in a file; the module is imported.

    Raises:
        AttributeError: if there is none.
        ModuleNotFoundError: if there is no such module.
    """
    if module != "torch" and not module.startswith("torch."):
        return _below(importlib.import_module(module), name)
    path = _CORE + module.removeprefix("torch")
    while path:
        try:
            return _below(importlib.import_module(path), name)
        except (
            AttributeError,
            ModuleNotFoundError,
        ):  # what is shown further up may stand elsewhere
            path = path.rpartition(".")[0]
    raise AttributeError(f"there is no {module}.{name}: it is PyTorch's, and not supplied here")


def _below(found: Any, name: str) -> Any:
    for part in name.split("."):
        found = getattr(found, part)
    return found
