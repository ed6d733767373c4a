"""Ops that are replayed: no rule of shapes is asked again, whatever an op gives."""

import pytest

import mindtorch_core as torch
from mindtorch_core.dispatch.keys import DispatchKey
from mindtorch_core.dispatch.registry import registry
from mindtorch_core.opdefs.define import op

ROWS = {
    "one tensor": ("Tensor", lambda x: x, lambda x: x * 2),
    "several tensors": ("(Tensor, Tensor)", lambda x: (x, x), lambda x: (x * 2, x + 1)),
    "three tensors": ("(Tensor a, Tensor b, Tensor c)", lambda x: (x,) * 3, lambda x: (x * 2, x + 1, -x)),
}  # fmt: skip


@pytest.mark.parametrize("name", ROWS)
def test_no_rule_is_asked_again(name):
    returns, rule, compute = ROWS[name]
    asked, found = [], []

    def counted(x):
        asked.append(1)
        return rule(x)

    with registry.scope():
        op(
            f"replayed_rule(Tensor self) -> {returns}",
            doc="Computes.",
            rule=counted,
            namespaces=("torch",),
        )
        registry.register_kernel("aten::replayed_rule", DispatchKey.CPU, compute)
        x = torch.arange(3.0)

        def block():
            with torch.pipeline() as pipe:
                found[:] = [torch.replayed_rule(x + 1)]
            return pipe

        for _ in range(4):
            block()
        asked.clear()
        for _ in range(3):
            stats = block().stats()
            assert stats["replayed"] == stats["recorded"] == 2
        assert not asked
        wanted = compute(x + 1)
        results = found[0] if isinstance(wanted, tuple) else found
        for a, b in zip(results, wanted if isinstance(wanted, tuple) else (wanted,), strict=True):
            assert a.tolist() == b.tolist()
