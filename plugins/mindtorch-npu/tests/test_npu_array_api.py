"""The namespace of the array API standard on the NPU: results stay there, and are the CPU's."""

import numpy as np
import pytest

import mindtorch_core as torch

RNG = np.random.default_rng(0)
A, B = RNG.normal(size=(4, 3)).astype("float32"), RNG.normal(size=(3,)).astype("float32")

CALLS = {
    "add": lambda xp, a, b: xp.add(1, xp.add(a, b)),
    "maximum": lambda xp, a, b: xp.maximum(a, 0.5),
    "clip": lambda xp, a, b: xp.clip(a, -0.5, xp.max(b)),
    "sign": lambda xp, a, b: xp.sign(a),
    "floor_divide": lambda xp, a, b: xp.floor_divide(a, b),
    "remainder": lambda xp, a, b: xp.remainder(a, b),
    "sum": lambda xp, a, b: xp.sum(a, axis=0, keepdims=True),
    "mean": lambda xp, a, b: xp.mean(a),
    "var": lambda xp, a, b: xp.var(a, axis=1, correction=1),
    "cumulative_sum": lambda xp, a, b: xp.cumulative_sum(b, include_initial=True),
    "concat": lambda xp, a, b: xp.concat([a, a], axis=None),
    "take": lambda xp, a, b: xp.take(b, xp.asarray([-1, 0], device=b.device)),
    "where": lambda xp, a, b: xp.where(a > 0, a, 0),
    "sort": lambda xp, a, b: xp.sort(a, axis=0, descending=True),
    "argmax": lambda xp, a, b: xp.argmax(a, axis=1),
    "matmul": lambda xp, a, b: xp.matmul(a, b),
    "vecdot": lambda xp, a, b: xp.vecdot(a, b),
    "eye": lambda xp, a, b: xp.eye(3, k=1, device=a.device),
    "linspace": lambda xp, a, b: xp.linspace(0, 1, 4, endpoint=False, device=a.device),
    "unique_values": lambda xp, a, b: xp.unique_values(xp.round(a)),
}


@pytest.mark.parametrize("call", CALLS)
def test_results_are_those_of_the_cpu(npu, call):
    xp = torch.ones(1, device="npu").__array_namespace__()
    on_cpu, on_npu = (
        CALLS[call](xp, *(torch.tensor(x, device=device) for x in (A, B)))
        for device in ("cpu", "npu")
    )
    assert on_npu.device == torch.device("npu:0")
    assert on_npu.dtype is on_cpu.dtype
    np.testing.assert_allclose(on_npu.cpu().numpy(), on_cpu.numpy(), rtol=1e-5, atol=1e-6)


def test_the_device_is_listed(npu):
    devices = torch.ones(1).__array_namespace__().__array_namespace_info__().devices()
    assert [d for d in devices if d.type == "npu"] == [
        torch.device("npu", i) for i in range(npu.device_count())
    ]
    assert torch.ones(2).to_device(devices[-1]).device == devices[-1]
