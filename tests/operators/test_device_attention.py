"""A device's own pair of kernels for attention is what trains on it."""

import pytest

import mindtorch_core as torch
from mindtorch_core.dispatch.registry import registry
from mindtorch_core.nn import functional as F
from mindtorch_core.testing import assert_close

NAME = "_scaled_dot_product_fused_attention_overrideable"
CALLS = {
    "plain": {},
    "causal": {"is_causal": True},
    "added mask": {"mask": "float"},
    "boolean mask": {"mask": "bool"},
    "shared heads": {"enable_gqa": True},
    "scale": {"scale": 0.3},
}


def program(*, mask=None, enable_gqa=False, **options):
    """A result, its first gradients, and its second ones."""
    source = torch.Generator().manual_seed(0)
    heads = 2 if enable_gqa else 4
    q, k, v, added = (
        torch.randn(*shape, dtype=torch.float64, generator=source).requires_grad_()
        for shape in ((2, 4, 3, 5), (2, heads, 6, 5), (2, heads, 6, 5), (3, 6))
    )
    leaves = [q, k, v]
    if mask is not None:
        options["attn_mask"] = added if mask == "float" else added.detach() > -0.5
        leaves += [added] * (mask == "float")
    y = F.scaled_dot_product_attention(q, k, v, enable_gqa=enable_gqa, **options)
    first = torch.autograd.grad((y * y).sum(), leaves, retain_graph=True)
    recorded = torch.autograd.grad((y * y).sum(), leaves, create_graph=True)
    second = torch.autograd.grad(sum((g * g).sum() for g in recorded), leaves)
    return [y, *first, *recorded, *second]


def counting(name, calls):
    compute = registry.entry(name).definition.decomposition

    def kernel(*args, **kwargs):
        calls.append(name)
        return compute(*args, **kwargs)

    return registry.register_kernel(name, "CPU", kernel)


@pytest.mark.parametrize("options", CALLS.values(), ids=CALLS)
@pytest.mark.parametrize("deferred", [False, True], ids=["at once", "deferred"])
def test_the_pair_serves_training(options, deferred):
    wanted = program(**options)
    calls = []
    with counting(NAME, calls), counting(f"{NAME}_backward", calls):
        if deferred:
            with torch.pipeline():
                found = program(**options)
        else:
            found = program(**options)
    assert {*calls} == {NAME, f"{NAME}_backward"}
    for got, right in zip(found, wanted, strict=True):
        assert_close(got, right, rtol=1e-9, atol=1e-9)


def test_dropout_is_the_kernels_own():
    seen = []

    def forward(query, key, value, bias, dropout_p, is_causal, debug=False, *, scale=None):
        seen.append(dropout_p)
        lengths = query.shape[2], key.shape[2]
        seeds = torch.tensor(5), torch.tensor(7)
        return value * 2, query.sum(-1), None, None, *lengths, *seeds, None

    def backward(
        g, q, k, v, bias, mask, out, lse, cq, ck, lq, lk, p, causal, seed, at, *, scale=None
    ):
        seen.append((p, int(seed), int(at), tuple(mask)))
        return (g * 0 if mask[0] else None, None, g * 2, None)

    q, k, v = (torch.ones(1, 1, 2, 2, requires_grad=i != 1) for i in range(3))
    with (
        registry.register_kernel(NAME, "CPU", forward),
        registry.register_kernel(f"{NAME}_backward", "CPU", backward),
    ):
        F.scaled_dot_product_attention(q, k, v, dropout_p=0.25).sum().backward()
    assert seen == [0.25, (0.25, 5, 7, (True, False, True, False))]
    assert v.grad.tolist() == [[[[2, 2], [2, 2]]]]


def test_operands_that_do_not_fit_go_by_parts():
    calls = []
    with counting(NAME, calls):
        x = torch.ones(2, 3, 4)  # three dimensions
        F.scaled_dot_product_attention(x, x, x)
        x = torch.ones(1, 2, 0, 4)
        F.scaled_dot_product_attention(x, x, x)
    assert not calls
