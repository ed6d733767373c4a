"""The ops: one definition each, by family.

Importing this package defines those that most programs use. The others are defined together, when a
name is asked for that is not known yet (`mindtorch_core.dispatch.rest`). All overloads of one name are
defined at the same time.
"""

import importlib

from ..dispatch.registry import registry
from ..tensor import Tensor
from . import (
    closeness,
    comparison,
    copying,
    distributions,
    factory,
    functions,
    gathering,
    indexing,
    joining,
    linalg,
    nn,
    parts,
    pointwise,
    reduction,
    resizing,
    selection,
    views,
)
from .define import FUNCTIONS, NONDIFF, LateMethod, OpDef, TensorSpec, definitions, function, op
from .late_methods import LATE_METHODS
from .linalg import products
from .nn import dropout, losses, softmax

__all__ = [
    "FUNCTIONS",
    "NONDIFF",
    "OpDef",
    "TensorSpec",
    "closeness",
    "comparison",
    "copying",
    "definitions",
    "distributions",
    "dropout",
    "factory",
    "function",
    "functions",
    "gathering",
    "indexing",
    "joining",
    "linalg",
    "losses",
    "nn",
    "op",
    "parts",
    "pointwise",
    "products",
    "reduction",
    "resizing",
    "selection",
    "softmax",
    "views",
]

# Modules of this package whose ops are defined on demand.
_REST: tuple[str, ...] = (
    "aliases",
    "angles",
    "combined",
    "cumulative",
    "diagonals",
    "differences",
    "exponentials",
    "fft.frequencies",
    "fft.parts",
    "fft.spectrogram",
    "fft.transforms",
    "fft.windows",
    "floats",
    "inplace_views",
    "linalg.aliases",
    "linalg.cholesky",
    "linalg.contraction",
    "linalg.determinants",
    "linalg.eigen",
    "linalg.einsum",
    "linalg.ldl",
    "linalg.lowrank",
    "linalg.lu",
    "linalg.norms",
    "linalg.powers",
    "linalg.pseudoinverse",
    "linalg.qr",
    "linalg.solving",
    "linalg.svd",
    "linalg.triangular",
    "linalg.vectors",
    "masked",
    "more_views",
    "multiples",
    "nn.activation_functions",
    "nn.activations",
    "nn.adaptive_pooling",
    "nn.attention",
    "nn.average_pooling",
    "nn.batch_normalization",
    "nn.classification",
    "nn.convolution",
    "nn.convolution_forms",
    "nn.ctc",
    "nn.distances",
    "nn.embedding",
    "nn.embedding_bag",
    "nn.encoding",
    "nn.folding",
    "nn.fractional_pooling",
    "nn.grid_sampling",
    "nn.interpolation",
    "nn.linear_cross_entropy",
    "nn.multihead",
    "nn.normalization",
    "nn.padding",
    "nn.pooling",
    "nn.regression",
    "nn.rrelu",
    "nn.shuffling",
    "nn.unpooling",
    "nn.upsampling",
    "placing",
    "ranges",
    "rearranging",
    "sampling",
    "scattering",
    "searching",
    "segments",
    "sorting",
    "special.aliases",
    "special.bessel",
    "special.errors",
    "special.gamma",
    "special.polynomials",
    "stacking",
    "statistics",
    "uniqueness",
    "view_copies",
)


for _name in LATE_METHODS.split():
    setattr(Tensor, _name, LateMethod(_name))


def _define_rest() -> None:
    for name in _REST:
        importlib.import_module(f"{__name__}.{name}")


registry.rest.defined_by(_define_rest)
