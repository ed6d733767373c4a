"""Ops with an operator of their own are computed by it: float32 is left to no other op, and not to the CPU."""

import mindtorch_core as torch
from mindtorch_core.backend import tensors_in
from mindtorch_core.dispatch.dispatcher import dispatch
from mindtorch_core.opdefs.define import definitions
from mindtorch_core.testing.comparison import outcome
from mindtorch_core.testing.samples import samples
from mindtorch_npu.ops import STEPS, steps

# A factor of zero, by which what is no number counts as zero; and rolling without dimensions.
LEFT = {"addmm", "roll"}


def of_float32(args, kwargs):
    tensors = [t for t in tensors_in((*args, *kwargs.values())) if t.is_floating_point()]
    return bool(tensors) and all(t.dtype is torch.float32 and t.numel() for t in tensors)


def test_float32_is_left_to_nobody(npu, monkeypatch):
    left, computed = set(), set()

    def otherwise(name, *args, **kwargs):
        left.add(name.removeprefix("aten::"))
        raise NotImplementedError(name, args, kwargs)

    monkeypatch.setattr(steps, "otherwise", otherwise)
    for d in definitions():
        if f"aten::{d.name}" in STEPS:
            for sample in samples(d):
                args, kwargs = sample.build("npu")
                if of_float32(args, kwargs):
                    found = outcome(dispatch, f"aten::{d.name}", None, *args, **kwargs)
                    if not isinstance(found, Exception):
                        computed.add(d.name)
    assert left == LEFT
    assert len(computed) > 200
