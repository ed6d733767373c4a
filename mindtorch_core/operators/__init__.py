"""The ops: one definition each, by family.

Importing this package defines those that most programs use. The others are defined together, when a
name is asked for that is not known yet (`mindtorch_core.dispatch.rest`). All overloads of one name are
defined at the same time.
"""

import importlib

from ..dispatch.registry import registry
from ..tensor import Tensor
from . import linalg, nn
from .arranging import joining
from .creation import copying, factory, resizing
from .define import FUNCTIONS, NONDIFF, LateMethod, OpDef, TensorSpec, definitions, function, op
from .elementwise import arithmetic, closeness, comparison, functions, selection
from .indexing import gathering, index
from .late_methods import LATE_METHODS
from .linalg import products
from .nn import dropout, losses, softmax
from .random import distributions
from .reductions import reduction
from .views import parts, reshaping

__all__ = [
    "FUNCTIONS",
    "NONDIFF",
    "OpDef",
    "TensorSpec",
    "arithmetic",
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
    "index",
    "joining",
    "linalg",
    "losses",
    "nn",
    "op",
    "parts",
    "products",
    "reduction",
    "reshaping",
    "resizing",
    "selection",
    "softmax",
]

# Modules of this package whose ops are defined on demand.
_REST: tuple[str, ...] = (
    "arranging.diagonals",
    "arranging.rearranging",
    "arranging.stacking",
    "creation.ranges",
    "elementwise.aliases",
    "elementwise.angles",
    "elementwise.callbacks",
    "elementwise.combined",
    "elementwise.exponentials",
    "elementwise.floats",
    "elementwise.multiples",
    "fft.frequencies",
    "fft.parts",
    "fft.spectrogram",
    "fft.transforms",
    "fft.windows",
    "indexing.placing",
    "indexing.scattering",
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
    "nn.activation_functions",
    "nn.activations",
    "nn.adaptive_pooling",
    "nn.attention",
    "nn.average_pooling",
    "nn.batch_normalization",
    "nn.binary_classification",
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
    "random.sampling",
    "reductions.cumulative",
    "reductions.differences",
    "reductions.masked",
    "reductions.segments",
    "reductions.statistics",
    "sorting.searching",
    "sorting.sorting",
    "sorting.uniqueness",
    "special.aliases",
    "special.bessel",
    "special.errors",
    "special.gamma",
    "special.polynomials",
    "views.complex_pairs",
    "views.copies",
    "views.dimensions",
    "views.inplace",
    "views.splitting",
    "views.windows",
)


for _name in LATE_METHODS.split():
    setattr(Tensor, _name, LateMethod(_name))


def _define_rest() -> None:
    for name in _REST:
        importlib.import_module(f"{__name__}.{name}")


registry.rest.defined_by(_define_rest)
