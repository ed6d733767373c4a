"""Tensors of each dtype in a distributed checkpoint."""

import pytest

import mindtorch_core as torch
import mindtorch_core.distributed.checkpoint as dcp

DTYPES = (
    "bool uint8 int8 uint16 int16 uint32 int32 uint64 int64 float16 bfloat16 float32 float64 complex64 "
    "complex128 float8_e4m3fn float8_e5m2 float8_e8m0fnu"
)


@pytest.mark.parametrize("name", DTYPES.split())
def test_what_is_saved_is_loaded(tmp_path, name):
    dtype = getattr(torch, name)
    x = torch.tensor([0.0, 2.0]).to(dtype) if name != "float8_e8m0fnu" else torch.ones(2).to(dtype)
    dcp.save({"x": x}, checkpoint_id=tmp_path)
    state = {"x": torch.tensor([4.0, 4.0]).to(dtype)}
    dcp.load(state, checkpoint_id=tmp_path)
    assert state["x"].dtype is dtype
    assert state["x"].to(torch.complex64).tolist() == x.to(torch.complex64).tolist()
