"""Ops that refuse some elements and have no faster way than what they are made of.

As kernels they are recorded in pipelines as one, and look at elements when they run.
"""

from __future__ import annotations

from ..register import composition_of, register

for _name in (
    "binary_cross_entropy", "index_copy", "index_copy_", "index_reduce", "index_reduce_", "max_unpool2d",
    "max_unpool3d",
):  # fmt: skip
    register(_name, composition_of(_name))
