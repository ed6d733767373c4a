"""What objects of the NPU plugin say of themselves, and memory that the host has not."""

import pytest

import mindtorch_core as torch
import mindtorch_npu
from mindtorch_npu.aclnn.descriptors import Scalar
from mindtorch_npu.hccl.carrying import native
from mindtorch_npu.hccl.library import hccl
from mindtorch_npu.runtime import RUNTIME


def test_names_of_the_package():
    assert {"__version__", "is_available", "synchronize", "runtime"} <= {*dir(mindtorch_npu)}
    assert sorted(dir(mindtorch_npu)) == sorted([*mindtorch_npu.__all__, "__version__"])
    with pytest.raises(AttributeError, match="has no attribute 'none'"):
        mindtorch_npu.none


def test_texts_of_numbers():
    assert repr(Scalar(3, torch.int32)) == "3 (int32)"


def test_functions_that_hccl_has_not():
    with pytest.raises(
        AttributeError, match="'HcclNothing' is not in the table of HCCL's functions"
    ):
        hccl.HcclNothing


def test_streams_have_handles(npu):
    stream = npu.Stream()
    assert stream.npu_stream == stream.handle != npu.default_stream().npu_stream
    assert RUNTIME.alive


@pytest.mark.parametrize("code", [207001, 207018])
def test_pages_that_the_host_has_not(npu, simulator, code):
    torch.ones(2, device="npu")  # so that the driver has started
    simulator.inject(f"aclrtMallocHost:1={code}")
    with pytest.raises(RuntimeError, match="aclrtMallocHost") as raised:
        torch.ones(100_000).pin_memory("npu")
    assert str(code) in str(raised.value)
    assert torch.ones(100_000).pin_memory("npu").is_pinned()


@pytest.mark.parametrize(
    ("chip", "kind", "reduction", "takes"),
    [
        ("Ascend310P3", "int16", "sum", True),
        ("Ascend310P3", "int16", "max", False),
        ("Ascend310P3", "float32", "max", True),
        ("Ascend310P3", "float32", "band", False),
    ],
)
def test_what_chips_reduce(npu, monkeypatch, chip, kind, reduction, takes):
    monkeypatch.setattr(type(RUNTIME), "name", lambda self: chip)
    assert native(kind, reduction) is takes
