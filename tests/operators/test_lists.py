"""Ops on lists of tensors: in-place forms, errors, versions, pipelines, and steps of optimizers."""

from __future__ import annotations

from typing import Any

import pytest

import mindtorch_core as torch

UNARY = """
abs acos asin atan ceil cos cosh erf erfc exp expm1 floor frac lgamma log log10 log1p log2
neg reciprocal round rsqrt sigmoid sign sin sinh sqrt tan tanh trunc
"""


def _pair() -> list[Any]:
    return [torch.tensor([0.25, 0.5, 1.0]), torch.tensor([[0.75], [0.5]])]


@pytest.mark.parametrize("name", UNARY.split())
def test_functions_in_place(name: str) -> None:
    made = getattr(torch, f"_foreach_{name}")(_pair())
    written = _pair()
    assert type(made) is tuple
    assert getattr(torch, f"_foreach_{name}_")(written) is written
    for a, b, old in zip(made, written, _pair(), strict=True):
        assert a.equal(b) or bool(a.isnan().all())
        assert a.equal(getattr(torch, name)(old)) or bool(a.isnan().all())
        assert b._version == 1


SECOND = {"Scalar": 2.0, "List": _pair(), "ScalarList": [2.0, 3.0], "Tensor": torch.tensor(1.5)}
BINARY = [
    *((n, o) for n in ("add", "mul", "div") for o in ("Scalar", "List", "ScalarList", "Tensor")),
    *(
        (n, o)
        for n in ("sub", "clamp_max", "clamp_min", "maximum", "minimum", "pow")
        for o in ("Scalar", "List", "ScalarList")
    ),
]


@pytest.mark.parametrize(("name", "overload"), BINARY)
def test_two_operands_in_place(name: str, overload: str) -> None:
    other = SECOND[overload]
    made = getattr(torch, f"_foreach_{name}")(_pair(), other)
    written = _pair()
    getattr(torch, f"_foreach_{name}_")(written, other)
    each = other if isinstance(other, list) else [other, other]
    plain = {"clamp_min": "maximum", "clamp_max": "minimum"}.get(name, name)
    for a, b, old, o in zip(made, written, _pair(), each, strict=True):
        assert a.equal(b)
        assert b._version == 1
        assert a.equal(getattr(torch, plain)(old, torch.as_tensor(o)))


@pytest.mark.parametrize("name", ["addcmul", "addcdiv"])
@pytest.mark.parametrize("value", [0.5, [0.5, 0.5], torch.tensor([0.5, 0.5])], ids=repr)
def test_three_operands_in_place(name: str, value: Any) -> None:
    made = getattr(torch, f"_foreach_{name}")(_pair(), _pair(), _pair(), value)
    written = _pair()
    getattr(torch, f"_foreach_{name}_")(written, _pair(), _pair(), value)
    for a, b, old in zip(made, written, _pair(), strict=True):
        assert a.equal(b)
        assert a.equal(getattr(torch, name)(old, old, old, value=0.5))


def test_points_between_copies_and_zeros() -> None:
    for weight in (0.25, [0.25, 0.25], [torch.full_like(t, 0.25) for t in _pair()]):
        written = _pair()
        torch._foreach_lerp_(written, [t * 2 for t in _pair()], weight)
        for b, old in zip(written, _pair(), strict=True):
            assert b.allclose(old * 1.25)
    written = _pair()
    torch._foreach_zero_(written)
    assert not any(bool(t.any()) for t in written)
    torch._foreach_copy_(written, _pair())
    assert all(a.equal(b) for a, b in zip(written, _pair(), strict=True))
    torch._foreach_add_(written, _pair(), alpha=2)
    assert all(a.equal(b * 3) for a, b in zip(written, _pair(), strict=True))


WRONG = [
    (lambda a: torch._foreach_add([], 1), "Tensor list must have at least one tensor."),
    (lambda a: torch._foreach_exp_([]), "Tensor list must have at least one tensor."),
    (lambda a: torch._foreach_mul(a, a[:1]), "must have the same number of tensors, got 2 and 1"),
    (lambda a: torch._foreach_mul_(a, [2.0]), "must have same number of elements as scalar list"),
    (lambda a: torch._foreach_add(a, a[0]), "scalar tensor expected to be 0 dim but it has 1"),
    (lambda a: torch._foreach_addcmul(a, a, a, torch.ones(3)), "match input of length 2 but got 3"),
    (lambda a: torch._foreach_addcmul(a, a, a, torch.ones(1, 2)), "to be of dimension 1. Got 2"),
    (lambda a: torch._foreach_copy_(a, a[1:]), "must have the same number of tensors"),
]


@pytest.mark.parametrize(("call", "said"), WRONG)
def test_lists_that_are_refused(call: Any, said: str) -> None:
    with pytest.raises(RuntimeError) as caught:
        call(_pair())
    assert said in str(caught.value)


def test_gradients_and_pipelines() -> None:
    p = torch.ones(3, requires_grad=True)
    a, b = torch._foreach_mul([p, p], [2.0, 3.0])
    (a + b).sum().backward()
    assert p.grad is not None
    assert p.grad.tolist() == [5.0] * 3
    written = _pair()
    with torch.pipeline():
        torch._foreach_mul_(written, 2.0)
        made = torch._foreach_add(written, 1.0)
        assert made[0]._pending
        assert written[0]._pending
    assert made[0].tolist() == [1.5, 2.0, 3.0]


