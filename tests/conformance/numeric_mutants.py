"""Backends whose numbers are not what they declare, and right ones that declare what they are."""

import numpy as np
from faults import mutant, pointwise

from mindtorch_core.plugins import Numerics
from mindtorch_core.testing.conformance import base, checks


def declaring(patch, **fields):
    """Have the device's backend declare something of its numbers."""
    for module in (base, checks):
        patch.setattr(module, "numerics_of", lambda device: Numerics(**fields))


def flushing():
    def multiply(a, b):
        product = a * b
        if product.dtype.kind != "f":
            return product
        least = np.finfo(np.float32).tiny
        flushed = np.where(np.abs(product) < least, np.copysign(0, product), product)
        return flushed.astype(product.dtype)

    pointwise("mul", multiply, array=lambda t: t.raw_data)


def rough_exp():
    pointwise("exp", lambda a: np.exp(a) * (1 + 2e-4))


@mutant("declare Numerics\\(flushes_subnormals=True\\)", test_subnormal_numbers=())
def subnormal_numbers_are_flushed(patch):
    flushing()


@mutant("flushes none where it multiplies", test_subnormal_numbers=())
def flushing_is_declared_and_does_not_occur(patch):
    declaring(patch, flushes_subnormals=True)


@mutant("names float64, which bare computes with", test_declared_dtypes=())
def a_dtype_is_declared_absent_and_there(patch):
    declaring(patch, without=("float64",))


@mutant("names 'expp', and there is no such op", test_declared_precision=())
def precision_is_declared_of_no_op(patch):
    declaring(patch, precision={"exp": 1e-3, "expp": 1e-3})


@mutant("are not close", test_agrees_with_cpu=["exp"], test_dtypes=["exp"])
def exp_is_rougher_than_declared(patch):
    declaring(patch, precision={"exp": 1e-5, "log": 1e-2})
    rough_exp()


def rough(patch):
    """Not wrong: what it does is declared."""
    declaring(patch, flushes_subnormals=True, precision={"exp": 1e-3})
    flushing()
    rough_exp()
