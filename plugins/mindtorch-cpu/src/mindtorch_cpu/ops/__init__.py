"""The CPU's kernels, by family. Importing this package registers them."""

from . import copying, functions, indexing, linalg, nn, pointwise, random, reduction, softmax, views

__all__ = [
    "copying",
    "functions",
    "indexing",
    "linalg",
    "nn",
    "pointwise",
    "random",
    "reduction",
    "softmax",
    "views",
]