# ---- steps of optimizers ------------------------------------------------------------------------

OPTIONS: dict[str, tuple[int, dict[str, Any]]] = {
    "adam": (2, {"beta1": 0.9, "beta2": 0.99, "eps": 1e-8, "amsgrad": False}),
    "adamw": (3, {"beta1": 0.9, "beta2": 0.99, "eps": 1e-8, "amsgrad": True}),
    "sgd": (1, {"momentum": 0.9, "dampening": 0.1, "nesterov": False, "is_first_step": False}),
    "adagrad": (1, {"lr_decay": 0.1, "eps": 1e-8}),
}


def _lists(states: int, *shapes: Any, dtype: Any = torch.float32) -> list[list[Any]]:
    generator = torch.Generator().manual_seed(5)
    return [
        [torch.rand(s, generator=generator).to(dtype).contiguous() for s in shapes]
        for _ in range(2 + states)
    ]


def _step(name: str, lists: list[list[Any]], **changed: Any) -> None:
    states, options = OPTIONS[name]
    call = {"lr": 0.1, "weight_decay": 0.01, "maximize": False, **options, **changed}
    rest = [[] for _ in range(3 - states)] if name in ("adam", "adamw") else []
    count = [] if name == "sgd" else [[torch.tensor(3.0) for _ in lists[0]]]
    getattr(torch, f"_fused_{name}_")(*lists, *rest, *count, **call)


def _close(a: list[list[Any]], b: list[list[Any]], tolerance: float = 1e-6) -> None:
    for one, other in zip(a, b, strict=True):
        for x, y in zip(one, other, strict=True):
            torch.testing.assert_close(x, y, rtol=tolerance, atol=tolerance)


SHAPES = ((3, 4), (), (70_000,), (5,), (0, 2))


@pytest.mark.parametrize("name", OPTIONS)
@pytest.mark.parametrize("changed", [{}, {"maximize": True}, {"lr": torch.tensor(0.1)}], ids=str)
def test_kernel_and_composition_agree(name: str, changed: dict[str, Any]) -> None:
    """The CPU's kernel, and the same on tensors that it leaves to the composition."""
    lists = _lists(OPTIONS[name][0], *SHAPES)
    parts = _lists(OPTIONS[name][0], *SHAPES)
    # Every second element of larger tensors: no line in memory.
    strided = [[torch.stack([t, t], -1)[..., 0] for t in each] for each in parts]
    _step(name, lists, **changed)
    _step(name, strided, **changed)
    _close(lists, strided)


@pytest.mark.parametrize("name", OPTIONS)
def test_other_layouts_and_halves(name: str) -> None:
    states = OPTIONS[name][0]
    lists = _lists(states, (6, 4))
    turned = [[t.t().contiguous().t() for t in each] for each in _lists(states, (6, 4))]
    halves = _lists(states, (6, 4), dtype=torch.bfloat16)
    for each in (lists, turned, halves):
        _step(name, each)
    _close(lists, turned)
    _close(lists, [[t.float() for t in each] for each in halves], 2e-2)


@pytest.mark.parametrize("name", OPTIONS)
def test_a_step_in_a_pipeline(name: str) -> None:
    lists, later = (_lists(OPTIONS[name][0], (3, 4), (5,)) for _ in range(2))
    _step(name, lists)
    _step(name, lists)
    with torch.pipeline():
        _step(name, later)
        _step(name, later)
        assert later[0][0]._pending
        doubled = later[0][0] * 2
    _close(lists, later)
    assert doubled.equal(later[0][0] * 2)


@pytest.mark.parametrize("name", OPTIONS)
def test_scaled_gradients(name: str) -> None:
    lists, scaled = (_lists(OPTIONS[name][0], (3, 4)) for _ in range(2))
    scaled[1][0].mul_(4)
    none = torch.tensor(0.0)
    _step(name, lists)
    _step(name, scaled, grad_scale=torch.tensor(4.0), found_inf=none)
    _close(lists, scaled)
    before = [[t.clone() for t in each] for each in lists]
    _step(name, lists, grad_scale=torch.tensor(4.0), found_inf=torch.tensor(1.0))
    _close(before, lists, 0)


@pytest.mark.parametrize("name", OPTIONS)
def test_a_step_that_is_refused_changes_nothing(name: str) -> None:
    lists = _lists(OPTIONS[name][0], (3, 4), (5,))
    before = [[t.clone() for t in each] for each in lists]
    wrong = [lists[0], [lists[1][0], torch.ones(6)], *lists[2:]]
    with pytest.raises(RuntimeError, match="must have the shapes of the parameters"):
        _step(name, wrong)
    wrong[1][1] = torch.ones(5, dtype=torch.float64)
    with pytest.raises(RuntimeError, match="must have same dtype, device, and layout"):
        _step(name, wrong)
    _close(before, lists, 0)
    assert all(t._version == 0 for t in lists[0])


def test_meta_and_versions() -> None:
    for name in OPTIONS:
        states = OPTIONS[name][0]
        _step(name, [[t.to("meta") for t in each] for each in _lists(states, (3, 4))])
        lists = _lists(states, (3, 4))
        _step(name, lists)
        assert lists[0][0]._version == 1
