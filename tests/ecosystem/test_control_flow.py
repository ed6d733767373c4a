"""What functions given to `torch.cond` and `torch.while_loop` must not do; checked by hand against PyTorch's words."""

import pytest

import mindtorch_core as torch

ERRORS = torch._dynamo.exc
OUTSIDE = torch.ones(2)


def twice(made):
    return made, made


def raised(x):
    raise ValueError("no")


REFUSED = {
    "counts": (lambda x: (x * 2, x * 1), lambda x: (x * 2,), "same pytree structure"),
    "containers": (lambda x: {"a": x * 1}, lambda x: [x * 2], "same pytree structure"),
    "keys": (lambda x: {"a": x * 1}, lambda x: {"b": x * 2}, "same pytree structure"),
    "None": (lambda x: None, lambda x: x * 1, "returns None"),
    "a float": (lambda x: 1.0, lambda x: 1.0, r"returns 1\.0"),
    "an input": (lambda x: x, lambda x: x * 2, "aliasing"),
    "a view": (lambda x: x * 2, lambda x: x.view(-1), "aliasing"),
    "from outside": (lambda x: OUTSIDE, lambda x: x * 2, "aliasing"),
    "twice": (lambda x: twice(x * 1), lambda x: (x * 2, x * 3), "aliasing"),
    "a view of another": (lambda x: (x * 2, x * 3), lambda x: (y := x * 1, y[:1]), "aliasing"),
    "written": (lambda x: x.add_(1).sum(), lambda x: x.sum(), "input mutation"),
    "written outside": (lambda x: x * 2, lambda x: OUTSIDE.mul_(2) + x, "input mutation"),
    "an exception": (lambda x: x * 1, raised, r"ValueError\('no'\)"),
}  # fmt: skip


@pytest.mark.parametrize("compiled", [False, True], ids=["eager", "fullgraph"])
@pytest.mark.parametrize("case", REFUSED)
def test_branches_that_are_refused_whichever_is_taken(case, compiled):
    one, other, words = REFUSED[case]

    def step(x):
        return torch.cond(x.sum() > 0, one, other, (x,))

    call = torch.compile(step, fullgraph=True) if compiled else step
    for sign in (1, -1):
        x = torch.full((2,), float(sign))
        with pytest.raises(ERRORS.UncapturedHigherOrderOpError, match=words):
            call(x)
        assert x.tolist() == [sign, sign]  # nothing was written
    assert OUTSIDE.tolist() == [1, 1]


@pytest.mark.parametrize(
    ("one", "other", "words"),
    [
        (lambda x: x.double(), lambda x: x * 2, "same dtype"),
        (lambda x: x.sum(), lambda x: x * 2, "same ndim"),
        (lambda x: torch.ones(2, device="meta"), lambda x: x * 2, "same device"),
        (lambda x: 1, lambda x: x * 2, "returns a int"),
    ],
)
def test_branches_whose_tensors_differ(one, other, words):
    x = torch.ones(2)
    with pytest.raises(ERRORS.TorchRuntimeError, match=words):
        torch.cond(x.sum() > 0, one, other, (x,))


def test_branches_that_are_taken():
    x = torch.ones(2)
    drawn = torch.get_rng_state()
    for one, other in (
        (lambda x: x[:1] * 1, lambda x: x * 2),  # sizes may differ
        (lambda x: x * OUTSIDE, lambda x: torch.rand(2)),
        (lambda x: x.clone().mul_(1), lambda x: x * 2),
        (lambda x: x * x.sum().item() / 2, lambda x: x * 2),
        (lambda x: torch.cond(x.sum() > 5, torch.exp, lambda x: x * 1, (x,)), lambda x: x * 2),
    ):
        assert torch.cond(x.sum() > 0, one, other, (x,))[0].item() == 1
    assert torch.equal(torch.get_rng_state(), drawn)
    assert torch.cond(x.sum() > 0, lambda x: 1, lambda x: 2, (x,)) == 1
    assert torch.cond(1, lambda x: x, lambda x: None, (x,)) is x  # decided before
    with torch.pipeline():
        y = x * 2
        made = torch.cond(y.sum() > 0, lambda y: y + 1, lambda y: y - 1, (y,))
    assert made.tolist() == [3, 3]
    with pytest.raises(RuntimeError, match=r"bool or tensor, but got None"):
        torch.cond(None, torch.exp, torch.exp, (x,))
    with pytest.raises(RuntimeError, match="tensor leaves"):
        torch.cond(x.sum() > 0, torch.mul, torch.add, (x, 2))
    of_two = torch.compile(
        lambda x: torch.cond(x.sum() > 0, torch.mul, torch.add, (x, 2)), fullgraph=True
    )
    assert of_two(x).tolist() == [2, 2]


def test_loops_that_go_on():
    x, zero = torch.ones(2), torch.tensor(0)
    made = torch.while_loop(lambda i, x: i < 3, lambda i, x: [i + 1, x * 2], (zero, x))
    assert (type(made), made[1].tolist()) == (list, [8, 8])
    assert torch.while_loop(lambda x: x.sum() < 8, lambda x: x + 1, (x,)).tolist() == [4, 4]
    count, nested = torch.while_loop(
        lambda i, d: i < 3, lambda i, d: (i + 1, {"a": d["a"] * 2}), (0, {"a": x})
    )
    assert (count, nested["a"].tolist()) == (3, [8, 8])
    same = torch.while_loop(lambda i, x: i < 0, lambda i, x: (i + 1, x * 2), (zero, x))
    assert same[1] is not x
    assert same[1].tolist() == [1, 1]


@pytest.mark.parametrize(
    ("asked", "body", "words"),
    [
        (lambda i, x: i < 3, lambda i, x: (i + 1, torch.cat([x, x])), r"pair\[1\].*shape"),
        (lambda i, x: i < 3, lambda i, x: (i + 1, x.double()), r"pair\[1\].*dtype"),
        (lambda i, x: i < 0, lambda i, x: (i + 1, x.double()), r"pair\[1\].*dtype"),
        (lambda i, x: i < 3, lambda i, x: (i + 1,), "same number of outputs"),
        (lambda i, x: i < 3, lambda i, x: (i + 1, x), "aliasing"),
        (lambda i, x: i < 3, lambda i, x: (i + 1, x.add_(1)), "input mutation"),
        (lambda i, x: x.add_(1).sum() < 3, lambda i, x: (i + 1, x * 1), "input mutation"),
        (lambda i, x: x < 3, lambda i, x: (i + 1, x * 2), "scalar tensor"),
        (lambda i, x: 3 - i, lambda i, x: (i + 1, x * 2), "scalar tensor"),
    ],
)
def test_loops_that_are_refused(asked, body, words):
    x = torch.ones(2)
    with pytest.raises(ERRORS.UncapturedHigherOrderOpError, match=words):
        torch.while_loop(asked, body, (torch.tensor(0), x))
    assert x.tolist() == [1, 1]


def test_loops_of_other_values_are_refused():
    with pytest.raises(AssertionError, match="got float"):
        torch.while_loop(lambda x: x < 1, lambda x: x + 1, (0.5,))
