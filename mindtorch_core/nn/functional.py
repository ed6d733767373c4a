"""Functions of ``torch.nn.functional``; each is defined with its op in `mindtorch_core.operators`."""

from typing import TYPE_CHECKING

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

if TYPE_CHECKING:
    from ..stubs import nn as _listed
    from ..stubs.nn import *  # noqa: F403

    __all__ += _listed.__all__
else:
    __getattr__, __dir__ = serve("nn", globals(), from_torch=("tanh", "sigmoid"))
