"""PyTorch's own samples, made without what its test suite does around each of them."""

import contextlib
import warnings

import torch as oracle
from torch.testing._internal import common_utils
from torch.testing._internal.opinfo import core


def seed(number):
    """Seed PyTorch's generator of the CPU.

    `torch.manual_seed` seeds devices too that are not there, for which it keeps the stack of each call.
    """
    return oracle.default_generator.manual_seed(number)


@contextlib.contextmanager
def making_samples():
    """What takes most of the time is left out: such seeds, and the look for test cases up the stack."""
    oracle_seed, found = oracle.manual_seed, core.extract_test_fn
    assert common_utils.extract_test_fn is found
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyTorch makes some with functions that are deprecated
        oracle.manual_seed = seed
        core.extract_test_fn = common_utils.extract_test_fn = lambda: None
        try:
            yield
        finally:
            oracle.manual_seed = oracle_seed
            core.extract_test_fn = common_utils.extract_test_fn = found
