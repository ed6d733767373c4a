"""Functions that PyTorch writes in Python, or in C, take their arguments by PyTorch's names."""

import pytest

import mindtorch_core as torch

pt = pytest.importorskip("torch")

CALLS = """
lib.split(tensor=t, split_size_or_sections=2, dim=0)
lib.split(tensor=t, split_size_or_sections=[1, 3])
lib.split(t, lib.tensor(3))
lib.split(t, split_size=2)
lib.functional.split(t, split_size_or_sections=(2, 2))
t.split(split_size=2, dim=0)
t.split(split_size=[1, 3])
lib.chunk(input=t, chunks=2, dim=0)
lib.tensor_split(input=t, indices_or_sections=2)
lib.hsplit(input=t, sections=2)
lib.vsplit(input=m, indices=[1])
lib.tensordot(a=m, b=m, dims=1)
lib.cdist(x1=m, x2=m, p=2.0, compute_mode='donot_use_mm_for_euclid_dist')
lib.pca_lowrank(A=m, q=1)[1].shape
lib.svd_lowrank(A=m, q=1, niter=2, M=None)[1].shape
lib.unravel_index(indices=lib.tensor([1]), shape=(2, 2))
lib.norm(input=m, p=2, dim=0, keepdim=True)
lib.unique(input=t, sorted=True, return_inverse=True, return_counts=True, dim=None)
lib.unique_consecutive(input=t)
lib.where(condition=t > 2, input=t, other=0.0)
lib.isin(elements=t, test_elements=t)
lib.searchsorted(sorted_sequence=t, input=t)
lib.searchsorted(sorted_sequence=t, values=t)
lib.bucketize(input=t, boundaries=t)
lib.take_along_dim(input=t, indices=lib.tensor([0]), dim=0)
lib.lerp(input=t, end=t, weight=0.5)
lib.outer(input=t, vec2=t)
lib.mv(input=m, vec=t[:2])
lib.dot(input=t, tensor=t)
lib.cat(tensors=[t, t], dim=0)
lib.trapezoid(y=t, x=t)
lib.vander(x=t)
lib.polygamma(n=1, input=t)
lib.embedding(weight=m, indices=lib.tensor([0]))
""".strip().splitlines()


def outcome(call, lib):
    t = lib.tensor([1.0, 2.0, 3.0, 4.0])
    try:
        return str(eval(call, {"lib": lib, "t": t, "m": t.reshape(2, 2)}))
    except Exception as error:  # noqa: BLE001 (errors of both libraries are compared)
        return type(error).__name__


@pytest.mark.parametrize("call", CALLS)
def test_as_pytorch(call):
    assert outcome(call, torch) == outcome(call, pt)
