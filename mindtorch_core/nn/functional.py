"""Functions of ``torch.nn.functional``; each is defined with its op in `mindtorch_core.operators`."""

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from ..opdefs.namespaces import serve
from .dropout import (
    alpha_dropout,
    dropout,
    dropout1d,
    dropout2d,
    dropout3d,
    feature_alpha_dropout,
    rrelu,
)
from .linear_cross_entropy import linear_cross_entropy

__all__ = [
    "alpha_dropout",
    "dropout",
    "dropout1d",
    "dropout2d",
    "dropout3d",
    "feature_alpha_dropout",
    "linear_cross_entropy",
    "rrelu",
]

# Names that libraries import from here, and where they are.
_ELSEWHERE: Final = {
    **dict.fromkeys(
        (
            "_canonical_mask",
            "_in_projection",
            "_in_projection_packed",
            "_mha_shape_check",
            "_none_or_dtype",
        ),
        "nn.attention_parts",
    ),
    **dict.fromkeys(("_pair", "_single", "_triple"), "nn.modules.utils"),
    **dict.fromkeys(
        (
            "handle_torch_function",
            "has_torch_function",
            "has_torch_function_unary",
            "has_torch_function_variadic",
        ),
        "overrides",
    ),
    "boolean_dispatch": "_jit_internal",
    "Tensor": "",
    "_Reduction": "nn._reduction",
    "_VF": "_VF",
    "grad": "nn.grad",
}

if TYPE_CHECKING:
    from ..stubs import nn as _listed
    from ..stubs.nn import *  # noqa: F403
    from .attention_parts import _canonical_mask as _canonical_mask
    from .attention_parts import _none_or_dtype as _none_or_dtype

    __all__ += _listed.__all__
else:
    _served, __dir__ = serve("nn", globals(), from_torch=("tanh", "sigmoid"))

    def __getattr__(name: str) -> Any:
        if name not in _ELSEWHERE:
            return _served(name)
        source = _ELSEWHERE[name]
        module = import_module(f"mindtorch_core.{source}".rstrip("."))
        found = globals()[name] = getattr(module, name, module)
        return found
