"""Operands on two and three devices: which calls work, and what the others are told."""

import re

import pytest

import mindtorch_core as torch

# Expressions of a (CPU), b (the toy device) and m (meta), each of two elements; and the op that refuses.
REFUSED = {
    "a + b": "aten::add",
    "a + m": "aten::add",
    "b + m": "aten::add",
    "torch.where(a > 0, b, m)": "aten::where.self",
    "torch.where(m > 0, b, b)": "aten::where.self",
    "torch.addcmul(a, b, m)": "aten::addcmul",
    "torch.addcmul(b, b, m)": "aten::addcmul",
    "torch.addcmul(b, b, a)": "aten::addcmul",
    "torch.lerp(m, a, b)": "aten::lerp.Tensor",
    "torch.clamp(b, a, m)": "aten::clamp.Tensor",
    "torch.cat([a, b, m])": "aten::cat",
    "torch.stack([m, b, a])": "aten::stack",
    "a.add_(b)": "aten::add_",
    "b.add_(m)": "aten::add_",
    "a.addcmul_(b, m)": "aten::addcmul_",
    "torch.mm(a[None], m[:, None])": "aten::mm",
    # A number on a device other than the CPU stays there.
    "a + m.sum()": "aten::add",
    "b + m.sum()": "aten::add",
}
# Numbers in CPU tensors go with anything: the expression, and the device of its result.
SERVED = {
    "b + n": "toy",
    "n + b": "toy",
    "m + n": "meta",
    "n - m": "meta",
    "torch.addcmul(m, n, n)": "meta",
    "torch.addcmul(n, m, n)": "meta",
    "torch.where(m > 0, n, n)": "meta",
    "torch.where(n > 0, m, n)": "meta",
    "torch.where(n > 0, m, m)": "meta",
    "torch.where(m > 0, 1.0, n)": "meta",
    "torch.where(n > 0, n, n)": "cpu",
    "torch.clamp(m, n, n + 1)": "meta",
    "b.add_(n)": "toy",
    "m.add_(n)": "meta",
}


@pytest.fixture
def operands(toy):
    return {
        "torch": torch,
        "a": torch.tensor([1.0, 2.0]),
        "b": torch.tensor([3.0, 4.0], device="toy"),
        "m": torch.ones(2, device="meta"),
        "n": torch.tensor(5.0),
    }


@pytest.mark.parametrize("block", [False, True])
@pytest.mark.parametrize("call", REFUSED)
def test_refused(call, block, operands):
    used = {{"a": "cpu", "b": "toy", "m": "meta"}[v] for v in re.findall(r"\b[abm]\b", call)}

    kept = []

    def run():
        if block:
            with torch.pipeline():
                kept.append(eval(call, operands))
        else:
            eval(call, operands)

    with pytest.raises(
        RuntimeError, match="Expected all tensors to be on the same device"
    ) as caught:
        run()
    told = re.search(
        r"at least two devices, (\w+)[:0]* and (\w+)[:0]*! \(when calling ([\w.:]+)\)",
        str(caught.value),
    )
    assert told is not None, caught.value
    assert told[1] != told[2]
    assert {told[1], told[2]} <= used
    assert told[3] == REFUSED[call]
    assert [operands["a"].tolist(), operands["b"].tolist()] == [[1, 2], [3, 4]]


@pytest.mark.parametrize("call", SERVED)
def test_numbers_on_the_cpu_go_with_anything(call, operands):
    made = eval(call, operands)
    assert made.device.type == SERVED[call]
    if made.device.type != "meta":
        plain = {**operands, "b": torch.tensor([3.0, 4.0])}
        assert made.tolist() == eval(call, plain).tolist()


@pytest.mark.parametrize("call", SERVED)
def test_pytorch_serves_them_too(call):
    pt = pytest.importorskip("torch")
    if SERVED[call] == "toy":
        pytest.skip("PyTorch has no such device")
    scope = {"torch": pt, "m": pt.ones(2, device="meta"), "n": pt.tensor(5.0)}
    assert eval(call, scope).device.type == SERVED[call]
