"""Which overloads of ops write into given tensors: PyTorch's do here as well."""

import json
import subprocess
import sys

import pytest

import mindtorch_core as torch

pytest.importorskip("torch")

# Of other operands than the op takes here, or made for a generator, which `out` goes with all the same.
ABSENT = {
    "huber_loss_backward.out", "nonzero_static.out", "_scaled_mm.out", "range.out_", "rrelu_with_noise.out",
    "max_unpool2d.out", "max_unpool3d.out", "randint.generator_out", "randint.low_generator_out",
    "_softmax.out", "_log_softmax.out", "index.Tensor_out", "baddbmm.dtype_out", "bmm.dtype_out",
    "addmm.dtype_out", "mm.dtype_out", "clip.out", "clip.Tensor_out", "rand.generator_out",
    "randn.generator_out", "randperm.generator_out", "nll_loss.out", "max_pool2d_with_indices.out",
    "max_pool3d_with_indices.out", "_native_batch_norm_legit.no_stats_out",
}  # fmt: skip


# In a process of its own: tests that register kernels without an op keep PyTorch from listing its schemas.
LISTED = """
import json, torch
found = []
for schema in torch._C._jit_get_all_schemas():
    space, _, name = schema.name.partition("::")
    if space == "aten" and "out" in schema.overload_name.split("_"):
        op = getattr(getattr(torch.ops.aten, name), schema.overload_name)
        if torch.Tag.generated not in op.tags:
            found.append((name, schema.overload_name))
print(json.dumps(found))
"""


def overloads():
    """Those that somebody wrote in PyTorch, by packet and name, of the packets that both libraries have."""
    run = [sys.executable, "-c", LISTED]
    done = subprocess.run(run, capture_output=True, text=True, timeout=100, check=True)
    return [each for each in json.loads(done.stdout) if hasattr(torch.ops.aten, each[0])]


def test_as_in_pytorch():
    asked = sorted(overloads())
    absent = {
        f"{name}.{overload}"
        for name, overload in asked
        if not hasattr(getattr(torch.ops.aten, name), overload)
    }
    assert absent == ABSENT
    assert len(asked) > 500


@pytest.mark.parametrize("n", [2, 3])
def test_adaptive_maxima_are_written(n):
    x = torch.arange(float(4**n)).reshape(1, 1, *[4] * n)
    wanted = getattr(torch, f"adaptive_max_pool{n}d")(x, [2] * n)
    out, indices = torch.empty(0), torch.empty(0, dtype=torch.int64)
    getattr(torch.ops.aten, f"adaptive_max_pool{n}d").out(x, [2] * n, out=out, indices=indices)
    assert out.equal(wanted[0])
    assert indices.equal(wanted[1])
