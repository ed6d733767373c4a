"""Kernels of ops that are defined on demand are there, whichever op is asked for first."""

import subprocess
import sys

import pytest

from mindtorch_cpu.ops.homes import HOMES

pytestmark = pytest.mark.slow

CODE = """
import mindtorch_core as torch
from mindtorch_core.dispatch.keys import DispatchKey
from mindtorch_core.dispatch.registry import registry
torch.{first}  # before a backend is loaded
torch.ones(1)
for name in {names!r}.split():
    torch.ops.aten.__getattr__(name.partition(".")[0])
missing = [n for n in {names!r}.split() if DispatchKey.CPU not in registry.get("aten::" + n).kernels]
assert not missing, missing
"""
FIRST = {
    "accumulation": "nn.functional.embedding", "activation_slopes": "nn.functional.mish", "activations": "nn.functional.elu",
    "adaptive_pooling": "nn.functional.adaptive_max_pool2d",
    "attention": "nn.functional.scaled_dot_product_attention",
    "combined": "addcdiv", "convolution": "conv2d", "copying": "clone", "counting": "bincount",
    "determinants": "det", "elementwise": "acosh", "fft": "fft.fft", "functions": "abs",
    "gates": "nn.functional.glu",
    "grid_sampling": "nn.functional.grid_sample", "group_norm": "nn.functional.group_norm", "indexing": "gather", "lapack": "linalg.qr",
    "linalg": "mm", "joining": "cat", "log_odds": "logit", "looking": "index_copy", "nn": "nn.functional.nll_loss",
    "normalization": "nn.functional.layer_norm", "order": "sort", "arithmetic": "atan2",
    "padding": "ops.aten.reflection_pad2d", "pair_distances": "cdist", "pooling": "nn.functional.avg_pool2d",
    "quantiles": "_dirichlet_grad", "random": "randperm", "random_counts": "poisson",
    "rearranging": "flip", "recurrent": "lstm", "recurrent_steps": "gru", "reduction": "amax",
    "regression": "nn.functional.mse_loss",
    "resampling": "nn.functional.interpolate", "rms_norm": "nn.functional.rms_norm", "sampling": "binomial", "scans": "cumsum",
    "scattering": "masked_scatter", "selection": "where", "slopes": "sigmoid",
    "softmax": "softmax", "special": "lgamma",
    "steps": "_fused_adam_", "membership": "isin", "views": "select",
}  # fmt: skip


@pytest.mark.parametrize("module", [module for module, _ in HOMES])
def test_a_family_is_complete_whatever_was_asked_for_first(module):
    code = CODE.format(first=FIRST[module], names=dict(HOMES)[module])
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
